/* SPDX-License-Identifier: Apache-2.0
 *
 * What every version of the iSCSI group must do, on targets that come, refuse and go.
 */
#include <stdio.h>
#include <string.h>

#include "network_calls.h"
#include "scene.h"

/* Numbers of iscsierr.h; this file also runs where there is none. */
#define AUTHENTICATION_FAILURE 0xEFFF0009U

enum {
  CLIENTS = 6,
  ROUNDS = 4,
  ARRIVAL_MS = 60000,
  PAUSE_MS = 20,
  DISK_DELAY_MS = 300,
};

#define ADDRESS "10.20.30.40"
#define NAME "iqn.2026-01.example:one"
#define SECOND "iqn.2026-01.example:two"
#define USER "initiator"
#define SECRET "secret-of-14-b"
#define WRONG_SECRET "another-of-15-b"
#define MUTUAL_SECRET "mutual-sec-13"
#define LOGIN "LoginIScsiTargetW"

static const struct csi_iscsi_target_portal portal = {.target_address = ADDRESS, .target_port = 3260};
static const struct csi_iscsi_target_portal usual_port = {.target_address = ADDRESS, .target_port = 0};
static const struct csi_iscsi_target_portal other_port = {.target_address = ADDRESS, .target_port = 3261};
static const struct csi_iscsi_target_portal unknown = {.target_address = "10.20.30.99", .target_port = 3260};

/* ---- The scene. ---- */

/* words: of `target add`, behind name and portal. */
static void add_target(struct run *run, const char *name, const char *words) {
  scene(run, "target add iqn=%s portal=" ADDRESS ":3260 %s", name, words);
}

/* Gives the target a disk, which comes with the session. */
static uint32_t add_lun(struct run *run, const char *name) {
  static uint32_t luns;
  uint32_t number = 5000 + luns++ % 1000;
  scene(run, "target lun iqn=%s number=%u size=64M file=%s\\clienttests-lun-%u.img", name, (unsigned)number,
        run->settings->images, (unsigned)number);
  return number;
}

static size_t count_sessions(struct run *run) {
  size_t count = 0;
  for (const char *line = scene(run, "session list"); *line != '\0'; count++) {
    line += strcspn(line, "\r\n");
    line += strspn(line, "\r\n");
  }
  return count;
}

static void check_sessions(struct run *run, size_t expected) {
  size_t count = count_sessions(run);
  check(run, count == expected, "%zu sessions, not %zu", count, expected);
}

static void check_session_word(struct run *run, const char *key, const char *expected) {
  const char *value = scene_word(run, "session list", "iqn=" NAME, key);
  check(run, strcmp(value, expected) == 0, "%s of the session is \"%s\", not \"%s\"", key, value, expected);
}

/* ---- The calls, with everything right. ---- */

static enum csi_code connect_plainly(struct run *run) {
  return log_in(run, &(struct csi_iscsi_connect_target_request){.target_portal = &portal, .iqn = NAME});
}

static enum csi_code connect_with(struct run *run, enum csi_iscsi_authentication_type type,
                                  const char *secret) {
  return log_in(run, &(struct csi_iscsi_connect_target_request){.target_portal = &portal,
                                                                .iqn = NAME,
                                                                .auth_type = type,
                                                                .chap_username = USER,
                                                                .chap_secret = secret});
}

static void check_added(struct run *run) {
  check_ok(run, "AddTargetPortal", add_portal(run, &portal));
}

/* A registered portal with one target, and no session with it. */
static void prepare_target(struct run *run, const char *words) {
  add_target(run, NAME, words);
  check_added(run);
}

static void check_portals(struct run *run, const char *first, const char *second) {
  struct texts portals;
  check_ok(run, "ListTargetPortals", list_portals(run, &portals));
  size_t expected = first == NULL ? 0 : second == NULL ? 1 : 2;
  check(run, portals.count == expected, "%zu portals, not %zu", portals.count, expected);
  if (first != NULL && portals.count > 0)
    check(run, strcmp(portals.text[0], first) == 0, "the portal is %s, not %s", portals.text[0], first);
  if (second != NULL && portals.count > 1)
    check(run, strcmp(portals.text[1], second) == 0, "the portal is %s, not %s", portals.text[1], second);
}

static bool has_text(const struct texts *texts, const char *text) {
  for (size_t i = 0; i < texts->count; i++)
    if (strcmp(texts->text[i], text) == 0) return true;
  return false;
}

static void check_disk_count(struct run *run, size_t expected) {
  struct texts disks;
  int64_t end_ms = now_ms() + ARRIVAL_MS;
  do {
    check_ok(run, "GetTargetDisks", disks_of(run, &portal, NAME, &disks));
    if (disks.count >= expected) break;
    sleep_ms(PAUSE_MS);
  } while (!run->failed && now_ms() < end_ms);
  check(run, disks.count == expected, "%zu disks, not %zu", disks.count, expected);
}

