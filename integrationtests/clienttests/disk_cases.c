/* SPDX-License-Identifier: Apache-2.0
 *
 * What every version of the disk group must do, RPC by RPC, on disks that come, break and go.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "scene.h"

/* Win32 error numbers; this file also runs where there is no winerror.h. */
enum {
  FILE_NOT_FOUND = 2,
  IO_DEVICE = 1117, /* STATUS_IO_DEVICE_ERROR */
};

enum {
  NOBODY = 9998, /* a disk number that is never given */
  SHORT_MS = 700,
  HANG_MS = 4000,
  SHORT_LIMIT_MS = 15000, /* for a call that had SHORT_MS */
};

static const int64_t mib = 1 << 20, gib = 1 << 30;

static void check_online(struct run *run, uint32_t disk, bool expected) {
  bool online;
  check_ok(run, "GetDiskState", is_online(run, disk, &online));
  check(run, online == expected, "the disk is %s", online ? "online" : "offline");
}

/* Asks the scene: GetDiskState is not in every version. */
static void check_word(struct run *run, uint32_t disk, const char *key, const char *expected) {
  const char *value = scene_word(run, "disk list", path(run, "number=%u", (unsigned)disk), key);
  check(run, strcmp(value, expected) == 0, "%s of the disk is %s, not %s", key, value, expected);
}

static void check_volumes(struct run *run, uint32_t disk, size_t expected) {
  struct volume_ids volumes;
  check_ok(run, "ListVolumesOnDisk", list_volumes(run, disk, 0, &volumes));
  check(run, volumes.count == expected, "%zu volumes, not %zu", volumes.count, expected);
}

static void check_not_found(struct run *run, enum csi_code code, const char *beginning) {
  check(run, code != CSI_OK, "success, with a disk that is not there");
  check(run, run->error.code == CSI_UNKNOWN && run->error.precise_code == CSI_NOT_FOUND,
        "%s, precisely %s: %s", csi_code_name(run->error.code), csi_code_name(run->error.precise_code),
        run->error.text);
  check(run, strncmp(run->error.text, beginning, strlen(beginning)) == 0, "text is \"%s\"", run->error.text);
}

/* ---- ListDiskLocations ---- */

static void tells_the_bus_address(struct run *run) {
  struct disk_location where;
  uint32_t disk = add_disk(run, "size=64M address=3.1.25.107");
  check_ok(run, "ListDiskLocations", find_location(run, disk, &where));
  check(run,
        where.is_listed && strcmp(where.adapter, "3") == 0 && strcmp(where.bus, "1") == 0 &&
            strcmp(where.target, "25") == 0 && strcmp(where.lun, "107") == 0,
        "listed: %d; %s.%s.%s.%s", where.is_listed, where.adapter, where.bus, where.target, where.lun);
}

static void leaves_out_a_disk_without_address(struct run *run) {
  struct disk_location where;
  uint32_t without = add_disk(run, "size=64M address=none");
  uint32_t with = add_disk(run, "size=64M");
  check_ok(run, "ListDiskLocations", find_location(run, without, &where));
  check(run, !where.is_listed, "a disk without address is listed");
  check_ok(run, "ListDiskLocations", find_location(run, with, &where));
  check(run, where.is_listed, "the other disk is not listed");
}

static void one_odd_disk_fails_no_location(struct run *run) {
  struct disk_location where;
  uint32_t odd = add_disk(run, "size=64M interface-broken"), sound = add_disk(run, "size=64M");
  uint32_t failing = add_disk(run, "size=64M");
  scene(run, "fault add disk=%u call=SCSI_GET_ADDRESS count=0 fail=0xC0000185", (unsigned)failing);
  check_ok(run, "ListDiskLocations", find_location(run, sound, &where));
  check(run, where.is_listed, "the sound disk is not listed");
  check_ok(run, "ListDiskLocations", find_location(run, odd, &where));
  check(run, !where.is_listed, "a disk that cannot be opened is listed");
}

static void an_unplugged_disk_is_listed_no_more(struct run *run) {
  struct disk_location where;
  uint32_t disk = add_disk(run, "size=64M");
  check_ok(run, "ListDiskLocations", find_location(run, disk, &where));
  check(run, where.is_listed, "the disk is not listed");
  scene(run, "disk remove number=%u", (unsigned)disk);
  check_ok(run, "ListDiskLocations", find_location(run, disk, &where));
  check(run, !where.is_listed, "a disk that was unplugged is listed");
}

/* ---- ListDiskIDs ---- */

