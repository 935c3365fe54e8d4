/* SPDX-License-Identifier: Apache-2.0
 *
 * The contract of ConnectTarget, DisconnectTarget, GetTargetDisks and SetMutualChapSecret, row by row.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "iscsi/fixture.h"

#define QUERY_IQN "error query target " IQN " from target portal at " PLACE ". err: "
#define MS INT64_C(1000000)

enum {
  LONG_MS = 60 * 1000, /* a deadline that nothing here needs */
};

static const struct csi_iscsi_target_portal portal = {.target_address = ADDRESS, .target_port = PORT};

static struct csi_iscsi_connect_target_request new_request(enum csi_iscsi_authentication_type type,
                                                           const char *user, const char *secret) {
  return (struct csi_iscsi_connect_target_request){.target_portal = &portal,
                                                   .iqn = CHAP_IQN,
                                                   .auth_type = type,
                                                   .chap_username = user,
                                                   .chap_secret = secret};
}

static bool connect_chap(struct iscsi_fixture *f, enum csi_iscsi_authentication_type type, const char *user,
                         const char *secret) {
  struct csi_iscsi_connect_target_request request = new_request(type, user, secret);
  return call_connect_with(f, &request);
}

/* ---- ConnectTarget ---- */

static void test_connect(void **state) {
  struct iscsi_fixture *f = *state;
  assert_ok(f, call_add(f, ADDRESS, 0));
  assert_ok(f, call_connect(f, IQN));
  assert_sessions(f, IQN, 1);
  assert_disk_present(f, true);
  struct csi_fake_login login = csi_fake_iscsi_last_login(f->iscsi);
  assert_int_equal(login.authentication, CSI_ISCSI_AUTH_NONE);
  assert_string_equal(login.portal.address, ADDRESS);
  assert_int_equal(login.portal.port, PORT);
  assert_false(login.has_user || login.has_secret);
  assert_int_equal(csi_fake_iscsi_count(f->iscsi, "persistent-login", NULL), 0);
}

static void test_connect_again(void **state) {
  struct iscsi_fixture *f = *state;
  assert_ok(f, call_add(f, ADDRESS, 0));
  assert_ok(f, call_connect(f, IQN));
  csi_fake_network_reset_counts(f->network);
  csi_fake_iscsi_do(f->iscsi, "target set iqn=" IQN " down=1");
  assert_ok(f, call_connect(f, "IQN.2004-10.com.example:DISK1"));
  assert_int_equal(count_calls(f, NULL), 1); /* nothing but a look at the sessions */
  assert_sessions(f, IQN, 1);
}

static void test_connect_unknown(void **state) {
  struct iscsi_fixture *f = *state;
  assert_failed(f, call_connect(f, IQN), CSI_NOT_FOUND,
                QUERY_IQN "failed to query iSCSI target portal at " PLACE ". error: not found");
  assert_ok(f, call_add(f, ADDRESS, 0));
  csi_fake_network_reset_counts(f->network);
  assert_failed(f, call_connect(f, "iqn.2004-10.com.example:none"), CSI_NOT_FOUND,
                "error query target iqn.2004-10.com.example:none from target portal at " PLACE
                ". err: not found");
  assert_int_equal(count_calls(f, CSI_FAKE_ISCSI_REFRESH_PORTAL), 1);
  assert_int_equal(count_calls(f, CSI_FAKE_ISCSI_LOGIN), 0);
  assert_failed(f, call_connect(f, "disk1"), CSI_NOT_FOUND, "error query target disk1 from target portal");
  assert_says(f, "begins with iqn., eui. or naa.");
}

static void test_connect_to_a_target_newer_than_the_discovery(void **state) {
  struct iscsi_fixture *f = *state;
  assert_ok(f, call_add(f, ADDRESS, 0));
  csi_fake_iscsi_do(f->iscsi, "target add iqn=iqn.2004-10.com.example:new portal=" ADDRESS ":3260");
  assert_ok(f, call_connect(f, "iqn.2004-10.com.example:new"));
  assert_sessions(f, "iqn.2004-10.com.example:new", 1);
}

