/* SPDX-License-Identifier: Apache-2.0
 *
 * That the groups of one node share what they must, and give it back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "filesystem_fake.h"
#include "iscsi_fake.h"
#include "network_faults.h"
#include "parts_fake.h"
#include "service/groups.h"
#include "smb_fake.h"
#include "storage_fake.h"
#include "system_fake.h"

static struct csi_fake_filesystem *files;
static struct csi_fake_storage *storage;
static struct csi_fake_network *network;
static struct csi_fake_shares *shares;
static struct csi_fake_iscsi *targets;
static struct csi_fake_system *services;
static struct csi_fake_parts *parts;
static struct csi_node node;

static int set_up(void **state) {
  (void)state;
  files = csi_fake_filesystem_new();
  storage = csi_fake_storage_new(files);
  network = csi_fake_network_new();
  shares = csi_fake_shares_new(network);
  targets = csi_fake_iscsi_new(network, storage);
  services = csi_fake_system_new(network);
  parts = csi_fake_parts_new();
  node = (struct csi_node){
      .files = csi_fake_filesystem_host(files),
      .disks = csi_fake_disk_host(storage),
      .volumes = csi_fake_volume_host(storage),
      .shares = csi_fake_smb_host(shares),
      .system = csi_fake_system_host(services),
      .initiator = csi_fake_iscsi_host(targets),
      .parts = csi_fake_parts_host(parts),
  };
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  csi_fake_parts_free(parts);
  csi_fake_system_free(services);
  csi_fake_iscsi_free(targets);
  csi_fake_shares_free(shares);
  csi_fake_network_free(network);
  csi_fake_storage_free(storage);
  csi_fake_filesystem_free(files);
  return 0;
}

static const struct csi_group *find_group(const char *name) {
  for (size_t i = 0; i < CSI_GROUP_COUNT; i++)
    if (strcmp(csi_groups[i].name, name) == 0) return &csi_groups[i];
  fail_msg("there is no group %s", name);
  return NULL;
}

static bool open_group(const char *name, const char *kubelet_path, void **group_out) {
  const struct csi_options options = {
      .kubelet_path = kubelet_path, .max_path_bytes = 260, .protected_services = ""};
  struct csi_status status = {0};
  bool opened = find_group(name)->open(&node, &options, group_out, &status);
  assert_int_equal(opened, csi_status_ok(&status));
  return opened;
}

static void test_the_groups_share_their_locks(void **unused) {
  (void)unused;
  static const char *const names[] = {"disk", "volume", "smb", "system", "iscsi"};
  enum { COUNT = sizeof names / sizeof *names };
  void *groups[COUNT] = {NULL};
  const struct csi_keyed_locks *locks = NULL;
  for (size_t i = 0; i < COUNT; i++) {
    assert_true(open_group(names[i], "C:\\kubelet", &groups[i]));
    if (i == 0) locks = node.locks;
    assert_non_null(locks);
    assert_ptr_equal(node.locks, locks);
  }
  for (size_t i = 0; i < COUNT; i++) {
    assert_ptr_equal(node.locks, locks);
    find_group(names[i])->close(&node, groups[i]);
  }
  assert_null(node.locks);
}

static void test_a_group_that_cannot_be_opened_keeps_nothing(void **unused) {
  (void)unused;
  void *group = NULL;
  assert_false(open_group("volume", "not a directory", &group));
  assert_null(group);
  assert_null(node.locks);
  assert_false(open_group("smb", "not a directory", &group));
  assert_null(group);
  assert_null(node.locks);
  assert_false(open_group("filesystem", "not a directory", &group));
  assert_null(group);
}

static void test_every_group_has_versions(void **unused) {
  (void)unused;
  size_t versions = 0;
  for (size_t i = 0; i < CSI_GROUP_COUNT; i++) {
    const struct csi_service_list *list = csi_groups[i].services;
    for (size_t j = 0; j < list->service_count; j++)
      assert_string_equal(list->services[j]->group, csi_groups[i].name);
    if (!csi_groups[i].is_admin) versions += list->service_count;
  }
  assert_int_equal(versions, 23); /* the wire contract; the admin group is beside it */
}

int main(void) {
#define GROUPS_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      GROUPS_TEST(test_the_groups_share_their_locks),
      GROUPS_TEST(test_a_group_that_cannot_be_opened_keeps_nothing),
      GROUPS_TEST(test_every_group_has_versions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