/* What the platforms' disks say, and what their drivers look for. */
static const struct {
  const char *words;
  const char *page83;
  const char *serial_number;
} identities[] = {
    /* Azure, SCSI; vSphere, where the target port's comes first */
    {"page83=hex:60022480CB0AF3E2D19C4B5A69788701@0/3 serial=none", "60022480cb0af3e2d19c4b5a69788701", ""},
    {"page83=hex:5000c29000000001@1/3,hex:6000c29a1b2c3d4e5f60718293a4b5c6@0/3,ascii:VMware@0/1 "
     "serial=6000c29a1b2c3d4e5f60718293a4b5c6",
     "6000c29a1b2c3d4e5f60718293a4b5c6", "6000c29a1b2c3d4e5f60718293a4b5c6"},
    /* Google: two blanks inside stay; NVMe */
    {"page83=ascii:Google%20%20persistent-disk-0@0/1 serial=none", "Google  persistent-disk-0", ""},
    {"page83=ascii:eui.2F4A9B61C05D7E830000000000000000@0/8 serial=nvme_card-pd",
     "eui.2F4A9B61C05D7E830000000000000000", "nvme_card-pd"},
    {"page83=unsupported serial=10CC_9636_B6E3_CE3B_0000_0000_0000_0000.", "",
     "10CC_9636_B6E3_CE3B_0000_0000_0000_0000."},
    /* EBS: Nitro, Xen */
    {"page83=none serial=vol0a1b2c3d4e5f60718_00000001.", "", "vol0a1b2c3d4e5f60718_00000001."},
    {"page83=unsupported serial=vol0a1b2c3d4e5f60718", "", "vol0a1b2c3d4e5f60718"},
    /* Blanks: around a text, and nothing else */
    {"page83=ascii:%20a%20b%20@0/1 serial=%20%20x%20y%20%20", " a b ", "  x y"},
    {"page83=ascii:%20%20%20%20@0/1 serial=%20%20%20%20", "", ""},
    /* Others' and other kinds do not count; the first that does, does */
    {"page83=ascii:port@1/1,utf8:name@0/8,ascii:first@0/1,hex:00@0/3 serial=none", "first", ""},
    {"page83=hex:00ff@0/0,ascii:second@0/1 serial=none", "00ff", ""},
    /* Nothing but a port's */
    {"page83=hex:5000000000000009@1/3 serial=none", "", ""},
    /* ASCII that is none cannot travel as text */
    {"page83=ascii:a%FFb@0/1 serial=none", "61ff62", ""},
    /* Broken devices: what stands before the flaw is still good */
    {"page83=malformed-next serial=none", "vdisk", ""},
    {"page83=oversized serial=none", "vdisk", ""},
};

static void tells_identities_as_drivers_expect(struct run *run) {
  enum { COUNT = sizeof identities / sizeof identities[0] };
  uint32_t disks[COUNT];
  struct disk_names names;
  for (size_t i = 0; i < COUNT; i++)
    disks[i] = add_disk(run, "size=64M %s", identities[i].words);
  for (size_t i = 0; i < COUNT && !run->failed; i++) {
    check_ok(run, "ListDiskIDs", find_names(run, disks[i], &names));
    check(run,
          names.is_listed && strcmp(names.page83, identities[i].page83) == 0 &&
              strcmp(names.serial_number, identities[i].serial_number) == 0,
          "%s: listed: %d, page83 \"%s\", serial \"%s\"", identities[i].words, names.is_listed, names.page83,
          names.serial_number);
  }
}

static void one_odd_disk_fails_no_identity(struct run *run) {
  struct disk_names names;
  uint32_t odd = add_disk(run, "size=64M interface-broken serial=odd");
  uint32_t sound = add_disk(run, "size=64M serial=sound page83=ascii:sound");
  uint32_t failing = add_disk(run, "size=64M serial=failing");
  scene(run, "fault add disk=%u call=STORAGE_QUERY_PROPERTY count=0 fail=0xC0000185", (unsigned)failing);
  check_ok(run, "ListDiskIDs", find_names(run, sound, &names));
  check(run, strcmp(names.page83, "sound") == 0 && strcmp(names.serial_number, "sound") == 0,
        "the sound disk says \"%s\", \"%s\"", names.page83, names.serial_number);
  check_ok(run, "ListDiskIDs", find_names(run, odd, &names));
  check(run, !names.is_listed, "a disk that cannot be opened is listed");
  check_ok(run, "ListDiskIDs", find_names(run, failing, &names));
  check(run, names.serial_number[0] == '\0', "serial \"%s\" of a disk that says none", names.serial_number);
}