/* The initiator is asked in its own spelling, not the client's. */
static void test_connect_in_other_spellings(void **state) {
  struct iscsi_fixture *f = *state;
  csi_fake_iscsi_do(f->iscsi, "target add iqn=iqn.2004-10.com.example:six portal=[fd00::1]:3260");
  csi_fake_iscsi_register(f->iscsi, "FD00:0::1", PORT);
  struct csi_iscsi_target_portal six = {.target_address = "[fd00::1]", .target_port = 0};
  struct csi_iscsi_connect_target_request request = new_request(CSI_ISCSI_AUTHENTICATION_TYPE_NONE, "", "");
  request.target_portal = &six;
  request.iqn = "IQN.2004-10.com.example:SIX";
  assert_ok(f, call_connect_with(f, &request));
  struct csi_fake_login login = csi_fake_iscsi_last_login(f->iscsi);
  assert_string_equal(login.portal.address, "FD00:0::1");
  assert_string_equal(login.target, "iqn.2004-10.com.example:six");
}

static void test_bad_names(void **state) {
  static const char *const names[] = {"", "iqn.2004-10.com.example:a b", "iqn.2004-10.com.example:a\tb"};
  struct iscsi_fixture *f = *state;
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    assert_failed(f, call_connect(f, names[i]), CSI_INVALID_ARGUMENT, "invalid target name iqn=");
    assert_failed(f, call_disconnect(f, ADDRESS, names[i]), CSI_INVALID_ARGUMENT, "invalid target name iqn=");
    assert_failed(f, call_disks(f, ADDRESS, names[i]), CSI_INVALID_ARGUMENT, "invalid target name iqn=");
  }
  struct csi_iscsi_connect_target_request request = new_request(CSI_ISCSI_AUTHENTICATION_TYPE_NONE, "", "");
  request.target_portal = NULL;
  assert_failed(f, call_connect_with(f, &request), CSI_INVALID_ARGUMENT, "target_portal is missing");
  assert_int_equal(count_calls(f, NULL), 0);
}

static void test_connect_fails(void **state) {
  struct iscsi_fixture *f = *state;
  assert_ok(f, call_add(f, ADDRESS, 0));
  csi_fake_iscsi_do(f->iscsi, "target set iqn=" IQN " down=1");
  assert_failed(f, call_connect(f, IQN), CSI_UNAVAILABLE, "error connecting to target portal. err: ");
  assert_says(f, "Connection Failed. (ISDSC error 0xefff0003 in LoginIScsiTargetW)");
  csi_fake_iscsi_do(f->iscsi, "target set iqn=" IQN " down=0");
  assert_ok(f, call_connect(f, IQN));
}

/* Another program logs in between our look and our login. */
static void log_in_first(struct csi_fake_network *network, const char *call, void *data) {
  (void)network;
  struct iscsi_fixture *f = data;
  if (strcmp(call, CSI_FAKE_ISCSI_LOGIN) == 0) csi_fake_iscsi_do(f->iscsi, "session add iqn=" IQN);
}

static void test_connect_when_somebody_else_is_faster(void **state) {
  struct iscsi_fixture *f = *state;
  assert_ok(f, call_add(f, ADDRESS, 0));
  csi_fake_network_set_hook(f->network, log_in_first, f);
  assert_ok(f, call_connect(f, IQN));
  csi_fake_network_set_hook(f->network, NULL, NULL);
  assert_sessions(f, IQN, 1);
}

/* A login that succeeds and leaves nothing behind is none. */
static void end_session(struct csi_fake_network *network, const char *call, void *data) {
  (void)network;
  struct iscsi_fixture *f = data;
  if (strcmp(call, CSI_FAKE_ISCSI_LIST_SESSIONS) == 0 && csi_fake_iscsi_count(f->iscsi, "session", IQN) > 0)
    csi_fake_iscsi_do(f->iscsi, "target remove iqn=" IQN);
}

static void test_login_without_session(void **state) {
  struct iscsi_fixture *f = *state;
  assert_ok(f, call_add(f, ADDRESS, 0));
  csi_fake_network_set_hook(f->network, end_session, f);
  assert_failed(f, call_connect(f, IQN), CSI_INTERNAL, "error connecting to target portal. err: ");
  assert_says(f, "it has no session with this target");
  csi_fake_network_set_hook(f->network, NULL, NULL);
}

static void cancel_at_login(struct csi_fake_network *network, const char *call, void *data) {
  (void)network;
  struct iscsi_fixture *f = data;
  if (strcmp(call, CSI_FAKE_ISCSI_LOGIN) == 0) atomic_store(&f->cancelled, true);
}

