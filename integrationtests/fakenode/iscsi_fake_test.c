/* SPDX-License-Identifier: Apache-2.0
 *
 * The iSCSI targets in memory: disks that come and go with sessions and keep what is on them, time, reset.
 */
#include "iscsi_fake.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <time.h>

#include "iscsi_command.h"
#include "storage_command.h"

#define IQN "iqn.2004-10.com.example:disk1"

enum {
  ARENA_BYTES = 1 << 20,
  REPLY_BYTES = 4096,
  DISK = 5,
};

struct node {
  struct csi_fake_filesystem *files;
  struct csi_fake_storage *storage;
  struct csi_fake_network *network;
  struct csi_fake_iscsi *iscsi;
  const struct csi_iscsi_host *host;
  struct csi_ctx ctx;
};

static struct node node;

static int set_up(void **state) {
  (void)state;
  node = (struct node){.files = csi_fake_filesystem_new(), .network = csi_fake_network_new()};
  node.storage = csi_fake_storage_new(node.files);
  node.iscsi = csi_fake_iscsi_new(node.network, node.storage);
  node.host = csi_fake_iscsi_host(node.iscsi);
  node.ctx = (struct csi_ctx){.arena = csi_arena_new(ARENA_BYTES), .deadline_ns = CSI_NO_DEADLINE};
  assert_non_null(node.ctx.arena);
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  csi_arena_free(node.ctx.arena);
  csi_fake_iscsi_free(node.iscsi);
  csi_fake_network_free(node.network);
  csi_fake_storage_free(node.storage);
  csi_fake_filesystem_free(node.files);
  return 0;
}

static bool has_disk(void) {
  char reply[REPLY_BYTES];
  assert_true(csi_fake_storage_command(node.storage, "disk list", reply, sizeof reply));
  return strstr(reply, "number=5 ") != NULL;
}

static void log_out(void) {
  const struct csi_iscsi_session *sessions;
  size_t count;
  assert_true(node.host->list_sessions(node.host->self, &node.ctx, &sessions, &count));
  assert_true(count > 0);
  assert_true(node.host->logout(node.host->self, &node.ctx, &sessions[0]));
}

static void test_disks_keep_what_is_on_them(void **state) {
  (void)state;
  uint8_t bytes[512];
  memset(bytes, 0xA5, sizeof bytes);
  csi_fake_iscsi_do(node.iscsi, "target add iqn=" IQN " portal=192.0.2.1:3260");
  csi_fake_iscsi_do(node.iscsi, "target lun iqn=" IQN " number=5 size=16M file=disk1");
  assert_false(has_disk());
  csi_fake_iscsi_do(node.iscsi, "session add iqn=" IQN);
  csi_fake_iscsi_do(node.iscsi, "session add iqn=" IQN);
  assert_true(has_disk());
  csi_fake_storage_write(node.storage, DISK, 4096, bytes, sizeof bytes);
  log_out();
  assert_true(has_disk());
  log_out();
  assert_false(has_disk());
  csi_fake_iscsi_do(node.iscsi, "session add iqn=" IQN);
  memset(bytes, 0, sizeof bytes);
  csi_fake_storage_read(node.storage, DISK, 4096, bytes, sizeof bytes);
  assert_int_equal(bytes[0], 0xA5);
  csi_fake_iscsi_do(node.iscsi, "target remove iqn=" IQN);
  assert_false(has_disk());
}

/* Nobody asks the initiator, and the disk comes all the same. */
static void test_disk_comes_by_itself(void **state) {
  (void)state;
  csi_fake_iscsi_do(node.iscsi, "target add iqn=" IQN " portal=192.0.2.1:3260 disk-delay=50");
  csi_fake_iscsi_do(node.iscsi, "target lun iqn=" IQN " number=5 size=16M file=disk1");
  csi_fake_iscsi_do(node.iscsi, "session add iqn=" IQN);
  while (!has_disk()) /* or the test's time limit */
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static void cancel(struct csi_fake_network *network, const char *call, void *data) {
  (void)network;
  if (strcmp(call, CSI_FAKE_ISCSI_LOGIN) == 0) atomic_store((atomic_bool *)data, true);
}

static void test_login_goes_on_without_its_caller(void **state) {
  (void)state;
  atomic_bool cancelled = false;
  const struct csi_iscsi_portal portal = {.address = "192.0.2.1", .port = 3260};
  const struct csi_iscsi_login login = {.target = IQN,
                                        .portal = &portal,
                                        .authentication = CSI_ISCSI_AUTH_ONE_WAY_CHAP,
                                        .username = "",
                                        .secret = "a-chap-secret"};
  csi_fake_iscsi_do(node.iscsi, "target add iqn=" IQN " portal=192.0.2.1:3260 chap-secret=a-chap-secret");
  csi_fake_iscsi_do(node.iscsi, "target lun iqn=" IQN " number=5 size=16M file=disk1");
  csi_fake_iscsi_do(node.iscsi, "target set iqn=" IQN " login-delay=50");
  assert_true(node.host->add_portal(node.host->self, &node.ctx, &portal));
  node.ctx.cancelled = &cancelled;
  csi_fake_network_set_hook(node.network, cancel, &cancelled);
  assert_false(node.host->login(node.host->self, &node.ctx, &login));
  csi_fake_network_set_hook(node.network, NULL, NULL);
  while (!has_disk()) /* or the test's time limit */
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  assert_int_equal(csi_fake_iscsi_count(node.iscsi, "session", IQN), 1);
}

static void test_commands(void **state) {
  (void)state;
  char reply[REPLY_BYTES];
  bool done;
  assert_false(csi_fake_iscsi_command(node.iscsi, "disk list", reply, sizeof reply, &done));
  assert_true(
      csi_fake_iscsi_command(node.iscsi, "target set iqn=" IQN " down=1", reply, sizeof reply, &done));
  assert_false(done);
  assert_string_equal(reply, "no such target");
  csi_fake_iscsi_do(node.iscsi, "target add iqn=" IQN " portal=192.0.2.1:3260");
  csi_fake_iscsi_do(node.iscsi, "session add iqn=" IQN " persistent=1");
  assert_true(csi_fake_iscsi_command(node.iscsi, "target list", reply, sizeof reply, &done));
  assert_true(done);
  assert_string_equal(reply, "iqn=" IQN " portal=192.0.2.1:3260 sessions=1\n");
}

static void test_reset(void **state) {
  (void)state;
  csi_fake_iscsi_do(node.iscsi, "target add iqn=" IQN " portal=192.0.2.1:3260");
  csi_fake_iscsi_do(node.iscsi, "target lun iqn=" IQN " number=5 size=16M file=disk1");
  csi_fake_iscsi_do(node.iscsi, "session add iqn=" IQN " persistent=1");
  csi_fake_iscsi_register(node.iscsi, "192.0.2.1", 3260);
  csi_fake_iscsi_do(node.iscsi, "initiator set running=0");
  assert_true(has_disk());
  csi_fake_network_reset(node.network);
  assert_false(has_disk());
  static const char *const kinds[] = {"session",    "persistent-login", "send-targets",
                                      "discovered", "target",           "lun"};
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
    assert_int_equal(csi_fake_iscsi_count(node.iscsi, kinds[i], NULL), 0);
  const struct csi_iscsi_portal *portals;
  size_t count;
  assert_true(node.host->list_portals(node.host->self, &node.ctx, &portals, &count));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_disks_keep_what_is_on_them),
      TEST(test_disk_comes_by_itself),
      TEST(test_login_goes_on_without_its_caller),
      TEST(test_commands),
      TEST(test_reset),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