static void offline_disks_have_identities(struct run *run) {
  struct disk_names names;
  uint32_t disk = add_disk(run, "size=64M offline readonly serial=vol1 page83=hex:0102@0/3");
  check_ok(run, "ListDiskIDs", find_names(run, disk, &names));
  check(run, strcmp(names.page83, "0102") == 0 && strcmp(names.serial_number, "vol1") == 0,
        "it says \"%s\", \"%s\"", names.page83, names.serial_number);
}

/* ---- GetDiskNumberByName ---- */

static void finds_a_disk_by_its_name(struct run *run) {
  uint32_t found;
  add_disk(run, "size=64M page83=ascii:name-1");
  uint32_t disk = add_disk(run, "size=64M page83=ascii:name-2");
  check_ok(run, "GetDiskNumberByName", number_of_name(run, "name-2", &found));
  check(run, found == disk, "it is %u, not %u", (unsigned)found, (unsigned)disk);
}

static void finds_none_by_another_name(struct run *run) {
  static const char *const names[] = {"NAME-1", "name", "name-11", " name-1"};
  uint32_t found;
  add_disk(run, "size=64M page83=ascii:name-1");
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    check_not_found(run, number_of_name(run, names[i], &found),
                    path(run, "could not find disk with Page83 ID %s: not found", names[i]));
  }
}

static void finds_none_without_a_name(struct run *run) {
  uint32_t found;
  add_disk(run, "size=64M page83=none");
  check(run, number_of_name(run, "", &found) != CSI_OK, "disk %u has the empty name", (unsigned)found);
  check_refusal(run, CSI_UNKNOWN, CSI_INVALID_ARGUMENT, 0, "could not find disk with Page83 ID ");
}

/* ---- PartitionDisk ---- */

static void check_partitioned(struct run *run, const char *words, int64_t size_bytes) {
  uint32_t disk = add_disk(run, "%s", words);
  check_ok(run, "PartitionDisk", partition(run, disk));
  check_word(run, disk, "style", "gpt");
  check_word(run, disk, "partitions", "1");
  check_volumes(run, disk, 1);
  const char *of_disk = path(run, "disk=%u", (unsigned)disk);
  const char *offset = scene_word(run, "volume list", of_disk, "offset");
  const char *length = scene_word(run, "volume list", of_disk, "length");
  check(run, strcmp(offset, "1048576") == 0, "the partition begins at %s", offset);
  long long bytes = 0;
  check(run, sscanf(length, "%lld", &bytes) == 1 && bytes % mib == 0 && bytes >= size_bytes - 3 * mib,
        "the partition has %s bytes", length);
  check(run, bytes < size_bytes - mib, "the partition covers the backup table: %s bytes", length);
}

static void makes_a_volume_of_a_raw_disk(struct run *run) {
  check_partitioned(run, "size=1G", gib);
}

static void takes_sectors_of_4_kib(struct run *run) {
  check_partitioned(run, "size=1G sector=4096", gib);
}

static void takes_small_and_huge_disks(struct run *run) {
  check_partitioned(run, "size=64M", 64 * mib);
  check_partitioned(run, "size=64M sector=4096", 64 * mib);
  check_partitioned(run, "size=64T", 65536 * gib);
  check_partitioned(run, "size=64T sector=4096", 65536 * gib);
}

static void waits_for_the_volume(struct run *run) {
  check_partitioned(run, "size=1G volume-delay=400", gib);
}

static void takes_a_disk_that_is_offline_and_read_only(struct run *run) {
  uint32_t disk = add_disk(run, "size=1G offline readonly volume-delay=100");
  check_ok(run, "PartitionDisk", partition(run, disk));
  check_volumes(run, disk, 1);
  check_word(run, disk, "offline", "0");
  check_word(run, disk, "readonly", "0");
}

static void changes_nothing_the_second_time(struct run *run) {
  struct volume_ids before, after;
  uint32_t disk = add_disk(run, "size=1G");
  check_ok(run, "PartitionDisk", partition(run, disk));
  check_ok(run, "ListVolumesOnDisk", list_volumes(run, disk, 0, &before));
  scene(run, "signature disk=%u partition=1 type=ntfs", (unsigned)disk);
  check_ok(run, "PartitionDisk, again", partition(run, disk));
  check_ok(run, "ListVolumesOnDisk", list_volumes(run, disk, 0, &after));
  check(run, after.count == 1 && strcmp(before.ids[0], after.ids[0]) == 0, "%s is now %s", before.ids[0],
        after.ids[0]);
  const char *fs = scene_word(run, "volume list", path(run, "disk=%u", (unsigned)disk), "fs");
  check(run, strcmp(fs, "ntfs") == 0, "the file system is now %s", fs);
}

