/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls on one share follow one another, calls on others do not wait.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <pthread.h>
#include <time.h>

#include "smb/handlers.h"
#include "smb/smb_fixture.h"

enum {
  ARENA_BYTES = 1 << 20,
  NS_PER_MS = 1000 * 1000,
  SHORT_MS = 100,
  LONG_MS = 60 * 1000,
  CALLERS = 8,
  ROUNDS = 20,
};

/* One NewSmbGlobalMapping, perhaps in a thread of its own. */
struct mapping_call {
  struct smb_fixture *f;
  const char *remote_path, *local_path, *username, *password;
  int64_t timeout_ms;
  pthread_t thread;
  struct csi_status status;
};

static void *run(void *data) {
  struct mapping_call *call = data;
  struct csi_smb_new_smb_global_mapping_request request = {.remote_path = call->remote_path,
                                                           .local_path = call->local_path,
                                                           .username = call->username,
                                                           .password = call->password};
  struct csi_smb_new_smb_global_mapping_response response = {0};
  struct csi_ctx ctx = {.arena = csi_arena_new(ARENA_BYTES),
                        .deadline_ns = csi_now_ns() + call->timeout_ms * NS_PER_MS};
  if (ctx.arena == NULL) return NULL;
  (void)csi_smb_serve_new_smb_global_mapping(&ctx, call->f->group, &request, &response);
  call->status = ctx.status;
  csi_arena_free(ctx.arena);
  return NULL;
}

static void begin(struct mapping_call *call) {
  assert_int_equal(pthread_create(&call->thread, NULL, run, call), 0);
}

static void end(struct mapping_call *call) {
  pthread_join(call->thread, NULL);
}

static void assert_done(const struct mapping_call *call) {
  if (!csi_status_ok(&call->status)) fail_msg("%s", call->status.text);
}

static void test_calls_on_one_share_follow_one_another(void **state) {
  struct smb_fixture *f = *state;
  struct mapping_call first = {f, REMOTE, LINK, USER, PASSWORD, .timeout_ms = LONG_MS};
  struct mapping_call second = {f, "//server/share/sub", K "\\sub", USER, PASSWORD, .timeout_ms = SHORT_MS};
  struct mapping_call other = {f, "\\\\server\\other", K "\\other", "", "", .timeout_ms = LONG_MS};
  csi_fake_shares_do(f->shares, "add root=\\\\server\\other");
  csi_fake_network_add_fault(
      f->network, &(struct csi_fake_network_fault){.call = CSI_FAKE_SMB_ADD, .count = 1, .hang = true});
  begin(&first);
  while (csi_fake_network_struck(f->network) == 0)
    nanosleep(&(struct timespec){.tv_nsec = NS_PER_MS}, NULL);
  run(&second);
  assert_int_equal(second.status.code, CSI_DEADLINE_EXCEEDED);
  assert_non_null(strstr(second.status.text, "share " ROOT " is busy with NewSmbGlobalMapping"));
  run(&other);
  assert_done(&other);
  csi_fake_network_clear_faults(f->network);
  end(&first);
  assert_done(&first);
  second.timeout_ms = LONG_MS;
  run(&second);
  assert_done(&second);
}

static void test_many_callers_make_one_mapping(void **state) {
  struct smb_fixture *f = *state;
  for (int round = 0; round < ROUNDS; round++) {
    struct mapping_call calls[CALLERS];
    char links[CALLERS][sizeof K "\\link00"];
    csi_fake_network_reset_counts(f->network);
    for (int i = 0; i < CALLERS; i++) {
      snprintf(links[i], sizeof links[i], "%s\\link%02d", K, i % (CALLERS / 2)); /* two for each link */
      calls[i] = (struct mapping_call){f, REMOTE, links[i], USER, PASSWORD, .timeout_ms = LONG_MS};
      begin(&calls[i]);
    }
    for (int i = 0; i < CALLERS; i++) {
      end(&calls[i]);
      assert_done(&calls[i]);
      assert_link(f, links[i], REMOTE "\\");
    }
    assert_steps(f, 1, 0);
    assert_ok(f, call_remove(f, REMOTE));
  }
}

static void test_callers_with_wrong_passwords_do_not_disturb_the_others(void **state) {
  struct smb_fixture *f = *state;
  assert_ok(f, call_new(f, REMOTE, "", USER, PASSWORD));
  csi_fake_network_reset_counts(f->network);
  struct mapping_call calls[CALLERS];
  for (int i = 0; i < CALLERS; i++) {
    calls[i] =
        (struct mapping_call){f, REMOTE, "", USER, i % 2 == 0 ? PASSWORD : "pw-wrong", .timeout_ms = LONG_MS};
    begin(&calls[i]);
  }
  for (int i = 0; i < CALLERS; i++) {
    end(&calls[i]);
    assert_int_equal(calls[i].status.code, i % 2 == 0 ? CSI_OK : CSI_PERMISSION_DENIED);
  }
  assert_int_equal(csi_fake_network_count(f->network, CSI_FAKE_SMB_REMOVE), 0);
  assert_mapped(f, USER, PASSWORD);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, smb_fixture_set_up, smb_fixture_tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_calls_on_one_share_follow_one_another),
      TEST(test_many_callers_make_one_mapping),
      TEST(test_callers_with_wrong_passwords_do_not_disturb_the_others),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