/* ---- What all RPCs with a portal refuse. ---- */

typedef enum csi_code portal_rpc(struct run *run, const struct csi_iscsi_target_portal *where);

static void check_invalid(struct run *run, enum csi_code code, const char *what) {
  check(run, code != CSI_OK, "success with %s", what);
  check(run, run->error.code == CSI_UNKNOWN && run->error.precise_code == CSI_INVALID_ARGUMENT,
        "%s: %s, precisely %s: %s", what, csi_code_name(run->error.code),
        csi_code_name(run->error.precise_code), run->error.text);
}

static void check_refuses_portals(struct run *run, portal_rpc *call) {
  struct csi_iscsi_target_portal bad = portal;
  check_invalid(run, call(run, NULL), "no portal");
  check_says(run, "portal");
  bad.target_address = "";
  check_invalid(run, call(run, &bad), "an empty address");
  bad.target_address = "10.20.30.40 ";
  check_invalid(run, call(run, &bad), "a blank in the address");
  bad.target_address = "10.20.30.40:3260";
  check_invalid(run, call(run, &bad), "a port in the address");
  bad.target_address = text_of_bytes(256);
  check_invalid(run, call(run, &bad), "an address of 256 bytes");
  check_says(run, "target_address is longer than");
  bad = (struct csi_iscsi_target_portal){.target_address = ADDRESS, .target_port = 65536 + 3260};
  check_invalid(run, call(run, &bad), "a port of 17 bits");
  bad.target_port = UINT32_MAX;
  check_invalid(run, call(run, &bad), "the largest port");
  bad = (struct csi_iscsi_target_portal){.target_address = "10.20.30.\xC3(", .target_port = 3260};
  check(run, call(run, &bad) == CSI_INTERNAL, "an address that is no UTF-8: %s", run->error.text);
}

/* With MSiSCSI not running nothing works, and the text says which service it is. */
static void check_needs_service(struct run *run, portal_rpc *call) {
  scene(run, "initiator set running=0");
  check(run, call(run, &portal) != CSI_OK, "success, and MSiSCSI is not running");
  check(run, run->error.code == CSI_UNKNOWN && run->error.precise_code == CSI_FAILED_PRECONDITION, "%s: %s",
        csi_code_name(run->error.precise_code), run->error.text);
  check_says(run, "MSiSCSI");
  scene(run, "initiator set running=1");
  check_ok(run, "the call, with MSiSCSI", call(run, &portal));
}

static void check_not_found(struct run *run, enum csi_code code, const char *beginning) {
  check(run, code != CSI_OK, "success with what is not there");
  check(run, run->error.code == CSI_UNKNOWN && run->error.precise_code == CSI_NOT_FOUND,
        "%s, precisely %s: %s", csi_code_name(run->error.code), csi_code_name(run->error.precise_code),
        run->error.text);
  check(run, strncmp(run->error.text, beginning, strlen(beginning)) == 0,
        "text is \"%s\", and does not begin with \"%s\"", run->error.text, beginning);
}

static enum csi_code discover_at(struct run *run, const struct csi_iscsi_target_portal *where) {
  struct texts iqns;
  return discover(run, where, &iqns);
}

static enum csi_code connect_at(struct run *run, const struct csi_iscsi_target_portal *where) {
  return log_in(run, &(struct csi_iscsi_connect_target_request){.target_portal = where, .iqn = NAME});
}

static enum csi_code disconnect_at(struct run *run, const struct csi_iscsi_target_portal *where) {
  return log_out(run, where, NAME);
}

static enum csi_code disks_at(struct run *run, const struct csi_iscsi_target_portal *where) {
  struct texts disks;
  return disks_of(run, where, NAME, &disks);
}

#define PORTAL_RULES(rpc, call)                                                                              \
  static void rpc##_refuses_bad_portals(struct run *run) {                                                   \
    prepare_target(run, "");                                                                                 \
    check_refuses_portals(run, call);                                                                        \
  }                                                                                                          \
  static void rpc##_says_that_msiscsi_is_not_running(struct run *run) {                                      \
    prepare_target(run, "");                                                                                 \
    check_needs_service(run, call);                                                                          \
  }
PORTAL_RULES(add, add_portal)
PORTAL_RULES(discover, discover_at)
PORTAL_RULES(remove, remove_portal)
PORTAL_RULES(connect, connect_at)
PORTAL_RULES(disconnect, disconnect_at)
PORTAL_RULES(get_disks, disks_at)

/* ---- Portals ---- */