static void adds_a_partition_to_an_empty_gpt(struct run *run) {
  uint32_t empty = add_disk(run, "size=1G"), reserved = add_disk(run, "size=1G");
  scene(run, "table disk=%u style=gpt", (unsigned)empty);
  scene(run, "table disk=%u style=gpt partition=msr,17K,16367K", (unsigned)reserved);
  check_ok(run, "PartitionDisk, empty GPT", partition(run, empty));
  check_word(run, empty, "partitions", "1");
  check_volumes(run, empty, 1);
  check_ok(run, "PartitionDisk, only MSR", partition(run, reserved));
  check_word(run, reserved, "partitions", "2");
  check_volumes(run, reserved, 1);
}

static void takes_what_windows_reserves(struct run *run) {
  uint32_t disk = add_disk(run, "size=1G msr-on-create");
  check_ok(run, "PartitionDisk", partition(run, disk));
  check_word(run, disk, "partitions", "2");
  check_volumes(run, disk, 1);
}

static void leaves_partitions_of_others_alone(struct run *run) {
  uint32_t mbr = add_disk(run, "size=1G"), gpt = add_disk(run, "size=1G");
  scene(run, "table disk=%u style=mbr partition=07,1M,512M", (unsigned)mbr);
  scene(run, "signature disk=%u partition=1 type=ntfs", (unsigned)mbr);
  scene(run, "table disk=%u style=gpt partition=basic,1M,100M partition=basic,200M,100M", (unsigned)gpt);
  check_ok(run, "PartitionDisk, MBR", partition(run, mbr));
  check_word(run, mbr, "style", "mbr");
  check_word(run, mbr, "partitions", "1");
  const char *fs = scene_word(run, "volume list", path(run, "disk=%u", (unsigned)mbr), "fs");
  check(run, strcmp(fs, "ntfs") == 0, "the file system on the MBR disk is now %s", fs);
  check_ok(run, "PartitionDisk, GPT", partition(run, gpt));
  check_word(run, gpt, "partitions", "2");
  check_volumes(run, gpt, 2);
}

static void refuses_an_empty_mbr(struct run *run) {
  uint32_t disk = add_disk(run, "size=1G");
  scene(run, "table disk=%u style=mbr", (unsigned)disk);
  check(run, partition(run, disk) != CSI_OK, "an empty MBR disk was partitioned");
  check_refusal(run, CSI_UNKNOWN, CSI_FAILED_PRECONDITION, 0,
                path(run, "error creating partition on disk %u. err: ", (unsigned)disk));
  check_word(run, disk, "style", "mbr");
}

static void old_contents_do_not_come_to_life(struct run *run) {
  uint32_t disk = add_disk(run, "size=1G");
  scene(run, "table disk=%u style=gpt partition=basic,1M,100M", (unsigned)disk);
  scene(run, "signature disk=%u partition=1 type=ntfs", (unsigned)disk);
  scene(run, "table disk=%u style=raw", (unsigned)disk);
  check_ok(run, "PartitionDisk", partition(run, disk));
  const char *fs = scene_word(run, "volume list", path(run, "disk=%u", (unsigned)disk), "fs");
  check(run, strcmp(fs, "raw") == 0, "the new volume begins with %s", fs);
}

/* Every device call of PartitionDisk, by the testbed's names. */
static const char *const partition_calls[] = {
    "DISK_GET_DISK_ATTRIBUTES", "DISK_SET_DISK_ATTRIBUTES",   "DISK_GET_DRIVE_LAYOUT_EX",
    "DISK_CREATE_DISK",         "DISK_UPDATE_PROPERTIES",     "DISK_SET_DRIVE_LAYOUT_EX",
    "DISK_ARE_VOLUMES_READY",   "DISK_GET_DRIVE_GEOMETRY_EX", "WRITE",
};
enum { PARTITION_CALLS = sizeof partition_calls / sizeof partition_calls[0] };

static void check_repaired(struct run *run, uint32_t disk, const char *after) {
  scene(run, "fault clear");
  check(run, partition(run, disk) == CSI_OK, "PartitionDisk, again after %s: %s", after, run->error.text);
  struct volume_ids volumes;
  check(run, list_volumes(run, disk, 0, &volumes) == CSI_OK && volumes.count == 1,
        "after %s there are %zu volumes: %s", after, volumes.count, run->error.text);
}

