/* SPDX-License-Identifier: Apache-2.0
 *
 * When a group is ready, how often that is looked at, and that a part which hangs holds nobody up for long.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "admin/readiness.h"
#include "network_faults.h"
#include "parts_fake.h"
#include "storage_fake.h"
#include "system_fake.h"

#define DIRECTORY "C:\\var\\lib\\kubelet"

struct scene {
  struct csi_fake_filesystem *files;
  struct csi_fake_storage *storage;
  struct csi_fake_network *network;
  struct csi_fake_system *system;
  struct csi_fake_parts *parts;
  struct csi_readiness *readiness;
  uint32_t fresh_ms, look_ms; /* 0 = the usual */
  struct csi_arena *arena;
};

static struct csi_parts_hosts hosts_of(struct scene *scene) {
  return (struct csi_parts_hosts){.parts = csi_fake_parts_host(scene->parts),
                                  .disks = csi_fake_disk_host(scene->storage),
                                  .system = csi_fake_system_host(scene->system)};
}

/* What was seen before is forgotten with it. */
static void look_anew(struct scene *scene, enum csi_smb_route route) {
  static const char *const dirs[] = {DIRECTORY};
  const struct csi_parts_options options = {.working_dirs = dirs,
                                            .working_dir_count = 1,
                                            .route = route,
                                            .fresh_ms = scene->fresh_ms,
                                            .look_ms = scene->look_ms};
  const struct csi_parts_hosts hosts = hosts_of(scene);
  struct csi_status status = {0};
  csi_readiness_free(scene->readiness);
  scene->readiness = csi_readiness_new(&options, &hosts, &status);
  assert_non_null(scene->readiness);
}

static int set_up(void **state) {
  struct scene *scene = calloc(1, sizeof *scene);
  assert_non_null(scene);
  scene->files = csi_fake_filesystem_new();
  scene->storage = csi_fake_storage_new(scene->files);
  scene->network = csi_fake_network_new();
  scene->system = csi_fake_system_new(scene->network);
  scene->parts = csi_fake_parts_new();
  scene->arena = csi_arena_new(1 << 20);
  csi_fake_storage_add_disk(scene->storage, &(struct csi_fake_disk){.number = 1, .size_bytes = 1 << 30});
  look_anew(scene, CSI_SMB_ROUTE_AUTO);
  *state = scene;
  return 0;
}

static int tear_down(void **state) {
  struct scene *scene = *state;
  csi_readiness_free(scene->readiness);
  csi_arena_free(scene->arena);
  csi_fake_parts_free(scene->parts);
  csi_fake_system_free(scene->system);
  csi_fake_network_free(scene->network);
  csi_fake_storage_free(scene->storage);
  csi_fake_filesystem_free(scene->files);
  free(scene);
  return 0;
}

static bool is_ready(struct scene *scene) {
  return csi_readiness_is_ready(scene->readiness, CSI_NO_DEADLINE);
}

static bool group_is_ready(struct scene *scene, const char *group) {
  return csi_readiness_group_is_ready(scene->readiness, group, CSI_NO_DEADLINE);
}

static const struct csi_part *find(struct scene *scene, const char *group, const char *name) {
  struct csi_ctx ctx = {.arena = scene->arena, .deadline_ns = CSI_NO_DEADLINE};
  struct csi_group_parts *groups;
  assert_true(csi_readiness_copy(scene->readiness, &ctx, &groups));
  for (size_t i = 0; i < CSI_PARTS_GROUPS; i++)
    for (size_t j = 0; strcmp(groups[i].group, group) == 0 && j < groups[i].count; j++)
      if (strcmp(groups[i].parts[j].name, name) == 0) return &groups[i].parts[j];
  fail_msg("%s has no part %s", group, name);
  return NULL;
}

static void test_everything_is_there(void **state) {
  struct scene *scene = *state;
  static const char *const groups[] = {"filesystem", "disk", "volume", "smb", "system", "iscsi"};
  for (size_t i = 0; i < CSI_PARTS_GROUPS; i++)
    assert_true(group_is_ready(scene, groups[i]));
  assert_true(is_ready(scene));
  assert_false(group_is_ready(scene, "nonsense"));
  assert_int_equal(find(scene, "filesystem", DIRECTORY)->state, CSI_PART_PRESENT);
  assert_string_equal(find(scene, "volume", "fmifs.dll")->detail, "");
}