static void give_login_up(struct iscsi_fixture *f) {
  assert_ok(f, call_add(f, ADDRESS, 0));
  csi_fake_iscsi_do(f->iscsi, "target set iqn=" IQN " login-delay=3000000");
  csi_fake_network_set_hook(f->network, cancel_at_login, f);
  assert_failed(f, call_connect(f, IQN), CSI_CANCELLED, "error connecting to target portal. err: ");
  assert_says(f, "LoginIScsiTargetW");
  csi_fake_network_set_hook(f->network, NULL, NULL);
  atomic_store(&f->cancelled, false);
}

/* A login that outlives its caller: nobody logs in beside it, and its session is found when it comes. */
static void test_login_that_was_given_up(void **state) {
  struct iscsi_fixture *f = *state;
  give_login_up(f);
  assert_failed(f, call_connect(f, IQN), CSI_UNAVAILABLE, "error connecting to target portal. err: ");
  assert_says(f, "has not returned");
  assert_ok(f, call_connect(f, OTHER_IQN));
  csi_fake_iscsi_end_late_calls(f->iscsi);
  assert_sessions(f, IQN, 1);
  assert_ok(f, call_connect(f, IQN));
  assert_sessions(f, IQN, 1);
}

/* There is no session yet, but there will be one. */
static void test_disconnect_after_a_login_that_was_given_up(void **state) {
  struct iscsi_fixture *f = *state;
  give_login_up(f);
  assert_failed(f, call_disconnect(f, ADDRESS, "IQN.2004-10.com.example:DISK1"), CSI_UNAVAILABLE,
                "error disconnecting target IQN.2004-10.com.example:DISK1 from target portal at " PLACE
                ". err: ");
  assert_says(f, "has not returned");
  csi_fake_iscsi_end_late_calls(f->iscsi);
  assert_sessions(f, IQN, 1);
  assert_ok(f, call_disconnect(f, ADDRESS, IQN));
  assert_sessions(f, IQN, 0);
  assert_disk_present(f, false);
}

/* There is a session still, but a logout is about to end it. */
static void test_connect_after_a_logout_that_was_given_up(void **state) {
  struct iscsi_fixture *f = *state;
  assert_ok(f, call_add(f, ADDRESS, 0));
  assert_ok(f, call_connect(f, IQN));
  csi_fake_iscsi_begin_late_call(f->iscsi, IQN);
  assert_failed(f, call_connect(f, IQN), CSI_UNAVAILABLE, "error connecting to target portal. err: ");
  assert_ok(f, call_connect(f, OTHER_IQN));
  csi_fake_iscsi_end_late_calls(f->iscsi);
  assert_ok(f, call_connect(f, IQN));
}

/* ---- CHAP ---- */

static void test_one_way_chap(void **state) {
  struct iscsi_fixture *f = *state;
  assert_ok(f, call_add(f, ADDRESS, 0));
  assert_ok(f, connect_chap(f, CSI_ISCSI_AUTHENTICATION_TYPE_ONE_WAY_CHAP, CHAP_USER, CHAP_SECRET));
  struct csi_fake_login login = csi_fake_iscsi_last_login(f->iscsi);
  assert_int_equal(login.authentication, CSI_ISCSI_AUTH_ONE_WAY_CHAP);
  assert_true(login.has_user && login.has_secret);
}

static void test_chap_without_user(void **state) {
  struct iscsi_fixture *f = *state;
  csi_fake_iscsi_do(f->iscsi, "target add iqn=iqn.2004-10.com.example:any portal=" ADDRESS
                              ":3260 chap-secret=" CHAP_SECRET);
  assert_ok(f, call_add(f, ADDRESS, 0));
  struct csi_iscsi_connect_target_request request =
      new_request(CSI_ISCSI_AUTHENTICATION_TYPE_ONE_WAY_CHAP, "", CHAP_SECRET);
  request.iqn = "iqn.2004-10.com.example:any";
  assert_ok(f, call_connect_with(f, &request));
  assert_false(csi_fake_iscsi_last_login(f->iscsi).has_user);
}