static void a_second_call_repairs_what_failed(struct run *run) {
  for (size_t i = 0; i < PARTITION_CALLS && !run->failed; i++) {
    for (unsigned nth = 1; nth <= 2 && !run->failed; nth++) {
      uint32_t disk = add_disk(run, "size=64M offline");
      char what[128];
      snprintf(what, sizeof what, "failure %u of %s", nth, partition_calls[i]);
      scene(run, "fault add disk=%u call=%s nth=%u fail=0xC0000185", (unsigned)disk, partition_calls[i], nth);
      if (partition(run, disk) != CSI_OK) {
        check(run,
              strstr(run->error.text, "error in the I/O") != NULL || run->error.number == IO_DEVICE ||
                  strstr(run->error.text, "1117") != NULL,
              "%s: the text does not tell: %s", what, run->error.text);
      }
      check_repaired(run, disk, what);
      scene(run, "disk remove number=%u", (unsigned)disk);
    }
  }
}

static void a_device_that_hangs_is_given_up(struct run *run) {
  static const char *const calls[] = {"DISK_GET_DRIVE_LAYOUT_EX", "DISK_CREATE_DISK",
                                      "DISK_SET_DRIVE_LAYOUT_EX", "DISK_ARE_VOLUMES_READY"};
  for (size_t i = 0; i < sizeof calls / sizeof calls[0] && !run->failed; i++) {
    uint32_t disk = add_disk(run, "size=64M");
    scene(run, "fault add disk=%u call=%s hang", (unsigned)disk, calls[i]);
    int64_t started_ms = now_ms();
    run->timeout_ms = SHORT_MS;
    enum csi_code code = partition(run, disk);
    run->timeout_ms = 0;
    check(run, code == CSI_DEADLINE_EXCEEDED, "%s: %s: %s", calls[i], csi_code_name(code), run->error.text);
    check(run, now_ms() - started_ms < SHORT_LIMIT_MS, "%s: it took %lld ms", calls[i],
          (long long)(now_ms() - started_ms));
    check_repaired(run, disk, calls[i]);
  }
}

/* A call that another thread makes meanwhile. */
struct other_call {
  struct run run;
  uint32_t disk;
  enum csi_code code;
};

static void *partition_meanwhile(void *context) {
  struct other_call *other = context;
  other->code = partition(&other->run, other->disk);
  return NULL;
}

static void a_disk_that_hangs_holds_up_no_other(struct run *run) {
  static struct other_call other;
  uint32_t sound = add_disk(run, "size=64M");
  memset(&other, 0, sizeof other);
  other.disk = add_disk(run, "size=64M");
  other.run = (struct run){.disk = run->disk, .settings = run->settings, .timeout_ms = HANG_MS};
  scene(run, "fault add disk=%u call=DISK_CREATE_DISK hang", (unsigned)other.disk);
  pthread_t thread;
  int64_t started_ms = now_ms();
  if (!check(run, pthread_create(&thread, NULL, partition_meanwhile, &other) == 0, "no thread")) return;
  sleep_ms(SHORT_MS / 2); /* until it hangs */
  check_ok(run, "PartitionDisk of the other", partition(run, sound));
  check_volumes(run, sound, 1);
  check(run, now_ms() - started_ms < HANG_MS, "it waited for the disk that hangs");
  /* One disk: the second call waits for the first, and is told so. */
  run->timeout_ms = SHORT_MS;
  check(run, partition(run, other.disk) == CSI_DEADLINE_EXCEEDED, "two calls on one disk: %s",
        run->error.text);
  run->timeout_ms = 0;
  pthread_join(thread, NULL);
  check(run, other.code == CSI_DEADLINE_EXCEEDED, "the disk that hangs: %s", other.run.error.text);
  check_repaired(run, other.disk, "a hang");
}

static void a_disk_that_goes_in_the_middle_is_an_error(struct run *run) {
  static const char *const calls[] = {"DISK_GET_DRIVE_LAYOUT_EX", "DISK_CREATE_DISK",
                                      "DISK_SET_DRIVE_LAYOUT_EX"};
  for (size_t i = 0; i < sizeof calls / sizeof calls[0] && !run->failed; i++) {
    uint32_t disk = add_disk(run, "size=64M");
    scene(run, "fault add disk=%u call=%s remove", (unsigned)disk, calls[i]);
    check(run, partition(run, disk) != CSI_OK, "success, and the disk went during %s", calls[i]);
    check(run, run->error.text[0] != '\0' && run->error.code == CSI_UNKNOWN, "%s: %s", calls[i],
          run->error.text);
    scene(run, "fault clear");
  }
}