static void registers_a_portal(struct run *run) {
  add_target(run, NAME, "");
  check_portals(run, NULL, NULL);
  check_added(run);
  check_portals(run, ADDRESS ":3260", NULL);
  check_added(run);
  check_ok(run, "AddTargetPortal with port 0", add_portal(run, &usual_port));
  check_portals(run, ADDRESS ":3260", NULL);
}

static void registers_two_portals(struct run *run) {
  add_target(run, NAME, "");
  scene(run, "target add iqn=" SECOND " portal=" ADDRESS ":3261");
  check_ok(run, "AddTargetPortal with port 0", add_portal(run, &usual_port));
  check_ok(run, "AddTargetPortal", add_portal(run, &other_port));
  check_portals(run, ADDRESS ":3260", ADDRESS ":3261");
}

static void asks_a_registered_portal_again(struct run *run) {
  struct texts iqns;
  prepare_target(run, "");
  add_target(run, SECOND, "");
  check_added(run);
  check_ok(run, "DiscoverTargetPortal", discover(run, &portal, &iqns));
  check(run, iqns.count == 2 && has_text(&iqns, SECOND), "%zu targets", iqns.count);
}

static void a_portal_that_does_not_answer_is_not_registered(struct run *run) {
  check(run, add_portal(run, &unknown) != CSI_OK, "success with a portal where nobody is");
  check_refusal_in(run, CSI_SPACE_ISDSC, CSI_UNKNOWN, run->error.precise_code, run->error.number,
                   "error adding target portal at (10.20.30.99:3260). err: ");
  check(run, run->error.number != 0, "the initiator's error is missing: %s", run->error.text);
  check_portals(run, NULL, NULL);
}

static enum csi_code add_the_portal(struct run *run) {
  return add_portal(run, &portal);
}

static void a_portal_that_hangs_is_given_up(struct run *run) {
  struct texts portals;
  add_target(run, NAME, "");
  hang_in(run, "AddIScsiSendTargetPortalW", add_the_portal);
  check_ok(run, "ListTargetPortals, meanwhile", list_portals(run, &portals));
  scene(run, "network fault clear");
  check_works_again(run, "AddTargetPortal", add_the_portal);
  check_portals(run, ADDRESS ":3260", NULL);
}

static void lists_targets(struct run *run) {
  struct texts iqns;
  prepare_target(run, "");
  check_ok(run, "DiscoverTargetPortal", discover(run, &usual_port, &iqns));
  check(run, iqns.count == 1 && has_text(&iqns, NAME), "%zu targets", iqns.count);
}

static void notices_new_and_lost_targets(struct run *run) {
  struct texts iqns;
  prepare_target(run, "");
  add_target(run, SECOND, "");
  check_ok(run, "DiscoverTargetPortal", discover(run, &portal, &iqns));
  check(run, iqns.count == 2 && has_text(&iqns, NAME) && has_text(&iqns, SECOND), "%zu targets", iqns.count);
  scene(run, "target remove iqn=" NAME);
  check_ok(run, "DiscoverTargetPortal", discover(run, &portal, &iqns));
  check(run, iqns.count == 1 && has_text(&iqns, SECOND), "%zu targets after one is gone", iqns.count);
}

static void does_not_mix_portals(struct run *run) {
  struct texts iqns;
  prepare_target(run, "");
  scene(run, "target add iqn=" SECOND " portal=" ADDRESS ":3261");
  check_ok(run, "AddTargetPortal", add_portal(run, &other_port));
  check_ok(run, "DiscoverTargetPortal", discover(run, &other_port, &iqns));
  check(run, iqns.count == 1 && has_text(&iqns, SECOND), "%zu targets", iqns.count);
}

static void discovers_registered_portals_only(struct run *run) {
  add_target(run, NAME, "");
  check_not_found(run, discover_at(run, &portal),
                  "error list targets by target portal at (" ADDRESS ":3260). err: ");
  check_portals(run, NULL, NULL);
}

static void forgets_a_portal(struct run *run) {
  prepare_target(run, "");
  check_ok(run, "RemoveTargetPortal", remove_portal(run, &usual_port));
  check_portals(run, NULL, NULL);
  check_ok(run, "RemoveTargetPortal, again", remove_portal(run, &portal));
  check_ok(run, "RemoveTargetPortal of another", remove_portal(run, &unknown));
}

static void forgets_no_other_portal(struct run *run) {
  prepare_target(run, "");
  scene(run, "target add iqn=" SECOND " portal=" ADDRESS ":3261");
  check_ok(run, "AddTargetPortal", add_portal(run, &other_port));
  check_ok(run, "RemoveTargetPortal", remove_portal(run, &portal));
  check_portals(run, ADDRESS ":3261", NULL);
}