/* Without each of these: is the group ready, is the program? */
static void test_each_part_missing(void **state) {
  static const struct {
    const char *group, *name;
    enum csi_fake_part what;
    enum csi_part_state state;
    bool group_is_ready, program_is_ready;
    const char *detail;
  } rows[] = {
      {"filesystem", DIRECTORY, CSI_FAKE_PART_MISSING, CSI_PART_MISSING, true, true, "-kubelet-path"},
      {"filesystem", "SeCreateSymbolicLinkPrivilege", CSI_FAKE_PART_MISSING, CSI_PART_MISSING, false, false,
       "LocalSystem"},
      {"filesystem", "SeBackupPrivilege", CSI_FAKE_PART_MISSING, CSI_PART_MISSING, true, true, "LocalSystem"},
      {"disk", "setupapi.dll", CSI_FAKE_PART_MISSING, CSI_PART_MISSING, false, false, "DISM"},
      {"disk", "cfgmgr32.dll", CSI_FAKE_PART_MISSING, CSI_PART_MISSING, true, true, "Rescan"},
      {"volume", "fmifs.dll", CSI_FAKE_PART_MISSING, CSI_PART_MISSING, false, false, "DISM"},
      {"volume", "\\\\.\\MountPointManager", CSI_FAKE_PART_MISSING, CSI_PART_MISSING, false, false,
       "mountmgr"},
      {"volume", "SeManageVolumePrivilege", CSI_FAKE_PART_MISSING, CSI_PART_MISSING, true, true,
       "ResizeVolume"},
      {"filesystem", "SeCreateSymbolicLinkPrivilege", CSI_FAKE_PART_NONSENSE, CSI_PART_UNKNOWN, true, true,
       "Nobody asks for"},
      {"smb", "LanmanWorkstation", CSI_FAKE_PART_MISSING, CSI_PART_MISSING, false, true, "no SMB client"},
      {"smb", "LanmanWorkstation", CSI_FAKE_PART_DISABLED, CSI_PART_MISSING, false, true, "start= auto"},
      {"smb", "LanmanWorkstation", CSI_FAKE_PART_STOPPED, CSI_PART_PRESENT, true, true, "sc.exe"},
      {"iscsi", "iscsidsc.dll", CSI_FAKE_PART_MISSING, CSI_PART_MISSING, false, true, "initiator"},
      {"iscsi", "MSiSCSI", CSI_FAKE_PART_MISSING, CSI_PART_MISSING, false, true, "no iSCSI initiator"},
      {"iscsi", "MSiSCSI", CSI_FAKE_PART_DISABLED, CSI_PART_MISSING, false, true, "start= auto"},
      {"iscsi", "MSiSCSI", CSI_FAKE_PART_STOPPED, CSI_PART_PRESENT, true, true,
       "the service MSiSCSI is stopped. Start it: sc.exe config MSiSCSI start= auto"},
  };
  struct scene *scene = *state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    csi_fake_parts_reset(scene->parts);
    assert_true(csi_fake_parts_set(scene->parts, rows[i].name, rows[i].what));
    look_anew(scene, CSI_SMB_ROUTE_AUTO);
    const struct csi_part *part = find(scene, rows[i].group, rows[i].name);
    assert_int_equal(part->state, rows[i].state);
    if (strstr(part->detail, rows[i].detail) == NULL) fail_msg("%s: %s", part->name, part->detail);
    assert_int_equal(group_is_ready(scene, rows[i].group), rows[i].group_is_ready);
    assert_int_equal(is_ready(scene), rows[i].program_is_ready);
  }
}

static void test_routes(void **state) {
  struct scene *scene = *state;
  csi_fake_parts_set(scene->parts, "mpr.dll", CSI_FAKE_PART_MISSING);
  look_anew(scene, CSI_SMB_ROUTE_AUTO);
  assert_true(group_is_ready(scene, "smb"));
  assert_false(find(scene, "smb", "mpr.dll")->required);
  assert_true(find(scene, "smb", "mi.dll")->required);
  look_anew(scene, CSI_SMB_ROUTE_WNET);
  assert_false(group_is_ready(scene, "smb"));
  look_anew(scene, CSI_SMB_ROUTE_MI);
  assert_true(group_is_ready(scene, "smb"));
  csi_fake_parts_set(scene->parts, "mi.dll", CSI_FAKE_PART_MISSING);
  look_anew(scene, CSI_SMB_ROUTE_AUTO);
  assert_false(group_is_ready(scene, "smb"));
  const struct csi_part *neither = find(scene, "smb", "mpr.dll or mi.dll");
  assert_int_equal(neither->state, CSI_PART_MISSING);
  assert_non_null(strstr(neither->detail, "One of the two is enough."));
}