static void partition_knows_no_such_disk(struct run *run) {
  check_not_found(run, partition(run, NOBODY),
                  path(run,
                       "error checking initialized status of disk %d: failed to query disk %d. error: "
                       "not found",
                       NOBODY, NOBODY));
}

static void a_system_disk_is_not_partitioned(struct run *run) {
  uint32_t disk = add_disk(run, "size=1G");
  scene(run, "table disk=%u style=gpt partition=efi,1M,100M", (unsigned)disk);
  check_ok(run, "PartitionDisk with nothing to do", partition(run, disk));
  check_word(run, disk, "partitions", "1");
  scene(run, "disk set number=%u offline=1", (unsigned)disk);
  check(run, partition(run, disk) != CSI_OK, "a disk with an EFI system partition was changed");
  check_refusal(run, CSI_UNKNOWN, CSI_FAILED_PRECONDITION, 0,
                path(run, "error checking initialized status of disk %u: disk %u has an EFI system partition",
                     (unsigned)disk, (unsigned)disk));
  check(run, strstr(run->error.text, "-allow-system-disks") != NULL, "the flag is not named: %s",
        run->error.text);
  check_word(run, disk, "offline", "1");
  check_word(run, disk, "partitions", "1");
}

/* ---- Rescan ---- */

static void shows_a_disk_that_has_grown(struct run *run) {
  uint32_t disk = add_disk(run, "size=1G");
  scene(run, "disk grow number=%u size=2G", (unsigned)disk);
  check_ok(run, "Rescan", rescan(run));
  check_word(run, disk, "size", "2147483648");
}

/* Drivers go on when a rescan fails; they must be told all the same. */
static void rescans_with_no_disk_at_all(struct run *run) {
  check_ok(run, "Rescan", rescan(run));
  check_ok(run, "Rescan", rescan(run));
}

static void a_rescan_leaves_odd_disks_alone(struct run *run) {
  add_disk(run, "size=64M interface-broken");
  uint32_t failing = add_disk(run, "size=64M"), grown = add_disk(run, "size=1G");
  scene(run, "fault add disk=%u call=DISK_UPDATE_PROPERTIES count=0 fail=0xC0000185", (unsigned)failing);
  scene(run, "disk grow number=%u size=2G", (unsigned)grown);
  check_ok(run, "Rescan", rescan(run));
  check_word(run, grown, "size", "2147483648");
}

/* ---- GetDiskStats ---- */

static void check_size(struct run *run, uint32_t disk, int64_t expected) {
  int64_t bytes;
  check_ok(run, "GetDiskStats", size_of(run, disk, &bytes));
  check(run, bytes == expected, "%lld bytes, not %lld", (long long)bytes, (long long)expected);
}

static void tells_the_size(struct run *run) {
  check_size(run, add_disk(run, "size=1G"), gib);
  check_size(run, add_disk(run, "size=64T sector=4096"), 65536 * gib);
  check_size(run, add_disk(run, "size=1G offline readonly"), gib);
}

static void tells_the_new_size_after_a_rescan(struct run *run) {
  uint32_t disk = add_disk(run, "size=1G");
  scene(run, "disk grow number=%u size=3G", (unsigned)disk);
  check_ok(run, "Rescan", rescan(run));
  check_size(run, disk, 3 * gib);
}

static void no_disk_has_no_size(struct run *run) {
  int64_t bytes;
  check_not_found(run, size_of(run, NOBODY, &bytes),
                  path(run, "failed to query disk %d. error: not found", NOBODY));
}

static void a_disk_that_does_not_answer_has_no_size(struct run *run) {
  int64_t bytes;
  uint32_t disk = add_disk(run, "size=1G");
  scene(run, "fault add disk=%u call=DISK_GET_DRIVE_GEOMETRY_EX count=0 fail=0xC0000185", (unsigned)disk);
  check(run, size_of(run, disk, &bytes) != CSI_OK, "success, and the device fails");
  check(run, run->error.number == IO_DEVICE, "error %u: %s", (unsigned)run->error.number, run->error.text);
}

/* ---- SetDiskState, GetDiskState ---- */