static void tells_that_a_portal_stays(struct run *run) {
  prepare_target(run, "");
  scene(run, "network fault add call=RemoveIScsiSendTargetPortalW error=5 count=0");
  check(run, remove_portal(run, &portal) != CSI_OK, "success, and the portal stays");
  check_refusal_in(run, run->error.space, CSI_UNKNOWN, CSI_PERMISSION_DENIED, 5,
                   "error removing target portal at (" ADDRESS ":3260). err: ");
  scene(run, "network fault clear");
  check_portals(run, ADDRESS ":3260", NULL);
}

static void lists_no_portals(struct run *run) {
  check_portals(run, NULL, NULL);
}

static enum csi_code list_the_portals(struct run *run, const struct csi_iscsi_target_portal *where) {
  struct texts portals;
  (void)where;
  return list_portals(run, &portals);
}

static void list_says_that_msiscsi_is_not_running(struct run *run) {
  prepare_target(run, "");
  check_needs_service(run, list_the_portals);
}

/* ---- ConnectTarget ---- */

static void connects_without_authentication(struct run *run) {
  prepare_target(run, "");
  check_ok(run, "ConnectTarget", connect_plainly(run));
  check_sessions(run, 1);
  check_session_word(run, "auth", "none");
  check_session_word(run, "persistent", "0");
}

static void connects_with_chap(struct run *run) {
  prepare_target(run, "chap-user=" USER " chap-secret=" SECRET);
  check_ok(run, "ConnectTarget", connect_with(run, CSI_ISCSI_AUTHENTICATION_TYPE_ONE_WAY_CHAP, SECRET));
  check_session_word(run, "auth", "chap");
  check_session_word(run, "user", USER);
}

/* v1alpha1 has no call for the mutual secret; the one that is set is the node's all the same. */
static enum csi_code set_secret_of_node(struct run *run, const char *secret) {
  static const char *const newest[] = {"v1alpha2", NULL};
  struct csi_client *own = run->iscsi;
  enum csi_code code = csi_client_connect("iscsi", newest, &run->options, &run->iscsi, &run->error);
  if (code == CSI_OK) code = set_mutual_secret(run, secret);
  csi_client_close(run->iscsi);
  run->iscsi = own;
  return code;
}

static void connects_with_mutual_chap(struct run *run) {
  prepare_target(run, "chap-user=" USER " chap-secret=" SECRET " mutual-secret=" MUTUAL_SECRET);
  check_ok(run, "SetMutualChapSecret", set_secret_of_node(run, MUTUAL_SECRET));
  check_ok(run, "ConnectTarget", connect_with(run, CSI_ISCSI_AUTHENTICATION_TYPE_MUTUAL_CHAP, SECRET));
  check_session_word(run, "auth", "mutual");
}

static void connecting_twice_is_connecting_once(struct run *run) {
  prepare_target(run, "");
  check_ok(run, "ConnectTarget", connect_plainly(run));
  check_ok(run, "ConnectTarget, again", connect_plainly(run));
  check_ok(run, "ConnectTarget with port 0", connect_at(run, &usual_port));
  check_sessions(run, 1);
}

static void takes_the_session_of_another(struct run *run) {
  prepare_target(run, "");
  scene(run, "session add iqn=" NAME);
  check_ok(run, "ConnectTarget", connect_plainly(run));
  check_sessions(run, 1);
}

static void connects_to_what_is_new(struct run *run) {
  prepare_target(run, "");
  scene(run, "target add iqn=" SECOND " portal=" ADDRESS ":3260");
  enum csi_code code =
      log_in(run, &(struct csi_iscsi_connect_target_request){.target_portal = &portal, .iqn = SECOND});
  if (code != CSI_OK) { /* as a driver does that has not asked before */
    check_added(run);
    code = log_in(run, &(struct csi_iscsi_connect_target_request){.target_portal = &portal, .iqn = SECOND});
  }
  check_ok(run, "ConnectTarget", code);
}

static void refuses_wrong_secrets(struct run *run) {
  prepare_target(run, "chap-user=" USER " chap-secret=" SECRET);
  check(run, connect_with(run, CSI_ISCSI_AUTHENTICATION_TYPE_ONE_WAY_CHAP, WRONG_SECRET) != CSI_OK,
        "success with a wrong secret");
  check_refusal_in(run, CSI_SPACE_ISDSC, CSI_UNKNOWN, CSI_PERMISSION_DENIED, AUTHENTICATION_FAILURE,
                   "error connecting to target portal. err: ");
  check_does_not_say(run, WRONG_SECRET);
  check(run, connect_plainly(run) != CSI_OK, "success without a secret");
  check_says(run, "error connecting to target portal. err: ");
  check_sessions(run, 0);
  check_ok(run, "ConnectTarget, with the right one",
           connect_with(run, CSI_ISCSI_AUTHENTICATION_TYPE_ONE_WAY_CHAP, SECRET));
}