static void test_wrong_credentials(void **state) {
  static const struct {
    enum csi_iscsi_authentication_type type;
    const char *user, *secret;
  } rows[] = {
      {CSI_ISCSI_AUTHENTICATION_TYPE_NONE, "", ""},
      {CSI_ISCSI_AUTHENTICATION_TYPE_ONE_WAY_CHAP, CHAP_USER, "another-secret"},
      {CSI_ISCSI_AUTHENTICATION_TYPE_ONE_WAY_CHAP, "node-2", CHAP_SECRET},
      {CSI_ISCSI_AUTHENTICATION_TYPE_MUTUAL_CHAP, CHAP_USER, CHAP_SECRET}, /* no secret is set */
  };
  struct iscsi_fixture *f = *state;
  assert_ok(f, call_add(f, ADDRESS, 0));
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    assert_failed(f, connect_chap(f, rows[i].type, rows[i].user, rows[i].secret), CSI_PERMISSION_DENIED,
                  "error connecting to target portal. err: ");
    assert_says(f, "Authentication Failure.");
    assert_says(f, "Check authentication type, user and secret");
  }
  assert_sessions(f, CHAP_IQN, 0);
}

static void test_mutual_chap(void **state) {
  struct iscsi_fixture *f = *state;
  assert_ok(f, call_add(f, ADDRESS, 0));
  assert_ok(f, call_set_secret(f, "not-that-secret"));
  assert_failed(f, connect_chap(f, CSI_ISCSI_AUTHENTICATION_TYPE_MUTUAL_CHAP, CHAP_USER, CHAP_SECRET),
                CSI_PERMISSION_DENIED, "error connecting to target portal. err: ");
  assert_ok(f, call_set_secret(f, MUTUAL_SECRET));
  assert_ok(f, connect_chap(f, CSI_ISCSI_AUTHENTICATION_TYPE_MUTUAL_CHAP, CHAP_USER, CHAP_SECRET));
  assert_int_equal(csi_fake_iscsi_last_login(f->iscsi).authentication, CSI_ISCSI_AUTH_MUTUAL_CHAP);
}

/* What is not needed is not sent; the original sent it, and targets did not look. */
static void test_credentials_without_authentication(void **state) {
  struct iscsi_fixture *f = *state;
  assert_ok(f, call_add(f, ADDRESS, 0));
  struct csi_iscsi_connect_target_request request =
      new_request(CSI_ISCSI_AUTHENTICATION_TYPE_NONE, CHAP_USER, "short");
  request.iqn = IQN;
  assert_ok(f, call_connect_with(f, &request));
  struct csi_fake_login login = csi_fake_iscsi_last_login(f->iscsi);
  assert_false(login.has_user || login.has_secret);
}

static void test_unknown_authentication(void **state) {
  struct iscsi_fixture *f = *state;
  assert_failed(f, connect_chap(f, (enum csi_iscsi_authentication_type)3, "", ""), CSI_INVALID_ARGUMENT,
                "invalid authentication type authType=3");
  assert_int_equal(count_calls(f, NULL), 0);
}

static void test_secrets_of_wrong_length(void **state) {
  static const char *const secrets[] = {"", "elevenbytes", "seventeen-bytes17"};
  struct iscsi_fixture *f = *state;
  assert_ok(f, call_add(f, ADDRESS, 0));
  for (size_t i = 0; i < sizeof secrets / sizeof secrets[0]; i++) {
    assert_failed(f, connect_chap(f, CSI_ISCSI_AUTHENTICATION_TYPE_ONE_WAY_CHAP, CHAP_USER, secrets[i]),
                  CSI_INVALID_ARGUMENT, "chap_secret ");
    assert_says(f, "12 to 16 bytes");
    assert_failed(f, connect_chap(f, CSI_ISCSI_AUTHENTICATION_TYPE_MUTUAL_CHAP, CHAP_USER, secrets[i]),
                  CSI_INVALID_ARGUMENT, "chap_secret ");
    assert_failed(f, call_set_secret(f, secrets[i]), CSI_INVALID_ARGUMENT,
                  "error setting mutual chap secret. err: MutualChapSecret ");
    if (secrets[i][0] != '\0') assert_null(strstr(f->status.text, secrets[i]));
  }
  assert_int_equal(count_calls(f, CSI_FAKE_ISCSI_LOGIN), 0);
  assert_int_equal(count_calls(f, CSI_FAKE_ISCSI_SET_SECRET), 0);
  assert_ok(f, call_set_secret(f, "twelve-bytes"));
  assert_ok(f, call_set_secret(f, "sixteen-bytes-16"));
}

/* ---- DisconnectTarget ---- */