static void goes_offline_and_online(struct run *run) {
  char id[VOLUME_ID_BYTES];
  struct volume_ids volumes;
  uint32_t disk = add_volume(run, "size=1G volume-delay=100", "ntfs", id);
  for (int round = 0; round < 2; round++) {
    check_ok(run, "SetDiskState(offline)", set_online(run, disk, false));
    check_ok(run, "SetDiskState(offline), again", set_online(run, disk, false));
    check_online(run, disk, false);
    check(run, list_volumes(run, disk, 0, &volumes) != CSI_OK || volumes.count == 0,
          "an offline disk has a volume");
    check_ok(run, "SetDiskState(online)", set_online(run, disk, true));
    check_ok(run, "SetDiskState(online), again", set_online(run, disk, true));
    check_online(run, disk, true);
    check_ok(run, "ListVolumesOnDisk", list_volumes(run, disk, 0, &volumes));
    check(run, volumes.count == 1 && strcmp(volumes.ids[0], id) == 0, "the volume is %s, not %s",
          volumes.ids[0], id);
  }
}

static void online_is_writable(struct run *run) {
  uint32_t disk = add_disk(run, "size=1G offline readonly");
  check_ok(run, "SetDiskState(online)", set_online(run, disk, true));
  check_word(run, disk, "offline", "0");
  check_word(run, disk, "readonly", "0");
}

static void no_disk_changes_no_state(struct run *run) {
  const char *text = path(run, "failed to query disk %d. error: not found", NOBODY);
  check_not_found(run, set_online(run, NOBODY, true), text);
  check_not_found(run, set_online(run, NOBODY, false), text);
}

static void a_system_disk_stays_online(struct run *run) {
  char id[VOLUME_ID_BYTES];
  uint32_t disk = add_volume(run, "size=1G", "ntfs", id);
  hold_page_file(run, disk, id);
  check(run, set_online(run, disk, false) != CSI_OK, "the disk that holds the page file went offline");
  check_refusal(run, CSI_UNKNOWN, CSI_FAILED_PRECONDITION, 0,
                path(run, "error setting disk %u attach state. error: disk %u holds a page file",
                     (unsigned)disk, (unsigned)disk));
  check_word(run, disk, "offline", "0");
  check_ok(run, "SetDiskState(online) of the system disk", set_online(run, disk, true));
}

static void tells_the_state(struct run *run) {
  check_online(run, add_disk(run, "size=64M"), true);
  check_online(run, add_disk(run, "size=64M offline"), false);
  check_online(run, add_disk(run, "size=64M readonly"), true);
}

static void no_disk_has_no_state(struct run *run) {
  bool online;
  check_not_found(run, is_online(run, NOBODY, &online),
                  path(run, "failed to query disk %d. error: not found", NOBODY));
}

/* ---- RPCs that a version lacks ---- */

static bool has_rpc(const char *version, const char *rpc) {
  if (strcmp(rpc, "GetDiskNumberByName") == 0) return strcmp(version, "v1alpha1") == 0;
  if (strcmp(rpc, "ListDiskIDs") == 0 || strcmp(rpc, "GetDiskStats") == 0)
    return strcmp(version, "v1alpha1") != 0;
  if (strcmp(rpc, "SetDiskState") == 0 || strcmp(rpc, "GetDiskState") == 0)
    return strcmp(version, "v1alpha1") != 0 && strcmp(version, "v1beta1") != 0;
  return true;
}

static void rpcs_of_other_versions_are_unimplemented(struct run *run) {
  uint32_t number;
  int64_t bytes;
  bool online;
  struct disk_names names;
  if (!has_rpc(run->version, "GetDiskNumberByName"))
    check(run, number_of_name(run, "name", &number) == CSI_UNIMPLEMENTED, "%s", run->error.text);
  if (!has_rpc(run->version, "ListDiskIDs"))
    check(run, find_names(run, NOBODY, &names) == CSI_UNIMPLEMENTED, "%s", run->error.text);
  if (!has_rpc(run->version, "GetDiskStats"))
    check(run, size_of(run, NOBODY, &bytes) == CSI_UNIMPLEMENTED, "%s", run->error.text);
  if (!has_rpc(run->version, "SetDiskState"))
    check(run, set_online(run, NOBODY, true) == CSI_UNIMPLEMENTED, "%s", run->error.text);
  if (!has_rpc(run->version, "GetDiskState"))
    check(run, is_online(run, NOBODY, &online) == CSI_UNIMPLEMENTED, "%s", run->error.text);
}