static void refuses_a_target_with_another_mutual_secret(struct run *run) {
  prepare_target(run, "chap-user=" USER " chap-secret=" SECRET " mutual-secret=" MUTUAL_SECRET);
  check_ok(run, "SetMutualChapSecret", set_secret_of_node(run, WRONG_SECRET));
  check(run, connect_with(run, CSI_ISCSI_AUTHENTICATION_TYPE_MUTUAL_CHAP, SECRET) != CSI_OK,
        "success with a target that does not know the mutual secret");
  check_says(run, "error connecting to target portal. err: ");
  check_does_not_say(run, SECRET);
  check_sessions(run, 0);
}

static void refuses_secrets_of_a_wrong_size(struct run *run) {
  static const char *const secrets[] = {"eleven-byte", "seventeen-bytes--"};
  prepare_target(run, "chap-user=" USER " chap-secret=" SECRET);
  for (size_t i = 0; i < sizeof secrets / sizeof secrets[0]; i++) {
    check_invalid(run, connect_with(run, CSI_ISCSI_AUTHENTICATION_TYPE_ONE_WAY_CHAP, secrets[i]),
                  "a wrong size");
    check_does_not_say(run, secrets[i]);
  }
  check_invalid(run, connect_with(run, CSI_ISCSI_AUTHENTICATION_TYPE_ONE_WAY_CHAP, text_of_bytes(256)),
                "256 bytes");
  check_does_not_say(run, "xxxx");
  check_not_called(run, LOGIN);
}

static void refuses_unknown_authentication(struct run *run) {
  prepare_target(run, "");
  check_invalid(run, connect_with(run, (enum csi_iscsi_authentication_type)3, SECRET), "type 3");
  check_refusal(run, CSI_UNKNOWN, CSI_INVALID_ARGUMENT, 0, "invalid authentication type authType=3");
  check_not_called(run, LOGIN);
}

/* Names that are none: for every RPC with one. */
static const char *const bad_names[] = {"", "iqn.2026-01.example:a b", "iqn.2026-01.example:a\nb"};

typedef enum csi_code name_rpc(struct run *run, const char *name);

static void check_refuses_names(struct run *run, name_rpc *call) {
  for (size_t i = 0; i < sizeof bad_names / sizeof bad_names[0]; i++)
    check_invalid(run, call(run, bad_names[i]), path(run, "the name \"%s\"", bad_names[i]));
  check_invalid(run, call(run, text_of_bytes(224)), "a name of 224 bytes");
  check_says(run, "iqn is longer than");
  check(run, call(run, "iqn.2026-01.example:\xC3(") == CSI_INTERNAL, "a name that is no UTF-8: %s",
        run->error.text);
}

static void check_knows_no_such_target(struct run *run, name_rpc *call) {
  check_not_found(run, call(run, SECOND),
                  "error query target " SECOND " from target portal at (" ADDRESS ":3260). err: ");
}

static enum csi_code connect_to(struct run *run, const char *name) {
  return log_in(run, &(struct csi_iscsi_connect_target_request){.target_portal = &portal, .iqn = name});
}

static enum csi_code disconnect_from(struct run *run, const char *name) {
  return log_out(run, &portal, name);
}

static enum csi_code disks_of_name(struct run *run, const char *name) {
  struct texts disks;
  return disks_of(run, &portal, name, &disks);
}

static void connect_refuses_bad_names(struct run *run) {
  prepare_target(run, "");
  check_refuses_names(run, connect_to);
  check_knows_no_such_target(run, connect_to);
}

static void connects_through_registered_portals_only(struct run *run) {
  add_target(run, NAME, "");
  check_not_found(run, connect_plainly(run),
                  "error query target " NAME " from target portal at (" ADDRESS ":3260). err: ");
  check_sessions(run, 0);
}

static void a_target_that_is_down_is_an_error(struct run *run) {
  prepare_target(run, "");
  scene(run, "target set iqn=" NAME " down=1");
  check(run, connect_plainly(run) != CSI_OK, "success with a target that is down");
  check_says(run, "error connecting to target portal. err: ");
  check(run, run->error.number != 0, "the initiator's error is missing: %s", run->error.text);
  scene(run, "target set iqn=" NAME " down=0");
  check_ok(run, "ConnectTarget", connect_plainly(run));
}

static void a_login_that_hangs_is_given_up(struct run *run) {
  struct texts portals;
  prepare_target(run, "");
  hang_in(run, LOGIN, connect_plainly);
  check_ok(run, "ListTargetPortals, meanwhile", list_portals(run, &portals));
  scene(run, "network fault clear");
  check_works_again(run, "ConnectTarget", connect_plainly);
  check_sessions(run, 1);
}