static void test_disconnect(void **state) {
  struct iscsi_fixture *f = *state;
  assert_ok(f, call_add(f, ADDRESS, 0));
  assert_ok(f, call_connect(f, IQN));
  assert_ok(f, call_connect(f, OTHER_IQN));
  assert_ok(f, call_disconnect(f, ADDRESS, IQN));
  assert_sessions(f, IQN, 0);
  assert_sessions(f, OTHER_IQN, 1);
  assert_disk_present(f, false);
  assert_ok(f, call_disconnect(f, ADDRESS, IQN));
}

static void test_disconnect_unknown(void **state) {
  struct iscsi_fixture *f = *state;
  assert_ok(f, call_disconnect(f, ADDRESS, "iqn.2004-10.com.example:none"));
  assert_int_equal(count_calls(f, CSI_FAKE_ISCSI_LOGOUT), 0);
}

/* A driver may forget the portal first. */
static void test_disconnect_without_portal(void **state) {
  struct iscsi_fixture *f = *state;
  assert_ok(f, call_add(f, ADDRESS, 0));
  assert_ok(f, call_connect(f, IQN));
  assert_ok(f, call_remove(f, ADDRESS, 0));
  assert_ok(f, call_disconnect(f, ADDRESS, IQN));
  assert_sessions(f, IQN, 0);
}

static void test_disconnect_ends_every_session(void **state) {
  struct iscsi_fixture *f = *state;
  for (int i = 0; i < 3; i++)
    csi_fake_iscsi_do(f->iscsi, "session add iqn=" IQN " persistent=1");
  csi_fake_iscsi_do(f->iscsi, "session add iqn=" OTHER_IQN " persistent=1");
  assert_ok(f, call_disconnect(f, ADDRESS, "IQN.2004-10.com.example:disk1"));
  assert_sessions(f, IQN, 0);
  assert_sessions(f, OTHER_IQN, 1);
  assert_int_equal(csi_fake_iscsi_count(f->iscsi, "persistent-login", IQN), 0);
  assert_int_equal(csi_fake_iscsi_count(f->iscsi, "persistent-login", OTHER_IQN), 1);
  assert_disk_present(f, false);
}

/* The session has ended before, its return at the next start has not. */
static void test_disconnect_forgets_logins_without_session(void **state) {
  struct iscsi_fixture *f = *state;
  csi_fake_iscsi_do(f->iscsi, "session add iqn=" IQN " persistent=1");
  fail_call(f, CSI_FAKE_ISCSI_REMOVE_PERSISTENT, 1, 1, 5);
  assert_failed(f, call_disconnect(f, ADDRESS, IQN), CSI_PERMISSION_DENIED,
                "error unregister session on target " IQN " from target portal at " PLACE ". err: ");
  assert_sessions(f, IQN, 0);
  assert_ok(f, call_disconnect(f, ADDRESS, IQN));
  assert_int_equal(csi_fake_iscsi_count(f->iscsi, "persistent-login", IQN), 0);
}

/* The sessions end all the same. */
static void test_disconnect_that_cannot_list_logins(void **state) {
  struct iscsi_fixture *f = *state;
  csi_fake_iscsi_do(f->iscsi, "session add iqn=" IQN);
  fail_call(f, CSI_FAKE_ISCSI_LIST_PERSISTENT, 1, 1, 5);
  assert_failed(f, call_disconnect(f, ADDRESS, IQN), CSI_PERMISSION_DENIED,
                "error query session persistency of target " IQN " from target portal at " PLACE ". err: ");
  assert_sessions(f, IQN, 0);
  fail_call(f, CSI_FAKE_ISCSI_LIST_PERSISTENT, 1, 1, 5);
  fail_call(f, CSI_FAKE_ISCSI_LIST_SESSIONS, 1, 1, CSI_ISDSC_SESSION_BUSY); /* the first failure is told */
  assert_failed(f, call_disconnect(f, ADDRESS, IQN), CSI_PERMISSION_DENIED,
                "error query session persistency of target " IQN " from target portal at " PLACE ". err: ");
  assert_ok(f, call_disconnect(f, ADDRESS, IQN));
}