static const struct test_case cases[] = {
    GOOD("ListDiskLocations", NEEDS_NOTHING, tells_the_bus_address),
    GOOD("ListDiskLocations", NEEDS_NOTHING, leaves_out_a_disk_without_address),
    GOOD("ListDiskLocations", NEEDS_NOTHING, an_unplugged_disk_is_listed_no_more),
    BAD("ListDiskLocations", NEEDS_NOTHING, one_odd_disk_fails_no_location),
    GOOD("ListDiskIDs", NEEDS_NOTHING, tells_identities_as_drivers_expect),
    GOOD("ListDiskIDs", NEEDS_NOTHING, offline_disks_have_identities),
    BAD("ListDiskIDs", NEEDS_NOTHING, one_odd_disk_fails_no_identity),
    GOOD("GetDiskNumberByName", NEEDS_NOTHING, finds_a_disk_by_its_name),
    BAD("GetDiskNumberByName", NEEDS_NOTHING, finds_none_by_another_name),
    BAD("GetDiskNumberByName", NEEDS_NOTHING, finds_none_without_a_name),
    GOOD("PartitionDisk", NEEDS_NOTHING, makes_a_volume_of_a_raw_disk),
    GOOD("PartitionDisk", NEEDS_NOTHING, takes_sectors_of_4_kib),
    GOOD("PartitionDisk", NEEDS_NOTHING, takes_small_and_huge_disks),
    GOOD("PartitionDisk", NEEDS_NOTHING, waits_for_the_volume),
    GOOD("PartitionDisk", NEEDS_NOTHING, takes_a_disk_that_is_offline_and_read_only),
    GOOD("PartitionDisk", NEEDS_NOTHING, changes_nothing_the_second_time),
    GOOD("PartitionDisk", NEEDS_NOTHING, adds_a_partition_to_an_empty_gpt),
    GOOD("PartitionDisk", NEEDS_NOTHING, takes_what_windows_reserves),
    GOOD("PartitionDisk", NEEDS_NOTHING, leaves_partitions_of_others_alone),
    GOOD("PartitionDisk", NEEDS_NOTHING, old_contents_do_not_come_to_life),
    BAD("PartitionDisk", NEEDS_NOTHING, refuses_an_empty_mbr),
    BAD("PartitionDisk", NEEDS_NOTHING, a_second_call_repairs_what_failed),
    BAD("PartitionDisk", NEEDS_NOTHING, a_device_that_hangs_is_given_up),
    BAD("PartitionDisk", NEEDS_NOTHING, a_disk_that_hangs_holds_up_no_other),
    BAD("PartitionDisk", NEEDS_NOTHING, a_disk_that_goes_in_the_middle_is_an_error),
    BAD("PartitionDisk", NEEDS_NOTHING, partition_knows_no_such_disk),
    BAD("PartitionDisk", NEEDS_NOTHING, a_system_disk_is_not_partitioned),
    GOOD("Rescan", NEEDS_NOTHING, shows_a_disk_that_has_grown),
    GOOD("Rescan", NEEDS_NOTHING, rescans_with_no_disk_at_all),
    BAD("Rescan", NEEDS_NOTHING, a_rescan_leaves_odd_disks_alone),
    GOOD("GetDiskStats", NEEDS_NOTHING, tells_the_size),
    GOOD("GetDiskStats", NEEDS_NOTHING, tells_the_new_size_after_a_rescan),
    BAD("GetDiskStats", NEEDS_NOTHING, no_disk_has_no_size),
    BAD("GetDiskStats", NEEDS_NOTHING, a_disk_that_does_not_answer_has_no_size),
    GOOD("SetDiskState", NEEDS_NOTHING, goes_offline_and_online),
    GOOD("SetDiskState", NEEDS_NOTHING, online_is_writable),
    BAD("SetDiskState", NEEDS_NOTHING, no_disk_changes_no_state),
    BAD("SetDiskState", NEEDS_NOTHING, a_system_disk_stays_online),
    GOOD("GetDiskState", NEEDS_NOTHING, tells_the_state),
    BAD("GetDiskState", NEEDS_NOTHING, no_disk_has_no_state),
    BAD("others' RPCs", NEEDS_NOTHING, rpcs_of_other_versions_are_unimplemented),
};

static const char *const versions[] = {"v1alpha1", "v1beta1", "v1beta2", "v1beta3", "v1", NULL};
static const char *const rpcs[] = {
    "ListDiskLocations", "ListDiskIDs",  "GetDiskNumberByName", "PartitionDisk", "Rescan",
    "GetDiskStats",      "SetDiskState", "GetDiskState",        "others' RPCs",  NULL};

static const char *const other_groups[] = {"volume", "filesystem", NULL};

const struct suite disk_suite = {
    .group = "disk",
    .versions = versions,
    .rpcs = rpcs,
    .cases = cases,
    .case_count = sizeof cases / sizeof cases[0],
    .has_rpc = has_rpc,
    .other_groups = other_groups,
    .prepare = prepare_scene,
    .clean_up = clean_up_scene,
};