/* ---- DisconnectTarget ---- */

static void ends_all_sessions(struct run *run) {
  prepare_target(run, "");
  scene(run, "session add iqn=" NAME);
  scene(run, "session add iqn=" NAME " persistent=1");
  check_ok(run, "DisconnectTarget", disconnect_at(run, &usual_port));
  check_sessions(run, 0);
  check_ok(run, "DisconnectTarget, again", disconnect_at(run, &portal));
}

static void ends_no_other_session(struct run *run) {
  prepare_target(run, "");
  add_target(run, SECOND, "");
  scene(run, "session add iqn=" SECOND);
  check_ok(run, "ConnectTarget", connect_plainly(run));
  check_ok(run, "DisconnectTarget", disconnect_at(run, &portal));
  check_sessions(run, 1);
}

static void disconnects_what_is_not_connected(struct run *run) {
  prepare_target(run, "");
  check_ok(run, "DisconnectTarget", disconnect_at(run, &portal));
  check_ok(run, "DisconnectTarget of an unknown one", disconnect_from(run, SECOND));
  check_ok(run, "DisconnectTarget at a portal that is not registered", disconnect_at(run, &unknown));
}

static void reconnects(struct run *run) {
  prepare_target(run, "");
  add_lun(run, NAME);
  for (int i = 0; i < ROUNDS && !run->failed; i++) {
    check_ok(run, "ConnectTarget", connect_plainly(run));
    check_disk_count(run, 1);
    check_ok(run, "DisconnectTarget", disconnect_at(run, &portal));
    check_disk_count(run, 0);
  }
}

static void disconnect_refuses_bad_names(struct run *run) {
  prepare_target(run, "");
  check_refuses_names(run, disconnect_from);
}

static void tells_that_a_session_stays(struct run *run) {
  prepare_target(run, "");
  check_ok(run, "ConnectTarget", connect_plainly(run));
  scene(run, "network fault add call=LogoutIScsiTarget error=0xEFFF0040 count=0");
  check(run, disconnect_at(run, &portal) != CSI_OK, "success, and the session stays");
  check_refusal_in(run, CSI_SPACE_ISDSC, CSI_UNKNOWN, CSI_FAILED_PRECONDITION, 0xEFFF0040,
                   "error disconnecting target " NAME " from target portal at (" ADDRESS ":3260). err: ");
  scene(run, "network fault clear");
  check_sessions(run, 1);
  check_ok(run, "DisconnectTarget", disconnect_at(run, &portal));
}

/* ---- GetTargetDisks ---- */

static void lists_disk_numbers(struct run *run) {
  struct texts disks;
  prepare_target(run, "");
  uint32_t first = add_lun(run, NAME), second = add_lun(run, NAME);
  check_ok(run, "ConnectTarget", connect_plainly(run));
  check_disk_count(run, 2);
  check_ok(run, "GetTargetDisks", disks_of(run, &usual_port, NAME, &disks));
  check(run,
        has_text(&disks, path(run, "%u", (unsigned)first)) &&
            has_text(&disks, path(run, "%u", (unsigned)second)),
        "the disks are %s and %s", disks.text[0], disks.text[1]);
}

static void lists_disks_that_come_late(struct run *run) {
  prepare_target(run, path(run, "disk-delay=%d", DISK_DELAY_MS));
  add_lun(run, NAME);
  check_ok(run, "ConnectTarget", connect_plainly(run));
  check_disk_count(run, 1);
}

static void lists_no_disks(struct run *run) {
  struct texts disks;
  prepare_target(run, "");
  add_lun(run, NAME);
  check_ok(run, "GetTargetDisks, not connected", disks_of(run, &portal, NAME, &disks));
  check(run, disks.count == 0, "%zu disks of a target that is not connected", disks.count);
}

static void get_disks_refuses_bad_names(struct run *run) {
  prepare_target(run, "");
  check_refuses_names(run, disks_of_name);
  check_knows_no_such_target(run, disks_of_name);
}

/* ---- SetMutualChapSecret ---- */

static void sets_the_secret(struct run *run) {
  check_ok(run, "12 bytes", set_mutual_secret(run, "twelve-bytes"));
  check_ok(run, "16 bytes", set_mutual_secret(run, "sixteen-bytes-16"));
  check_ok(run, "16 bytes, again", set_mutual_secret(run, "sixteen-bytes-16"));
  const char *set = scene_word(run, "initiator list", "mutual-secret=1", "mutual-secret");
  check(run, strcmp(set, "1") == 0, "the initiator has no secret");
}

