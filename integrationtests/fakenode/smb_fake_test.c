/* SPDX-License-Identifier: Apache-2.0
 *
 * The fake of shares by its commands, and faults and counts of network_faults.h through it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <pthread.h>
#include <time.h>

#include "network_command.h"
#include "smb_fake.h"

#define ROOT "\\\\host\\share"

enum {
  ARENA_BYTES = 1 << 16,
  REPLY_BYTES = 4096,
  NS_PER_MS = 1000000,
  SHORT_MS = 20,
};

struct fixture {
  struct csi_fake_network *network;
  struct csi_fake_shares *shares;
  const struct csi_smb_host *host;
  struct csi_ctx ctx;
  char reply[REPLY_BYTES];
};

static int set_up(void **state) {
  struct fixture *f = calloc(1, sizeof *f);
  f->network = csi_fake_network_new();
  f->shares = csi_fake_shares_new(f->network);
  f->host = csi_fake_smb_host(f->shares);
  f->ctx = (struct csi_ctx){.arena = csi_arena_new(ARENA_BYTES), .deadline_ns = CSI_NO_DEADLINE};
  *state = f;
  return 0;
}

static int tear_down(void **state) {
  struct fixture *f = *state;
  csi_arena_free(f->ctx.arena);
  csi_fake_shares_free(f->shares);
  csi_fake_network_free(f->network);
  free(f);
  return 0;
}

/* What the control server does: it asks one after the other. */
static bool try_command(struct fixture *f, const char *line) {
  bool done = false;
  if (csi_fake_smb_command(f->shares, line, f->reply, sizeof f->reply, &done) ||
      csi_fake_network_command(f->network, line, f->reply, sizeof f->reply, &done))
    return done;
  fail_msg("nobody knows %s", line);
  return false;
}

static void command(struct fixture *f, const char *line) {
  if (!try_command(f, line)) fail_msg("%s: %s", line, f->reply);
}

static void assert_reply(struct fixture *f, const char *line, const char *reply) {
  command(f, line);
  assert_string_equal(f->reply, reply);
}

static const struct csi_smb_credentials credentials = {.username = "u", .password = "p"};

static bool add(struct fixture *f) {
  csi_status_clear(&f->ctx.status);
  return f->host->add(f->host->self, &f->ctx, ROOT, &credentials, true);
}

static bool check(struct fixture *f) {
  csi_status_clear(&f->ctx.status);
  return f->host->check(f->host->self, &f->ctx, ROOT);
}

static void test_commands(void **state) {
  struct fixture *f = *state;
  command(f, "share add root=" ROOT " user=u password=p");
  assert_reply(f, "share list", "root=" ROOT " mapped=0 user= privacy=0\n");
  assert_true(add(f));
  assert_reply(f, "share list", "root=" ROOT " mapped=1 user=u privacy=1\n");
  assert_true(check(f));
  command(f, "share set root=" ROOT " state=down");
  assert_false(check(f));
  assert_int_equal(f->ctx.status.number, CSI_SMB_BAD_NETPATH);
  command(f, "share unmap root=" ROOT);
  assert_false(csi_fake_shares_is_mapped(f->shares, ROOT));
  assert_false(try_command(f, "share add root=nonsense"));
  assert_false(try_command(f, "share"));
  assert_false(try_command(f, "share invent"));
  assert_false(try_command(f, "network"));
  assert_false(try_command(f, "network fault add call=X"));
  bool done;
  assert_false(csi_fake_smb_command(f->shares, "sharehold add", f->reply, sizeof f->reply, &done));
  assert_false(csi_fake_smb_command(f->shares, "", f->reply, sizeof f->reply, &done));
  assert_false(csi_fake_network_command(f->network, "disk list", f->reply, sizeof f->reply, &done));
}

static void test_faults_and_counters(void **state) {
  struct fixture *f = *state;
  command(f, "share add root=" ROOT " user=u password=p");
  command(f, "network fault add call=" CSI_FAKE_SMB_ADD " nth=2 count=1 error=64");
  assert_true(add(f));
  assert_false(add(f));
  assert_int_equal(f->ctx.status.number, 64);
  assert_string_equal(f->ctx.status.call, CSI_FAKE_SMB_ADD);
  assert_true(add(f));
  assert_true(check(f));
  assert_reply(f, "network counters",
               "call=" CSI_FAKE_SMB_ADD " count=3\ncall=" CSI_FAKE_SMB_CHECK " count=1\n");
  assert_int_equal(csi_fake_network_struck(f->network), 1);
  assert_int_equal(csi_fake_network_count(f->network, NULL), 4);
  command(f, "network fault add call=any count=0 error=53");
  assert_false(check(f));
  assert_false(add(f));
  command(f, "network fault clear");
  assert_true(check(f));
  csi_fake_shares_set_abilities(f->shares, &(struct csi_fake_smb_abilities){.cannot_compare = true});
  command(f, "network reset");
  assert_reply(f, "network counters", "");
  assert_reply(f, "share list", "");
  command(f, "share add root=" ROOT);
  assert_true(add(f));
  assert_true(add(f)); /* it compares again */
}

static void *check_in_a_thread(void *data) {
  struct fixture *f = data;
  return check(f) ? f : NULL;
}

static void test_hangs_end(void **state) {
  struct fixture *f = *state;
  command(f, "share add root=" ROOT " user=u password=p");
  assert_true(add(f));
  command(f, "network fault add call=" CSI_FAKE_SMB_CHECK " count=2 hang");
  f->ctx.deadline_ns = csi_now_ns() + SHORT_MS * NS_PER_MS;
  assert_false(check(f));
  assert_int_equal(f->ctx.status.code, CSI_DEADLINE_EXCEEDED);
  f->ctx.deadline_ns = CSI_NO_DEADLINE;
  pthread_t thread;
  void *result;
  assert_int_equal(pthread_create(&thread, NULL, check_in_a_thread, f), 0);
  while (csi_fake_network_struck(f->network) < 2)
    nanosleep(&(struct timespec){.tv_nsec = NS_PER_MS}, NULL);
  command(f, "network fault clear");
  pthread_join(thread, &result);
  assert_ptr_equal(result, f); /* it has gone on */
}

static void test_sessions(void **state) {
  struct fixture *f = *state;
  command(f, "share add root=" ROOT " user=u password=p");
  assert_true(add(f));
  command(f, "share set root=" ROOT " password=q");
  assert_true(check(f));
  csi_fake_shares_cut_sessions(f->shares);
  assert_false(check(f));
  assert_int_equal(f->ctx.status.number, CSI_SMB_INVALID_PASSWORD);
  command(f, "share set root=" ROOT " password=p");
  assert_true(check(f));
  csi_fake_shares_deny_root(f->shares, ROOT);
  assert_false(check(f));
  assert_int_equal(f->ctx.status.number, CSI_SMB_ACCESS_DENIED);
  command(f, "share remove root=" ROOT);
  assert_false(check(f));
  assert_true(csi_fake_shares_is_mapped_with(f->shares, ROOT, "u", "p"));
  assert_false(csi_fake_shares_is_mapped_with(f->shares, ROOT, "u", "q"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_commands),
      TEST(test_faults_and_counters),
      TEST(test_hangs_end),
      TEST(test_sessions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