static void test_disks(void **state) {
  struct scene *scene = *state;
  csi_fake_storage_fail(scene->storage, CSI_FAKE_DISK_LIST, 1, 1117);
  assert_false(group_is_ready(scene, "disk"));
  assert_int_equal(find(scene, "disk", "list of disks")->state, CSI_PART_MISSING);
  csi_fake_storage_unplug(scene->storage, 1);
  look_anew(scene, CSI_SMB_ROUTE_AUTO);
  assert_true(is_ready(scene)); /* a node without disks */
}

static void test_what_is_seen_is_kept(void **state) {
  struct scene *scene = *state;
  assert_int_equal(csi_fake_parts_checks(scene->parts), 0);
  assert_true(is_ready(scene));
  size_t checks = csi_fake_parts_checks(scene->parts);
  assert_true(checks > 0);
  csi_fake_parts_set(scene->parts, "fmifs.dll", CSI_FAKE_PART_MISSING);
  assert_true(is_ready(scene));
  assert_true(group_is_ready(scene, "volume"));
  assert_int_equal(csi_fake_parts_checks(scene->parts), checks);
}

static void test_a_part_that_hangs(void **state) {
  struct scene *scene = *state;
  csi_fake_parts_set(scene->parts, "MSiSCSI", CSI_FAKE_PART_HANGS);
  assert_true(is_ready(scene));
  assert_int_equal(find(scene, "iscsi", "MSiSCSI")->state, CSI_PART_UNKNOWN);
  assert_false(group_is_ready(scene, "iscsi"));
}

/* Who does not wait is told what was seen last. */
static void test_what_was_ready(void **state) {
  struct scene *scene = *state;
  bool ready = true;
  scene->look_ms = 100;
  csi_fake_parts_set(scene->parts, "fmifs.dll", CSI_FAKE_PART_STUCK);
  look_anew(scene, CSI_SMB_ROUTE_AUTO);
  assert_false(csi_readiness_group_was_ready(scene->readiness, "volume", &ready));
  assert_false(ready);
  csi_fake_parts_reset(scene->parts);
  scene->look_ms = 0;
  look_anew(scene, CSI_SMB_ROUTE_AUTO);
  assert_true(is_ready(scene));
  csi_fake_parts_set(scene->parts, "fmifs.dll", CSI_FAKE_PART_MISSING);
  assert_true(csi_readiness_group_was_ready(scene->readiness, "volume", &ready));
  assert_true(ready);
  assert_true(csi_readiness_group_was_ready(scene->readiness, "nonsense", &ready));
  assert_false(ready);
}

static void *ask(void *readiness) {
  return csi_readiness_is_ready(readiness, CSI_NO_DEADLINE) ? readiness : NULL;
}

/* One looks, the others wait for it: each part is looked at once. */
static void test_many_ask_at_once(void **state) {
  enum { THREADS = 8 };
  struct scene *scene = *state;
  pthread_t threads[THREADS];
  assert_true(is_ready(scene));
  size_t checks = csi_fake_parts_checks(scene->parts);
  look_anew(scene, CSI_SMB_ROUTE_AUTO);
  for (size_t i = 0; i < THREADS; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, ask, scene->readiness), 0);
  for (size_t i = 0; i < THREADS; i++) {
    void *result;
    assert_int_equal(pthread_join(threads[i], &result), 0);
    assert_ptr_equal(result, scene->readiness);
  }
  assert_int_equal(csi_fake_parts_checks(scene->parts), 2 * checks);
}

static void test_stopping(void **state) {
  struct scene *scene = *state;
  assert_true(is_ready(scene));
  csi_readiness_set_stopping(scene->readiness);
  assert_true(csi_readiness_is_stopping(scene->readiness));
  assert_false(is_ready(scene));
  assert_false(group_is_ready(scene, "disk"));
}