static void set_refuses_secrets_of_a_wrong_size(struct run *run) {
  static const char *const secrets[] = {"", "eleven-byte", "seventeen-bytes--"};
  for (size_t i = 0; i < sizeof secrets / sizeof secrets[0]; i++) {
    check_invalid(run, set_mutual_secret(run, secrets[i]), "a wrong size");
    if (secrets[i][0] != '\0') check_does_not_say(run, secrets[i]);
  }
  check_invalid(run, set_mutual_secret(run, text_of_bytes(256)), "256 bytes");
  check_does_not_say(run, "xxxx");
  check(run, set_mutual_secret(run, "twelve-byt\xC3(") == CSI_INTERNAL, "no UTF-8: %s", run->error.text);
}

static enum csi_code set_the_secret(struct run *run, const struct csi_iscsi_target_portal *where) {
  (void)where;
  return set_mutual_secret(run, MUTUAL_SECRET);
}

static void set_says_that_msiscsi_is_not_running(struct run *run) {
  check_needs_service(run, set_the_secret);
}

/* ---- Many, and RPCs that a version lacks. ---- */

static void connect_and_disconnect(struct run *own, unsigned number) {
  const char *name = path(own, "iqn.2026-01.example:%u", number);
  for (int i = 0; i < ROUNDS && !own->failed; i++) {
    check_ok(own, "AddTargetPortal", add_portal(own, &portal));
    check_ok(own, "ConnectTarget", connect_to(own, name));
    check_ok(own, "DiscoverTargetPortal", discover_at(own, &portal));
    check_ok(own, "DisconnectTarget", disconnect_from(own, name));
  }
}

static void many_clients_at_once(struct run *run) {
  for (unsigned i = 0; i < CLIENTS; i++)
    add_target(run, path(run, "iqn.2026-01.example:%u", i), "");
  check_added(run);
  run_together(run, CLIENTS, connect_and_disconnect);
  check_sessions(run, 0);
}

static void connect_to_the_same(struct run *own, unsigned number) {
  (void)number;
  check_ok(own, "ConnectTarget", connect_plainly(own));
}

static void many_clients_want_one_target(struct run *run) {
  prepare_target(run, "");
  run_together(run, CLIENTS, connect_to_the_same);
  check_sessions(run, 1);
}

static bool has_rpc(const char *version, const char *rpc) {
  return strcmp(rpc, "SetMutualChapSecret") != 0 || strcmp(version, "v1alpha1") != 0;
}

static void rpcs_of_other_versions_are_unimplemented(struct run *run) {
  if (!has_rpc(run->version, "SetMutualChapSecret"))
    check(run, set_mutual_secret(run, MUTUAL_SECRET) == CSI_UNIMPLEMENTED, "%s", run->error.text);
  check_does_not_say(run, MUTUAL_SECRET);
}