static void test_disconnect_that_cannot_look_again(void **state) {
  struct iscsi_fixture *f = *state;
  csi_fake_iscsi_do(f->iscsi, "session add iqn=" IQN " persistent=1");
  fail_call(f, CSI_FAKE_ISCSI_REMOVE_PERSISTENT, 1, 1, 5);
  fail_call(f, CSI_FAKE_ISCSI_LIST_PERSISTENT, 2, 1, 5);
  assert_failed(f, call_disconnect(f, ADDRESS, IQN), CSI_PERMISSION_DENIED,
                "error query session persistency of target " IQN " from target portal at " PLACE ". err: ");
  assert_ok(f, call_disconnect(f, ADDRESS, IQN));
}

static void test_disconnect_in_use(void **state) {
  struct iscsi_fixture *f = *state;
  csi_fake_iscsi_do(f->iscsi, "session add iqn=" IQN);
  csi_fake_iscsi_do(f->iscsi, "session add iqn=" IQN);
  fail_call(f, CSI_FAKE_ISCSI_LOGOUT, 1, 0, CSI_ISDSC_DEVICE_BUSY_ON_SESSION);
  assert_failed(f, call_disconnect(f, ADDRESS, IQN), CSI_FAILED_PRECONDITION,
                "error disconnecting target " IQN " from target portal at " PLACE ". err: ");
  assert_says(f, "a device on that session is currently being used");
  assert_says(f, "(2 of 2 sessions could not be ended)");
  assert_says(f, "take the disks offline (SetDiskState) first");
  assert_sessions(f, IQN, 2);
  csi_fake_network_clear_faults(f->network);
  assert_ok(f, call_disconnect(f, ADDRESS, IQN));
  assert_sessions(f, IQN, 0);
}

static void test_disconnect_while_the_session_is_busy(void **state) {
  struct iscsi_fixture *f = *state;
  csi_fake_iscsi_do(f->iscsi, "session add iqn=" IQN);
  f->deadline_ns = csi_now_ns() + LONG_MS * MS;
  fail_call(f, CSI_FAKE_ISCSI_LOGOUT, 1, 1, CSI_ISDSC_DEVICE_BUSY_ON_SESSION);
  fail_call(f, CSI_FAKE_ISCSI_LOGOUT, 1, 1, CSI_ISDSC_SESSION_BUSY);
  assert_ok(f, call_disconnect(f, ADDRESS, IQN));
  assert_sessions(f, IQN, 0);
}

static void test_disconnect_of_which_one_session_fails(void **state) {
  struct iscsi_fixture *f = *state;
  csi_fake_iscsi_do(f->iscsi, "session add iqn=" IQN);
  csi_fake_iscsi_do(f->iscsi, "session add iqn=" IQN);
  fail_call(f, CSI_FAKE_ISCSI_LOGOUT, 1, 1, 5);
  assert_failed(f, call_disconnect(f, ADDRESS, IQN), CSI_PERMISSION_DENIED,
                "error disconnecting target " IQN " from target portal at " PLACE ". err: ");
  assert_says(f, "(1 of 2 sessions could not be ended)");
  assert_sessions(f, IQN, 1);
  assert_ok(f, call_disconnect(f, ADDRESS, IQN));
  assert_sessions(f, IQN, 0);
}

static void remove_at_logout(struct csi_fake_network *network, const char *call, void *data) {
  (void)network;
  struct iscsi_fixture *f = data;
  if (strcmp(call, CSI_FAKE_ISCSI_LOGOUT) == 0 && csi_fake_iscsi_count(f->iscsi, "session", IQN) > 0)
    csi_fake_iscsi_do(f->iscsi, "target remove iqn=" IQN);
}

static void test_disconnect_when_the_session_ends_by_itself(void **state) {
  struct iscsi_fixture *f = *state;
  csi_fake_iscsi_do(f->iscsi, "session add iqn=" IQN);
  csi_fake_network_set_hook(f->network, remove_at_logout, f);
  assert_ok(f, call_disconnect(f, ADDRESS, IQN));
  csi_fake_network_set_hook(f->network, NULL, NULL);
}

static void log_in_again(struct csi_fake_network *network, const char *call, void *data) {
  (void)network;
  struct iscsi_fixture *f = data;
  if (strcmp(call, CSI_FAKE_ISCSI_LIST_SESSIONS) == 0 && csi_fake_iscsi_count(f->iscsi, "session", IQN) == 0)
    csi_fake_iscsi_do(f->iscsi, "session add iqn=" IQN);
}