/* ---- A part that ignores its deadline. ---- */

/* Nobody waits for it longer than a look may take, nor past his own deadline; then nothing is ready. */
static void test_the_first_look_is_stuck(void **state) {
  struct scene *scene = *state;
  scene->look_ms = 100;
  csi_fake_parts_set(scene->parts, "fmifs.dll", CSI_FAKE_PART_STUCK);
  look_anew(scene, CSI_SMB_ROUTE_AUTO);
  assert_false(csi_readiness_is_ready(scene->readiness, csi_now_ns()));
  assert_false(is_ready(scene));
  assert_false(group_is_ready(scene, "filesystem"));
  const struct csi_part *part = find(scene, "iscsi", "all parts");
  assert_int_equal(part->state, CSI_PART_UNKNOWN);
  assert_non_null(strstr(part->detail, "fmifs.dll has not answered for 0 s"));
  size_t checks = csi_fake_parts_checks(scene->parts);
  assert_false(is_ready(scene));
  assert_int_equal(csi_fake_parts_checks(scene->parts), checks); /* one look at a time */
}

static bool becomes(struct scene *scene, bool ready) {
  enum { PATIENCE_S = 20 };
  int64_t end_ns = csi_now_ns() + PATIENCE_S * INT64_C(1000000000);
  while (is_ready(scene) != ready)
    if (csi_now_ns() > end_ns) return false;
  return true;
}

/* What was seen before holds for a while, and not for ever; when the part answers, all is well again. */
static void test_a_later_look_is_stuck(void **state) {
  struct scene *scene = *state;
  scene->fresh_ms = scene->look_ms = 300;
  look_anew(scene, CSI_SMB_ROUTE_AUTO);
  assert_true(becomes(scene, true));
  csi_fake_parts_set(scene->parts, "fmifs.dll", CSI_FAKE_PART_STUCK);
  assert_true(becomes(scene, false));
  assert_int_equal(find(scene, "disk", "all parts")->state, CSI_PART_UNKNOWN);
  csi_fake_parts_reset(scene->parts);
  assert_true(becomes(scene, true));
}

/* Who asked is gone before the part returns. */
static void test_a_look_outlives_its_readiness(void **state) {
  struct scene *scene = *state;
  scene->look_ms = 100;
  csi_fake_parts_set(scene->parts, "fmifs.dll", CSI_FAKE_PART_STUCK);
  look_anew(scene, CSI_SMB_ROUTE_AUTO);
  assert_false(is_ready(scene));
  csi_readiness_free(scene->readiness);
  scene->readiness = NULL;
}

/* Memory that is short: the part in question is unknown, or the look fails. */
static void test_memory(void **state) {
  struct scene *scene = *state;
  const struct csi_parts_options options = {.route = CSI_SMB_ROUTE_AUTO};
  const struct csi_parts_hosts hosts = hosts_of(scene);
  _Atomic(const char *) at;
  unsigned countdown = 0, left;
  do {
    struct csi_group_parts groups[CSI_PARTS_GROUPS];
    struct csi_ctx ctx = {.arena = csi_arena_new(1 << 20), .deadline_ns = CSI_NO_DEADLINE};
    csi_arena_fail_after(++countdown);
    bool looked = csi_parts_look(&ctx, &hosts, &options, &at, groups);
    left = csi_arena_fail_after(0);
    assert_int_equal(looked, csi_status_ok(&ctx.status));
    if (left > 0) assert_true(looked); /* nothing failed */
    csi_arena_free(ctx.arena);
  } while (left == 0);
  assert_true(countdown > 1);
}

int main(void) {
#define READINESS_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      READINESS_TEST(test_everything_is_there),
      READINESS_TEST(test_each_part_missing),
      READINESS_TEST(test_routes),
      READINESS_TEST(test_disks),
      READINESS_TEST(test_what_is_seen_is_kept),
      READINESS_TEST(test_a_part_that_hangs),
      READINESS_TEST(test_what_was_ready),
      READINESS_TEST(test_many_ask_at_once),
      READINESS_TEST(test_stopping),
      READINESS_TEST(test_the_first_look_is_stuck),
      READINESS_TEST(test_a_later_look_is_stuck),
      READINESS_TEST(test_a_look_outlives_its_readiness),
      READINESS_TEST(test_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