static const struct test_case cases[] = {
    GOOD("AddTargetPortal", NEEDS_NOTHING, registers_a_portal),
    GOOD("AddTargetPortal", NEEDS_NOTHING, registers_two_portals),
    GOOD("AddTargetPortal", NEEDS_NOTHING, asks_a_registered_portal_again),
    BAD("AddTargetPortal", NEEDS_NOTHING, add_refuses_bad_portals),
    BAD("AddTargetPortal", NEEDS_NOTHING, add_says_that_msiscsi_is_not_running),
    BAD("AddTargetPortal", NEEDS_NOTHING, a_portal_that_does_not_answer_is_not_registered),
    BAD("AddTargetPortal", NEEDS_NOTHING, a_portal_that_hangs_is_given_up),
    GOOD("DiscoverTargetPortal", NEEDS_NOTHING, lists_targets),
    GOOD("DiscoverTargetPortal", NEEDS_NOTHING, notices_new_and_lost_targets),
    GOOD("DiscoverTargetPortal", NEEDS_NOTHING, does_not_mix_portals),
    BAD("DiscoverTargetPortal", NEEDS_NOTHING, discover_refuses_bad_portals),
    BAD("DiscoverTargetPortal", NEEDS_NOTHING, discover_says_that_msiscsi_is_not_running),
    BAD("DiscoverTargetPortal", NEEDS_NOTHING, discovers_registered_portals_only),
    GOOD("RemoveTargetPortal", NEEDS_NOTHING, forgets_a_portal),
    GOOD("RemoveTargetPortal", NEEDS_NOTHING, forgets_no_other_portal),
    BAD("RemoveTargetPortal", NEEDS_NOTHING, remove_refuses_bad_portals),
    BAD("RemoveTargetPortal", NEEDS_NOTHING, remove_says_that_msiscsi_is_not_running),
    BAD("RemoveTargetPortal", NEEDS_NOTHING, tells_that_a_portal_stays),
    GOOD("ListTargetPortals", NEEDS_NOTHING, lists_no_portals),
    GOOD("ListTargetPortals", NEEDS_NOTHING, registers_two_portals),
    BAD("ListTargetPortals", NEEDS_NOTHING, list_says_that_msiscsi_is_not_running),
    GOOD("ConnectTarget", NEEDS_NOTHING, connects_without_authentication),
    GOOD("ConnectTarget", NEEDS_NOTHING, connects_with_chap),
    GOOD("ConnectTarget", NEEDS_NOTHING, connects_with_mutual_chap),
    GOOD("ConnectTarget", NEEDS_NOTHING, connecting_twice_is_connecting_once),
    GOOD("ConnectTarget", NEEDS_NOTHING, takes_the_session_of_another),
    GOOD("ConnectTarget", NEEDS_NOTHING, connects_to_what_is_new),
    GOOD("ConnectTarget", NEEDS_NOTHING, many_clients_want_one_target),
    BAD("ConnectTarget", NEEDS_NOTHING, connect_refuses_bad_portals),
    BAD("ConnectTarget", NEEDS_NOTHING, connect_says_that_msiscsi_is_not_running),
    BAD("ConnectTarget", NEEDS_NOTHING, refuses_wrong_secrets),
    BAD("ConnectTarget", NEEDS_NOTHING, refuses_a_target_with_another_mutual_secret),
    BAD("ConnectTarget", NEEDS_NOTHING, refuses_secrets_of_a_wrong_size),
    BAD("ConnectTarget", NEEDS_NOTHING, refuses_unknown_authentication),
    BAD("ConnectTarget", NEEDS_NOTHING, connect_refuses_bad_names),
    BAD("ConnectTarget", NEEDS_NOTHING, connects_through_registered_portals_only),
    BAD("ConnectTarget", NEEDS_NOTHING, a_target_that_is_down_is_an_error),
    BAD("ConnectTarget", NEEDS_NOTHING, a_login_that_hangs_is_given_up),
    GOOD("DisconnectTarget", NEEDS_NOTHING, ends_all_sessions),
    GOOD("DisconnectTarget", NEEDS_NOTHING, ends_no_other_session),
    GOOD("DisconnectTarget", NEEDS_NOTHING, disconnects_what_is_not_connected),
    GOOD("DisconnectTarget", NEEDS_NOTHING, reconnects),
    GOOD("DisconnectTarget", NEEDS_NOTHING, many_clients_at_once),
    BAD("DisconnectTarget", NEEDS_NOTHING, disconnect_refuses_bad_portals),
    BAD("DisconnectTarget", NEEDS_NOTHING, disconnect_says_that_msiscsi_is_not_running),
    BAD("DisconnectTarget", NEEDS_NOTHING, disconnect_refuses_bad_names),
    BAD("DisconnectTarget", NEEDS_NOTHING, tells_that_a_session_stays),
    GOOD("GetTargetDisks", NEEDS_NOTHING, lists_disk_numbers),
    GOOD("GetTargetDisks", NEEDS_NOTHING, lists_disks_that_come_late),
    GOOD("GetTargetDisks", NEEDS_NOTHING, lists_no_disks),
    BAD("GetTargetDisks", NEEDS_NOTHING, get_disks_refuses_bad_portals),
    BAD("GetTargetDisks", NEEDS_NOTHING, get_disks_says_that_msiscsi_is_not_running),
    BAD("GetTargetDisks", NEEDS_NOTHING, get_disks_refuses_bad_names),
    GOOD("SetMutualChapSecret", NEEDS_NOTHING, sets_the_secret),
    BAD("SetMutualChapSecret", NEEDS_NOTHING, set_refuses_secrets_of_a_wrong_size),
    BAD("SetMutualChapSecret", NEEDS_NOTHING, set_says_that_msiscsi_is_not_running),
    BAD("others' RPCs", NEEDS_NOTHING, rpcs_of_other_versions_are_unimplemented),
};

static const char *const versions[] = {"v1alpha1", "v1alpha2", NULL};
static const char *const rpcs[] = {
    "AddTargetPortal",  "DiscoverTargetPortal", "RemoveTargetPortal",  "ListTargetPortals", "ConnectTarget",
    "DisconnectTarget", "GetTargetDisks",       "SetMutualChapSecret", "others' RPCs",      NULL};
static const char *const other_groups[] = {"filesystem", NULL};

const struct suite iscsi_suite = {
    .group = "iscsi",
    .versions = versions,
    .rpcs = rpcs,
    .cases = cases,
    .case_count = sizeof cases / sizeof cases[0],
    .has_rpc = has_rpc,
    .other_groups = other_groups,
    .prepare = prepare_scene,
    .clean_up = clean_up_scene,
};
