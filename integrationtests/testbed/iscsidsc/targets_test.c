/* SPDX-License-Identifier: Apache-2.0 */
#include "targets.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "target_words.h"

enum { REPLY_BYTES = 4096, NOW_MS = 1000 };

#define IQN "iqn.2004-10.com.example:one"
#define PORTAL "192.0.2.1:3260"
#define SECRET "abcdefghijkl"
#define MUTUAL "lkjihgfedcba"

static const struct csi_iscsi_portal portal = {.address = "192.0.2.1", .port = 3260};
static const struct csi_iscsi_portal any_portal = {.address = ""};

static char reply[REPLY_BYTES];
static const char *problem;

static bool try_command(struct network_state *state, const char *text) {
  char line[512];
  struct vdisk_words words;
  struct vdisk_text answer;
  snprintf(line, sizeof line, "%s", text);
  assert_true(vdisk_words_split(&words, line));
  vdisk_text_init(&answer, reply, sizeof reply);
  problem = NULL;
  vdisk_words_take(&words);
  bool done = targets_command(state, words.word[0], &words, NOW_MS, &answer, &problem);
  assert_int_equal(done, problem == NULL);
  return done;
}

static void command(struct network_state *state, const char *text) {
  if (!try_command(state, text)) fail_msg("%s: %s", text, problem);
}

static struct network_state new_state(void) {
  return (struct network_state){.first = NULL};
}

static uint32_t log_in(struct network_state *state, enum csi_iscsi_authentication authentication,
                       const char *user, const char *secret) {
  struct targets_login login = {
      .iqn = IQN, .portal = &portal, .authentication = authentication, .user = user};
  uint64_t id = 0;
  login.secret_bytes = strlen(secret);
  if (login.secret_bytes > 0) network_secret_digest(secret, login.secret_bytes, login.secret);
  return targets_log_in(state, &login, NOW_MS, &id);
}

static void test_discovery(void **test) {
  (void)test;
  struct network_state state = new_state();
  assert_int_equal(targets_add_portal(&state, &portal), TARGETS_CONNECTION_FAILED);
  assert_int_equal(targets_refresh_portal(&state, &portal), CSI_ISDSC_PORTAL_NOT_FOUND);
  command(&state, "target add iqn=" IQN " portal=" PORTAL);
  assert_int_equal(log_in(&state, CSI_ISCSI_AUTH_NONE, NULL, ""), CSI_ISDSC_TARGET_NOT_FOUND);
  assert_int_equal(targets_add_portal(&state, &portal), 0);
  assert_int_equal(targets_add_portal(&state, &portal), 0);
  command(&state, "initiator list");
  assert_string_equal(reply, "running=1 mutual-secret=0\nportal=" PORTAL "\n");
  command(&state, "target add iqn=iqn.2004-10.com.example:two portal=" PORTAL);
  assert_null(network_find(&state, "discovered", "iqn", "iqn.2004-10.com.example:two"));
  assert_int_equal(targets_refresh_portal(&state, &portal), 0);
  assert_non_null(network_find(&state, "discovered", "iqn", "iqn.2004-10.com.example:two"));
  assert_int_equal(targets_remove_portal(&state, &portal), 0);
  assert_int_equal(targets_remove_portal(&state, &portal), CSI_ISDSC_PORTAL_NOT_FOUND);
  assert_null(network_next(&state, "discovered", NULL));
  network_state_clear(&state);
}

static void test_sessions(void **test) {
  (void)test;
  struct network_state state = new_state();
  command(&state, "target add iqn=" IQN " portal=" PORTAL " disk-delay=50");
  command(&state, "target lun iqn=" IQN " number=3 size=64M file=C:%5Ca%20b.img");
  assert_int_equal(targets_add_portal(&state, &portal), 0);
  const struct network_record *lun = network_next(&state, "lun", NULL);
  assert_string_equal(network_get(lun, "words"), "number=3 size=64M file=C:%5Ca%20b.img bus=iscsi");
  assert_false(targets_wants_disk(&state, lun, NOW_MS));
  assert_int_equal(log_in(&state, CSI_ISCSI_AUTH_NONE, NULL, ""), 0);
  assert_int_equal(log_in(&state, CSI_ISCSI_AUTH_NONE, NULL, ""), CSI_ISDSC_TARGET_ALREADY_LOGGED_IN);
  assert_false(targets_wants_disk(&state, lun, NOW_MS));
  assert_true(targets_wants_disk(&state, lun, NOW_MS + 50));
  command(&state, "session list");
  assert_string_equal(reply, "iqn=" IQN " portal=" PORTAL " auth=none user= persistent=0\n");
  command(&state, "session add iqn=" IQN " persistent=1");
  assert_int_equal(targets_count_sessions(&state, IQN), 2);
  command(&state, "target list");
  assert_string_equal(reply, "iqn=" IQN " portal=" PORTAL " sessions=2\n");
  assert_int_equal(targets_log_out(&state, 1), 0);
  assert_int_equal(targets_log_out(&state, 1), CSI_ISDSC_INVALID_SESSION_ID);
  assert_true(targets_wants_disk(&state, lun, NOW_MS + 50));
  assert_int_equal(targets_forget_login(&state, IQN, &any_portal), 0);
  assert_int_equal(targets_forget_login(&state, IQN, &portal), TARGETS_NO_PERSISTENT_LOGIN);
  command(&state, "target remove iqn=" IQN);
  assert_null(network_next(&state, "session", NULL));
  assert_false(targets_wants_disk(&state, lun, NOW_MS + 50));
  network_state_clear(&state);
}