static void test_disconnect_that_leaves_a_session(void **state) {
  struct iscsi_fixture *f = *state;
  csi_fake_network_set_hook(f->network, log_in_again, f);
  assert_failed(f, call_disconnect(f, ADDRESS, IQN), CSI_FAILED_PRECONDITION,
                "error disconnecting target " IQN " from target portal at " PLACE ". err: ");
  assert_says(f, "still has 1 sessions");
  csi_fake_network_set_hook(f->network, NULL, NULL);
}

/* ---- GetTargetDisks ---- */

static void test_disks(void **state) {
  struct iscsi_fixture *f = *state;
  assert_ok(f, call_add(f, ADDRESS, 0));
  assert_ok(f, call_connect(f, IQN));
  assert_ok(f, call_disks(f, ADDRESS, IQN));
  assert_items(f, "5", NULL);
  csi_fake_iscsi_do(f->iscsi, "target lun iqn=" IQN " number=12 size=16M file=disk12");
  assert_ok(f, call_disks(f, ADDRESS, "IQN.2004-10.com.example:disk1"));
  assert_items(f, "5", "12", NULL);
}

/* Longhorn wants exactly one: two ways to a disk do not make it two. */
static void test_disks_of_several_sessions(void **state) {
  struct iscsi_fixture *f = *state;
  csi_fake_iscsi_do(f->iscsi, "session add iqn=" IQN);
  csi_fake_iscsi_do(f->iscsi, "session add iqn=" IQN);
  assert_ok(f, call_disks(f, ADDRESS, IQN));
  assert_items(f, "5", NULL);
}

static void test_disks_of_a_target_that_is_not_connected(void **state) {
  struct iscsi_fixture *f = *state;
  assert_failed(f, call_disks(f, ADDRESS, IQN), CSI_NOT_FOUND,
                QUERY_IQN "failed to query iSCSI target portal at " PLACE ". error: not found");
  assert_ok(f, call_add(f, ADDRESS, 0));
  assert_ok(f, call_disks(f, ADDRESS, IQN));
  assert_items(f, NULL);
  assert_failed(f, call_disks(f, ADDRESS, "iqn.2004-10.com.example:none"), CSI_NOT_FOUND,
                "error query target iqn.2004-10.com.example:none from target portal at " PLACE
                ". err: not found");
}

/* The disk comes while it is waited for, however long that takes the machine. */
static void test_disks_that_come_late(void **state) {
  struct iscsi_fixture *f = *state;
  csi_fake_iscsi_do(f->iscsi,
                    "target add iqn=iqn.2004-10.com.example:late portal=" ADDRESS ":3260 disk-delay=300");
  csi_fake_iscsi_do(f->iscsi, "target lun iqn=iqn.2004-10.com.example:late number=7 size=16M file=late");
  csi_fake_iscsi_do(f->iscsi, "session add iqn=iqn.2004-10.com.example:late");
  assert_ok(f, call_disks(f, ADDRESS, "iqn.2004-10.com.example:late"));
  assert_items(f, "7", NULL);
}

/* A target without disks is no failure, and is told in time. */
static void test_disks_of_a_target_without(void **state) {
  struct iscsi_fixture *f = *state;
  csi_fake_iscsi_do(f->iscsi, "session add iqn=" OTHER_IQN);
  f->deadline_ns = csi_now_ns() + LONG_MS * MS;
  assert_ok(f, call_disks(f, ADDRESS, OTHER_IQN));
  assert_items(f, NULL);
}

static void test_disks_while_the_session_is_busy(void **state) {
  struct iscsi_fixture *f = *state;
  csi_fake_iscsi_do(f->iscsi, "session add iqn=" IQN);
  f->deadline_ns = csi_now_ns() + LONG_MS * MS;
  fail_call(f, CSI_FAKE_ISCSI_LIST_DISKS, 1, 1, CSI_ISDSC_SESSION_BUSY);
  fail_call(f, CSI_FAKE_ISCSI_LIST_DISKS, 1, 1, CSI_ISDSC_DEVICE_BUSY_ON_SESSION);
  assert_ok(f, call_disks(f, ADDRESS, IQN));
  assert_items(f, "5", NULL);
  fail_call(f, CSI_FAKE_ISCSI_LIST_DISKS, 1, 1, 122);
  assert_ok(f, call_disks(f, ADDRESS, IQN));
  f->deadline_ns = csi_now_ns() + LONG_MS * MS;
  fail_call(f, CSI_FAKE_ISCSI_LIST_DISKS, 1, 0, CSI_ISDSC_SESSION_BUSY);
  assert_false(call_disks(f, ADDRESS, IQN));
  assert_says(f, "error getting target disks on target " IQN " from target portal at " PLACE ". err: ");
}

