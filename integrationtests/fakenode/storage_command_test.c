/* SPDX-License-Identifier: Apache-2.0
 *
 * The testbed's command lines do to the disks in memory what they do to the driver's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <glob.h>
#include <stdio.h>
#include <string.h>

#include "storage_command.h"

static struct csi_fake_filesystem *files;
static struct csi_fake_storage *storage;
static char reply[1 << 16];

static int set_up(void **state) {
  (void)state;
  files = csi_fake_filesystem_new();
  storage = csi_fake_storage_new(files);
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  csi_fake_storage_free(storage);
  csi_fake_filesystem_free(files);
  return 0;
}

static void run(const char *line) {
  if (!csi_fake_storage_command(storage, line, reply, sizeof reply)) fail_msg("%s: %s", line, reply);
}

static void refuse(const char *line, const char *why) {
  if (csi_fake_storage_command(storage, line, reply, sizeof reply)) fail_msg("%s was accepted", line);
  if (strcmp(reply, why) != 0) fail_msg("%s: \"%s\", not \"%s\"", line, reply, why);
}

static void check_reply(const char *line, const char *expected) {
  run(line);
  if (strstr(reply, expected) == NULL) fail_msg("%s says \"%s\", not \"%s\"", line, reply, expected);
}

static void test_every_profile_is_understood(void **state) {
  (void)state;
  glob_t profiles;
  assert_int_equal(glob(CSI_PROFILES "/*.profile", 0, NULL, &profiles), 0);
  for (size_t i = 0; i < profiles.gl_pathc; i++) {
    char text[1 << 14];
    FILE *file = fopen(profiles.gl_pathv[i], "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    if (!csi_fake_storage_profile(storage, text, reply, sizeof reply))
      fail_msg("%s: %s", profiles.gl_pathv[i], reply);
    check_reply("disk list", "number=1 size=");
    run("reset");
    check_reply("disk list", "");
    assert_string_equal(reply, "");
  }
  globfree(&profiles);
}

static void test_a_disk_is_added_changed_and_removed(void **state) {
  (void)state;
  run("disk add number=3 size=1G sector=4096 file=a offline readonly");
  check_reply("disk list",
              "number=3 size=1073741824 sector=4096 style=raw offline=1 readonly=1 partitions=0\n");
  run("disk set number=3 offline=0 readonly=0");
  check_reply("disk list", "offline=0 readonly=0");
  run("disk grow number=3 size=2G");
  check_reply("disk list", "size=1073741824"); /* nobody has looked again */
  run("disk remove number=3");
  refuse("disk remove number=3", "no such disk");
}

static void test_a_medium_comes_back_with_its_table(void **state) {
  (void)state;
  run("disk add number=3 size=1G file=a");
  run("table disk=3 style=gpt partition=msr,17K,16367K partition=basic,16M,rest");
  run("signature disk=3 partition=2 type=ntfs");
  refuse("disk add number=4 size=1G file=a", "file is in use");
  run("reset");
  run("disk add number=4 size=1G file=a");
  check_reply("volume list", "disk=4 partition=2 offset=16777216");
  check_reply("volume list", "fs=ntfs");
}

static void test_faults_have_the_testbeds_names(void **state) {
  (void)state;
  run("disk add number=3 size=1G file=a");
  run("fault add disk=3 call=DISK_GET_DRIVE_LAYOUT_EX nth=2 fail=0xC0000185");
  run("fault add call=FSCTL_EXTEND_VOLUME hang count=0");
  run("fault add call=OPEN delay=5");
  check_reply("fault list", "call=IOCTL_DISK_GET_DRIVE_LAYOUT_EX disk=3 nth=2 count=1\n");
  run("fault clear");
  run("fault list");
  assert_string_equal(reply, "");
  refuse("fault add disk=3 call=NONSENSE fail=0xC0000185", "no such call: NONSENSE");
  refuse("fault add disk=3 call=OPEN", "what shall happen?");
  refuse("fault add disk=9 call=OPEN hang", "no such disk");
}

static void test_nonsense_is_refused(void **state) {
  (void)state;
  refuse("disk eat number=3", "no such command: disk eat");
  refuse("disk add number=0 size=1G", "number is 1 to 9999");
  refuse("disk add number=1 size=1K", "size is 1M or more, in whole sectors");
  refuse("disk add number=1 size=1G sector=1024", "sector is 512 or 4096");
  refuse("disk add number=1 size=1G colour=red", "not understood: colour");
  refuse("disk add number=1 size=1G page83=octal:7", "bad page83");
  refuse("disk add number=1 size=1G address=1.2.3", "bad address");
  refuse("disk add number=1 size=1G address=1.2.3.256", "bad address");
  refuse("disk add number=1 size=1G serial=%zz", "bad %XX: serial");
  refuse("volume set guid={0} used=1", "bad guid: guid");
  refuse("wait-disks 1", "there are 0 disks");
  run("disk add number=1 size=1G");
  refuse("table disk=1 style=gpt partition=basic,17K", "partition=TYPE,OFFSET,LENGTH");
  refuse("table disk=1 style=gpt partition=basic,1M,2G", "no such layout is possible");
  refuse("signature disk=1 partition=1 type=ntfs", "no such partition");
  run("disk add number=2 size=1M");
  refuse("table disk=2 style=gpt", "the disk is too small");
  run("# a comment");
  run("");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_every_profile_is_understood),
      TEST(test_a_disk_is_added_changed_and_removed),
      TEST(test_a_medium_comes_back_with_its_table),
      TEST(test_faults_have_the_testbeds_names),
      TEST(test_nonsense_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