static void test_chap(void **test) {
  (void)test;
  struct network_state state = new_state();
  command(&state, "target add iqn=" IQN " portal=" PORTAL " chap-user=me chap-secret=" SECRET
                  " mutual-secret=" MUTUAL);
  assert_int_equal(targets_add_portal(&state, &portal), 0);
  const uint32_t refused = CSI_ISDSC_AUTHENTICATION_FAILURE;
  assert_int_equal(log_in(&state, CSI_ISCSI_AUTH_NONE, NULL, ""), refused);
  assert_int_equal(log_in(&state, CSI_ISCSI_AUTH_ONE_WAY_CHAP, "me", "abcdefghijkL"), refused);
  assert_int_equal(log_in(&state, CSI_ISCSI_AUTH_ONE_WAY_CHAP, "you", SECRET), refused);
  assert_int_equal(log_in(&state, CSI_ISCSI_AUTH_ONE_WAY_CHAP, NULL, SECRET), refused);
  assert_int_equal(log_in(&state, CSI_ISCSI_AUTH_ONE_WAY_CHAP, "me", "short"), TARGETS_INVALID_CHAP_SECRET);
  assert_int_equal(log_in(&state, CSI_ISCSI_AUTH_MUTUAL_CHAP, "me", SECRET), refused);
  assert_int_equal(targets_set_mutual_secret(&state, (const uint8_t *)"short", 5),
                   TARGETS_INVALID_CHAP_SECRET);
  assert_int_equal(targets_set_mutual_secret(&state, (const uint8_t *)SECRET, 12), 0);
  assert_int_equal(log_in(&state, CSI_ISCSI_AUTH_MUTUAL_CHAP, "me", SECRET), refused);
  assert_int_equal(targets_set_mutual_secret(&state, (const uint8_t *)MUTUAL, 12), 0);
  assert_int_equal(log_in(&state, CSI_ISCSI_AUTH_MUTUAL_CHAP, "me", SECRET), 0);
  command(&state, "session list");
  assert_string_equal(reply, "iqn=" IQN " portal=" PORTAL " auth=mutual user=me persistent=0\n");
  assert_int_equal(targets_log_out(&state, 1), 0);
  assert_int_equal(log_in(&state, CSI_ISCSI_AUTH_ONE_WAY_CHAP, "me", SECRET), 0);
  network_state_clear(&state);
}

static void test_states(void **test) {
  (void)test;
  struct network_state state = new_state();
  assert_int_equal(targets_service(&state), 0);
  command(&state, "initiator set running=0");
  assert_int_equal(targets_service(&state), TARGETS_SERVICE_STOPPED);
  command(&state, "initiator set error=0xEFFF003E");
  assert_int_equal(targets_service(&state), CSI_ISDSC_SERVICE_NOT_RUNNING);
  command(&state, "initiator set running=1");
  assert_int_equal(targets_service(&state), 0);
  command(&state, "target add iqn=" IQN " portal=[2001:db8::1]:3260");
  command(&state, "target list");
  assert_string_equal(reply, "iqn=" IQN " portal=2001:db8:0:0:0:0:0:1:3260 sessions=0\n");
  command(&state, "target set iqn=" IQN " login-delay=70");
  assert_int_equal(targets_login_delay_ms(&state, IQN), 70);
  struct csi_iscsi_portal other = {.address = "2001:DB8::1", .port = 3260};
  assert_int_equal(targets_add_portal(&state, &other), 0);
  command(&state, "target set iqn=" IQN " down=1");
  assert_int_equal(targets_login_delay_ms(&state, IQN), 70);
  assert_int_equal(targets_refresh_portal(&state, &other), TARGETS_CONNECTION_FAILED);
  network_state_clear(&state);
}

static void test_refused_commands(void **test) {
  (void)test;
  static const char *const lines[] = {
      "target",
      "target add iqn=" IQN,
      "target add portal=" PORTAL,
      "target add iqn=" IQN " portal=192.0.2.1",
      "target add iqn=" IQN " portal=192.0.2.1:0",
      "target add iqn=" IQN " portal=" PORTAL " what=1",
      "target add iqn=" IQN " portal=" PORTAL " chap-user=%",
      "target lun iqn=iqn.none number=1 size=1G file=x",
      "target lun iqn=iqn.there size=1G file=x",
      "target lun iqn=iqn.there number=1 size=1G",
      "target set iqn=iqn.there down=yes",
      "target add iqn=iqn.there portal=" PORTAL,
      "target remove iqn=iqn.none",
      "session add iqn=iqn.none",
      "session list all",
      "session remove iqn=iqn.there",
      "initiator set running=maybe",
  };
  struct network_state state = new_state();
  command(&state, "target add iqn=iqn.there portal=" PORTAL);
  for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
    if (try_command(&state, lines[i])) fail_msg("accepted: %s", lines[i]);
  command(&state, "target list");
  assert_string_equal(reply, "iqn=iqn.there portal=" PORTAL " sessions=0\n");
  network_state_clear(&state);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_discovery), cmocka_unit_test(test_sessions),         cmocka_unit_test(test_chap),
      cmocka_unit_test(test_states),    cmocka_unit_test(test_refused_commands),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