/* An empty list would say that the target has no disks. */
static void test_disks_of_a_session_without_connection(void **state) {
  struct iscsi_fixture *f = *state;
  csi_fake_iscsi_do(f->iscsi, "session add iqn=" OTHER_IQN " lost=1");
  f->deadline_ns = csi_now_ns() + LONG_MS * MS;
  assert_failed(f, call_disks(f, ADDRESS, OTHER_IQN), CSI_UNAVAILABLE,
                "error getting target disks on target " OTHER_IQN " from target portal at " PLACE ". err: ");
  assert_says(f, "lost its connection");
  csi_fake_iscsi_do(f->iscsi, "session add iqn=" IQN " lost=1");
  assert_ok(f, call_disks(f, ADDRESS, IQN));
  assert_items(f, "5", NULL);
}

static void remove_at_list(struct csi_fake_network *network, const char *call, void *data) {
  (void)network;
  struct iscsi_fixture *f = data;
  if (strcmp(call, CSI_FAKE_ISCSI_LIST_DISKS) == 0) csi_fake_iscsi_do(f->iscsi, "target remove iqn=" IQN);
}

static void test_disks_when_the_session_ends(void **state) {
  struct iscsi_fixture *f = *state;
  assert_ok(f, call_add(f, ADDRESS, 0));
  assert_ok(f, call_connect(f, IQN));
  csi_fake_network_set_hook(f->network, remove_at_list, f);
  assert_ok(f, call_disks(f, ADDRESS, IQN));
  assert_items(f, NULL);
  csi_fake_network_set_hook(f->network, NULL, NULL);
}

static void test_disks_fail(void **state) {
  struct iscsi_fixture *f = *state;
  csi_fake_iscsi_do(f->iscsi, "session add iqn=" IQN);
  fail_call(f, CSI_FAKE_ISCSI_LIST_DISKS, 1, 1, 5);
  assert_failed(f, call_disks(f, ADDRESS, IQN), CSI_PERMISSION_DENIED,
                "error getting target disks on target " IQN " from target portal at " PLACE ". err: ");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, iscsi_fixture_set_up, iscsi_fixture_tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_connect),
      TEST(test_connect_again),
      TEST(test_connect_unknown),
      TEST(test_connect_to_a_target_newer_than_the_discovery),
      TEST(test_connect_in_other_spellings),
      TEST(test_bad_names),
      TEST(test_connect_fails),
      TEST(test_connect_when_somebody_else_is_faster),
      TEST(test_login_without_session),
      TEST(test_login_that_was_given_up),
      TEST(test_disconnect_after_a_login_that_was_given_up),
      TEST(test_connect_after_a_logout_that_was_given_up),
      TEST(test_one_way_chap),
      TEST(test_chap_without_user),
      TEST(test_wrong_credentials),
      TEST(test_mutual_chap),
      TEST(test_credentials_without_authentication),
      TEST(test_unknown_authentication),
      TEST(test_secrets_of_wrong_length),
      TEST(test_disconnect),
      TEST(test_disconnect_unknown),
      TEST(test_disconnect_without_portal),
      TEST(test_disconnect_ends_every_session),
      TEST(test_disconnect_forgets_logins_without_session),
      TEST(test_disconnect_that_cannot_list_logins),
      TEST(test_disconnect_that_cannot_look_again),
      TEST(test_disconnect_in_use),
      TEST(test_disconnect_while_the_session_is_busy),
      TEST(test_disconnect_of_which_one_session_fails),
      TEST(test_disconnect_when_the_session_ends_by_itself),
      TEST(test_disconnect_that_leaves_a_session),
      TEST(test_disks),
      TEST(test_disks_of_several_sessions),
      TEST(test_disks_of_a_target_that_is_not_connected),
      TEST(test_disks_that_come_late),
      TEST(test_disks_of_a_target_without),
      TEST(test_disks_while_the_session_is_busy),
      TEST(test_disks_of_a_session_without_connection),
      TEST(test_disks_when_the_session_ends),
      TEST(test_disks_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
