/* SPDX-License-Identifier: Apache-2.0
 *
 * What every version of the volume group must do, RPC by RPC, on volumes that come, break and go.
 */
#include <stdio.h>
#include <string.h>

#include "scene.h"

/* Win32 error numbers; this file also runs where there is no winerror.h. */
enum {
  FILE_NOT_FOUND = 2,
  DIR_NOT_EMPTY = 145,
};

enum {
  NOBODY = 9998, /* a disk number that is never given */
  MANY_FILES = 200,
  SHORT_MS = 1500,
};

#define UNKNOWN_VOLUME "\\\\?\\Volume{01234567-89ab-cdef-0123-456789abcdef}\\"

static const int64_t mib = 1 << 20, gib = 1 << 30;

static const char *in(struct run *run, const char *name) {
  return path(run, "%s\\%s", run->directory, name);
}

static const char *guid_of(struct run *run, const char *id) {
  return path(run, "%.38s", id + strlen("\\\\?\\Volume"));
}

static void check_file_system(struct run *run, uint32_t disk, const char *expected) {
  const char *fs = scene_word(run, "volume list", path(run, "disk=%u", (unsigned)disk), "fs");
  check(run, strcmp(fs, expected) == 0, "the file system is %s, not %s", fs, expected);
}

/* The old names of RPCs put this before their errors. */
static const char *prefixed(struct run *run, const char *rpc, const char *text) {
  bool is_old = strcmp(run->version, "v1beta1") == 0 || strcmp(run->version, "v1beta2") == 0 ||
                (strcmp(run->version, "v1alpha1") == 0 && strcmp(rpc, "UnmountVolume") == 0);
  return path(run, "%s%s%s%s", is_old ? "Forward to " : "", is_old ? rpc : "", is_old ? " failed, err=" : "",
              text);
}

/* Volume ids that are none: ResizeVolume("3", 0) is what a driver really sends. */
static const char *const bad_ids[] = {"3",
                                      "\\\\?\\Volume{}\\",
                                      "\\\\?\\Volume{0123}\\",
                                      "C:\\",
                                      "\\\\?\\Volume{01234567-89ab-cdef-0123-456789abcdeg}\\",
                                      "\\\\?\\Volume{01234567-89ab-cdef-0123-456789abcdef}\\x"};
enum { BAD_IDS = sizeof bad_ids / sizeof bad_ids[0] };

typedef enum csi_code id_rpc(struct run *run, const char *id);

static void check_refuses_ids(struct run *run, id_rpc *call, const char *when_empty) {
  check(run, call(run, "") != CSI_OK, "success with an empty volume id");
  check_refusal(run, CSI_UNKNOWN, CSI_INVALID_ARGUMENT, 0, when_empty);
  for (size_t i = 0; i < BAD_IDS; i++) {
    check(run, call(run, bad_ids[i]) != CSI_OK, "success with the volume id %s", bad_ids[i]);
    check(run, run->error.code == CSI_UNKNOWN && run->error.precise_code == CSI_NOT_FOUND, "%s: %s, %s",
          bad_ids[i], csi_code_name(run->error.precise_code), run->error.text);
  }
  check(run, call(run, UNKNOWN_VOLUME) != CSI_OK, "success with a volume that is not there");
  check(run,
        run->error.code == CSI_UNKNOWN && run->error.precise_code == CSI_NOT_FOUND &&
            strstr(run->error.text, "failed to query volume " UNKNOWN_VOLUME ": not found") != NULL,
        "%s: %s", csi_code_name(run->error.precise_code), run->error.text);
}

/* ---- ListVolumesOnDisk ---- */

/* The older versions list whole disks only. */
static bool asks_for_partitions(const struct run *run) {
  return strcmp(run->version, "v1alpha1") != 0 && strcmp(run->version, "v1beta1") != 0 &&
         strcmp(run->version, "v1beta2") != 0;
}

static void lists_in_the_order_of_partitions(struct run *run) {
  struct volume_ids all, one;
  uint32_t disk = add_disk(run, "size=1G");
  scene(run,
        "table disk=%u style=gpt partition=msr,1M,16M partition=basic,100M,100M partition=basic,300M,100M "
        "partition=basic,500M,100M",
        (unsigned)disk);
  scene(run, "wait-volumes disk=%u count=3", (unsigned)disk);
  check_ok(run, "ListVolumesOnDisk", list_volumes(run, disk, 0, &all));
  check(run, all.count == 3, "%zu volumes, not 3", all.count);
  for (uint32_t i = 0; i < 3 && !run->failed; i++) {
    if (asks_for_partitions(run)) {
      check_ok(run, "ListVolumesOnDisk of a partition", list_volumes(run, disk, i + 2, &one));
      check(run, one.count == 1 && strcmp(one.ids[0], all.ids[i]) == 0, "partition %u has %s, not %s",
            (unsigned)i + 2, one.ids[0], all.ids[i]);
    }
    const char *offset =
        scene_word(run, "volume list", path(run, "guid=%s", guid_of(run, all.ids[i])), "offset");
    const char *expected = path(run, "%lld", (long long)(100 + 200 * (long long)i) * mib);
    check(run, strcmp(offset, expected) == 0, "volume %u begins at %s, not %s", (unsigned)i, offset,
          expected);
  }
}

static void lists_mbr_partitions(struct run *run) {
  struct volume_ids volumes;
  uint32_t disk = add_disk(run, "size=1G");
  scene(run, "table disk=%u style=mbr partition=07,1M,100M partition=0c,200M,100M", (unsigned)disk);
  scene(run, "wait-volumes disk=%u count=2", (unsigned)disk);
  check_ok(run, "ListVolumesOnDisk", list_volumes(run, disk, 0, &volumes));
  check(run, volumes.count == 2, "%zu volumes, not 2", volumes.count);
}

static void ids_have_their_form(struct run *run) {
  char id[VOLUME_ID_BYTES];
  add_volume(run, "size=1G", NULL, id);
  check(run, strlen(id) == 49 && strncmp(id, "\\\\?\\Volume{", 11) == 0 && strcmp(id + 47, "}\\") == 0, "%s",
        id);
}

static void a_disk_without_partitions_has_no_volumes(struct run *run) {
  struct volume_ids volumes;
  check_ok(run, "ListVolumesOnDisk", list_volumes(run, add_disk(run, "size=1G"), 0, &volumes));
  check(run, volumes.count == 0, "%zu volumes on a raw disk", volumes.count);
}

static void refuses_an_unknown_disk(struct run *run) {
  struct volume_ids volumes;
  check(run, list_volumes(run, NOBODY, 0, &volumes) != CSI_OK, "success with a disk that is not there");
  check(run, run->error.precise_code == CSI_NOT_FOUND, "%s: %s", csi_code_name(run->error.precise_code),
        run->error.text);
  check(run, strstr(run->error.text, path(run, "failed to query disk %d. error: not found", NOBODY)) != NULL,
        "%s", run->error.text);
}

static void refuses_an_unknown_partition(struct run *run) {
  char id[VOLUME_ID_BYTES];
  struct volume_ids volumes;
  uint32_t disk = add_volume(run, "size=1G", NULL, id);
  check(run, list_volumes(run, disk, 7, &volumes) != CSI_OK, "success with a partition that is not there");
  if (!asks_for_partitions(run)) { /* the library itself must refuse, or it would list the whole disk */
    check(run, run->error.code == CSI_INVALID_ARGUMENT && strstr(run->error.text, "v1beta3") != NULL, "%s",
          run->error.text);
    return;
  }
  check_refusal(run, CSI_UNKNOWN, CSI_NOT_FOUND, 0,
                path(run, "failed to list partition on disk %u: partition 7: not found", (unsigned)disk));
}

static void an_offline_disk_is_no_empty_one(struct run *run) {
  char id[VOLUME_ID_BYTES];
  struct volume_ids volumes;
  uint32_t disk = add_volume(run, "size=1G", NULL, id);
  scene(run, "disk set number=%u offline=1", (unsigned)disk);
  check(run, list_volumes(run, disk, 0, &volumes) != CSI_OK, "%zu volumes on an offline disk", volumes.count);
  check(run, strstr(run->error.text, "offline") != NULL, "%s", run->error.text);
}

/* ---- IsVolumeFormatted ---- */

static void tells_formatted_from_raw(struct run *run) {
  static const struct {
    const char *type;
    bool formatted;
  } types[] = {{NULL, false}, {"none", false}, {"ntfs", true}, {"refs", true}};
  for (size_t i = 0; i < sizeof types / sizeof types[0] && !run->failed; i++) {
    char id[VOLUME_ID_BYTES];
    bool formatted;
    add_volume(run, "size=1G", types[i].type, id);
    check_ok(run, "IsVolumeFormatted", is_formatted(run, id, &formatted));
    check(run, formatted == types[i].formatted, "%s: formatted is %d",
          types[i].type == NULL ? "raw" : types[i].type, formatted);
  }
}

static const char *const foreign[] = {"bitlocker", "noise", "fat32", "exfat"};
enum { FOREIGN = sizeof foreign / sizeof foreign[0] };

static void does_not_call_foreign_data_unformatted(struct run *run) {
  for (size_t i = 0; i < FOREIGN && !run->failed; i++) {
    char id[VOLUME_ID_BYTES];
    bool formatted;
    add_volume(run, "size=1G", foreign[i], id);
    enum csi_code code = is_formatted(run, id, &formatted);
    check(run, code != CSI_OK || formatted, "%s: it is called unformatted", foreign[i]);
    check(run, code == CSI_OK || run->error.text[0] != '\0', "%s: no text", foreign[i]);
  }
}

static void does_not_call_what_it_cannot_read_unformatted(struct run *run) {
  char id[VOLUME_ID_BYTES];
  bool formatted;
  uint32_t disk = add_volume(run, "size=1G", NULL, id);
  scene(run, "fault add volume=%s call=READ count=0 fail=0xC0000185", guid_of(run, id));
  check(run, is_formatted(run, id, &formatted) != CSI_OK, "success, and the volume cannot be read");
  scene(run, "fault clear");
  scene(run, "fault add volume=%s call=QUERY_VOLUME count=0 fail=0xC0000185", guid_of(run, id));
  check(run, is_formatted(run, id, &formatted) != CSI_OK, "success, and the volume cannot be opened");
  (void)disk;
}

static enum csi_code is_formatted_rpc(struct run *run, const char *id) {
  bool formatted;
  return is_formatted(run, id, &formatted);
}

static void is_formatted_refuses_bad_ids(struct run *run) {
  check_refuses_ids(run, is_formatted_rpc, "volume id empty");
}

/* ---- FormatVolume ---- */

static void formats_a_raw_volume(struct run *run) {
  static const char *const disks[] = {"size=1G", "size=1G sector=4096", "size=64M", "size=8T"};
  for (size_t i = 0; i < sizeof disks / sizeof disks[0] && !run->failed; i++) {
    char id[VOLUME_ID_BYTES];
    bool formatted;
    uint32_t disk = add_volume(run, disks[i], NULL, id);
    check_ok(run, "FormatVolume", format(run, id));
    check_ok(run, "IsVolumeFormatted", is_formatted(run, id, &formatted));
    check(run, formatted, "%s: it is not formatted afterwards", disks[i]);
    check_file_system(run, disk, "ntfs");
  }
}

static void formats_again(struct run *run) {
  char id[VOLUME_ID_BYTES];
  uint32_t disk = add_volume(run, "size=1G", "refs", id);
  check_ok(run, "FormatVolume of ReFS", format(run, id));
  check_file_system(run, disk, "ntfs");
  check_ok(run, "FormatVolume, again", format(run, id));
}

static void takes_ids_in_every_spelling(struct run *run) {
  char id[VOLUME_ID_BYTES];
  bool formatted;
  add_volume(run, "size=1G", "ntfs", id);
  const char *guid = guid_of(run, id);
  char upper[VOLUME_ID_BYTES];
  size_t i = 0;
  for (; id[i] != '\0'; i++)
    upper[i] = id[i] >= 'a' && id[i] <= 'f' && i > 10 ? (char)(id[i] - 'a' + 'A') : id[i];
  upper[i] = '\0';
  const char *spellings[] = {path(run, "\\\\?\\Volume%s", guid), path(run, "\\\\.\\Volume%s\\", guid),
                             path(run, "\\??\\Volume%s", guid), path(run, "Volume%s", guid), upper};
  for (i = 0; i < sizeof spellings / sizeof spellings[0]; i++) {
    check_ok(run, spellings[i], is_formatted(run, spellings[i], &formatted));
    check(run, formatted, "%s is not the same volume", spellings[i]);
  }
}

static void does_not_format_foreign_data(struct run *run) {
  for (size_t i = 0; i < FOREIGN && !run->failed; i++) {
    char id[VOLUME_ID_BYTES];
    uint32_t disk = add_volume(run, "size=1G", foreign[i], id);
    const char *of_disk = path(run, "disk=%u", (unsigned)disk);
    const char *before = scene_word(run, "volume list", of_disk, "fs");
    check(run, format(run, id) != CSI_OK, "%s was formatted", foreign[i]);
    check(run, strcmp(scene_word(run, "volume list", of_disk, "fs"), before) == 0, "%s was changed",
          foreign[i]);
  }
}

static void does_not_format_the_system(struct run *run) {
  char id[VOLUME_ID_BYTES];
  uint32_t disk = add_volume(run, "size=1G", NULL, id);
  hold_page_file(run, disk, id);
  check(run, format(run, id) != CSI_OK, "the volume that holds the page file was formatted");
  check_refusal(
      run, CSI_UNKNOWN, CSI_FAILED_PRECONDITION, 0,
      path(run, "error formatting volume (%s). error: disk %u holds a page file", id, (unsigned)disk));
  check_file_system(run, disk, "raw");
}

static void a_failed_format_can_be_repeated(struct run *run) {
  char id[VOLUME_ID_BYTES];
  uint32_t disk = add_volume(run, "size=1G", NULL, id);
  break_format(run, disk, SCENE_FORMAT_FAILS);
  check(run, format(run, id) != CSI_OK, "success, and formatting fails");
  check_file_system(run, disk, "raw");
  break_format(run, disk, SCENE_FORMAT_WORKS);
  check_ok(run, "FormatVolume, again", format(run, id));
}

static void a_format_that_hangs_is_given_up(struct run *run) {
  char id[VOLUME_ID_BYTES];
  uint32_t disk = add_volume(run, "size=1G", NULL, id);
  break_format(run, disk, SCENE_FORMAT_HANGS);
  run->timeout_ms = SHORT_MS;
  check(run, format(run, id) == CSI_DEADLINE_EXCEEDED, "%s", run->error.text);
  run->timeout_ms = 0;
  break_format(run, disk, SCENE_FORMAT_WORKS);
  check_ok(run, "FormatVolume, again", format(run, id));
  check_file_system(run, disk, "ntfs");
}

static void format_refuses_bad_ids(struct run *run) {
  check_refuses_ids(run, format, "volume id empty");
}

/* ---- ResizeVolume ---- */

/* File system and partition reach this far; at most the last MiB may be left over. */
static void check_fills(struct run *run, uint32_t disk, const char *id, int64_t disk_bytes) {
  long long length = 0;
  int64_t total, used;
  const char *text = scene_word(run, "volume list", path(run, "disk=%u", (unsigned)disk), "length");
  check(run, sscanf(text, "%lld", &length) == 1 && length >= disk_bytes - 3 * mib && length < disk_bytes,
        "the partition has %s bytes", text);
  /* The service may have no GetVolumeStats in this version; the file system's size is also in the list. */
  if (strcmp(run->version, "v1alpha1") == 0) return;
  check_ok(run, "GetVolumeStats", stats_of(run, id, &total, &used));
  check(run, total <= length && total > length - 128 * 1024, "the file system has %lld of %lld bytes",
        (long long)total, length);
}

static void fills_the_disk(struct run *run) {
  char id[VOLUME_ID_BYTES];
  uint32_t disk = add_volume(run, "size=1G", NULL, id);
  check_ok(run, "FormatVolume", format(run, id));
  scene(run, "disk grow number=%u size=3G", (unsigned)disk);
  check_ok(run, "ResizeVolume(0)", resize(run, id, 0));
  check_fills(run, disk, id, 3 * gib);
  check_ok(run, "ResizeVolume(0), again", resize(run, id, 0));
  check_fills(run, disk, id, 3 * gib);
}

static void fills_a_disk_of_4_kib_sectors(struct run *run) {
  char id[VOLUME_ID_BYTES];
  uint32_t disk = add_volume(run, "size=1G sector=4096", NULL, id);
  check_ok(run, "FormatVolume", format(run, id));
  scene(run, "disk grow number=%u size=2G", (unsigned)disk);
  check_ok(run, "ResizeVolume(0)", resize(run, id, 0));
  check_fills(run, disk, id, 2 * gib);
}

static void grows_by_little(struct run *run) {
  char id[VOLUME_ID_BYTES];
  uint32_t disk = add_volume(run, "size=1G", NULL, id);
  check_ok(run, "FormatVolume", format(run, id));
  scene(run, "disk grow number=%u size=1028M", (unsigned)disk);
  check_ok(run, "ResizeVolume(0)", resize(run, id, 0));
  check_fills(run, disk, id, 1028 * mib);
}

static void grows_to_a_size(struct run *run) {
  char id[VOLUME_ID_BYTES];
  uint32_t disk = add_volume(run, "size=1G", NULL, id);
  check_ok(run, "FormatVolume", format(run, id));
  scene(run, "disk grow number=%u size=3G", (unsigned)disk);
  check_ok(run, "ResizeVolume", resize(run, id, 2 * gib));
  const char *of_disk = path(run, "disk=%u", (unsigned)disk);
  const char *length = scene_word(run, "volume list", of_disk, "length");
  check(run, strcmp(length, "2147483648") == 0, "the partition has %s bytes", length);
  check_ok(run, "ResizeVolume to less", resize(run, id, gib));
  check_ok(run, "ResizeVolume to the same", resize(run, id, 2 * gib));
  length = scene_word(run, "volume list", of_disk, "length");
  check(run, strcmp(length, "2147483648") == 0, "the partition has now %s bytes", length);
}

static void finishes_what_was_half_done(struct run *run) {
  static const char *const calls[] = {"DISK_GROW_PARTITION", "FSCTL_EXTEND_VOLUME", "DISK_UPDATE_PROPERTIES",
                                      "DISK_GET_DRIVE_LAYOUT_EX", "FSCTL_GET_NTFS_VOLUME_DATA"};
  for (size_t i = 0; i < sizeof calls / sizeof calls[0] && !run->failed; i++) {
    char id[VOLUME_ID_BYTES];
    uint32_t disk = add_volume(run, "size=1G", NULL, id);
    check_ok(run, "FormatVolume", format(run, id));
    scene(run, "disk grow number=%u size=2G", (unsigned)disk);
    bool of_volume = strncmp(calls[i], "FSCTL", 5) == 0;
    const char *of =
        of_volume ? path(run, "volume=%s", guid_of(run, id)) : path(run, "disk=%u", (unsigned)disk);
    scene(run, "fault add %s call=%s fail=0xC0000185", of, calls[i]);
    check(run, resize(run, id, 0) != CSI_OK, "success, and %s fails", calls[i]);
    scene(run, "fault clear");
    check_ok(run, calls[i], resize(run, id, 0));
    check_fills(run, disk, id, 2 * gib);
  }
}

static void refuses_impossible_sizes(struct run *run) {
  char id[VOLUME_ID_BYTES];
  add_volume(run, "size=1G", "ntfs", id);
  check(run, resize(run, id, -1) != CSI_OK, "success with a negative size");
  check_refusal(run, CSI_UNKNOWN, CSI_INVALID_ARGUMENT, 0, "invalid negative size -1 for volume (");
  check(run, resize(run, id, 2 * gib) != CSI_OK, "success with more than the disk has");
  check(run, run->error.precise_code == CSI_OUT_OF_RANGE, "%s: %s", csi_code_name(run->error.precise_code),
        run->error.text);
}

static void does_not_resize_the_system(struct run *run) {
  char id[VOLUME_ID_BYTES];
  uint32_t disk = add_volume(run, "size=1G", "ntfs", id);
  hold_page_file(run, disk, id);
  scene(run, "disk grow number=%u size=2G", (unsigned)disk);
  check(run, resize(run, id, 0) != CSI_OK, "the volume that holds the page file was resized");
  check(run,
        run->error.precise_code == CSI_FAILED_PRECONDITION &&
            strstr(run->error.text, path(run, "disk %u holds a page file", (unsigned)disk)) != NULL,
        "%s", run->error.text);
}

static enum csi_code resize_rpc(struct run *run, const char *id) {
  return resize(run, id, 0);
}

static void resize_refuses_bad_ids(struct run *run) {
  check_refuses_ids(run, resize_rpc, "volume id empty");
}

/* ---- GetVolumeStats ---- */

static void tells_size_and_use(struct run *run) {
  char id[VOLUME_ID_BYTES];
  int64_t total, used;
  add_volume(run, "size=1G", NULL, id);
  check_ok(run, "FormatVolume", format(run, id));
  scene(run, "volume set guid=%s used=123M", guid_of(run, id));
  check_ok(run, "GetVolumeStats", stats_of(run, id, &total, &used));
  check(run, total > 1020 * mib && total <= gib, "%lld bytes in all", (long long)total);
  check(run, used == 123 * mib, "%lld bytes used, not 123 MiB", (long long)used);
}

static void an_unformatted_volume_has_nothing(struct run *run) {
  char id[VOLUME_ID_BYTES];
  int64_t total, used;
  add_volume(run, "size=1G", NULL, id);
  check_ok(run, "GetVolumeStats", stats_of(run, id, &total, &used));
  check(run, total == 0 && used == 0, "%lld of %lld bytes", (long long)used, (long long)total);
}

static enum csi_code stats_rpc(struct run *run, const char *id) {
  int64_t total, used;
  return stats_of(run, id, &total, &used);
}

static void stats_refuses_bad_ids(struct run *run) {
  check_refuses_ids(run, stats_rpc, prefixed(run, "GetVolumeStats", "volume id empty"));
}

/* ---- GetDiskNumberFromVolumeID ---- */

static void finds_the_disk_without_any_path(struct run *run) {
  char first[VOLUME_ID_BYTES], second[VOLUME_ID_BYTES];
  uint32_t disk = add_volume(run, "size=1G", NULL, first), other = add_volume(run, "size=1G", "ntfs", second);
  uint32_t found;
  check_ok(run, "GetDiskNumberFromVolumeID", disk_of(run, first, &found));
  check(run, found == disk, "it is %u, not %u", (unsigned)found, (unsigned)disk);
  check_ok(run, "GetDiskNumberFromVolumeID", disk_of(run, second, &found));
  check(run, found == other, "it is %u, not %u", (unsigned)found, (unsigned)other);
}

static enum csi_code disk_of_rpc(struct run *run, const char *id) {
  uint32_t disk;
  return disk_of(run, id, &disk);
}

static void disk_of_refuses_bad_ids(struct run *run) {
  check_refuses_ids(run, disk_of_rpc, prefixed(run, "GetDiskNumberFromVolumeID", "volume id empty"));
}

static void an_unplugged_volume_is_on_no_disk(struct run *run) {
  char id[VOLUME_ID_BYTES];
  uint32_t found, disk = add_volume(run, "size=1G", "ntfs", id);
  scene(run, "disk remove number=%u", (unsigned)disk);
  check(run, disk_of(run, id, &found) != CSI_OK, "it is on disk %u", (unsigned)found);
}

/* ---- WriteVolumeCache ---- */

static void flushes(struct run *run) {
  char id[VOLUME_ID_BYTES];
  uint32_t disk = add_volume(run, "size=1G", "ntfs", id);
  check_ok(run, "WriteVolumeCache", flush(run, id));
  scene(run, "disk set number=%u readonly=1", (unsigned)disk);
  check_ok(run, "WriteVolumeCache of a read-only disk", flush(run, id));
}

static void a_failed_flush_is_told(struct run *run) {
  char id[VOLUME_ID_BYTES];
  add_volume(run, "size=1G", "ntfs", id);
  scene(run, "fault add volume=%s call=FLUSH fail=0xC0000185", guid_of(run, id));
  check(run, flush(run, id) != CSI_OK, "success, and the device fails");
  check(run, strncmp(run->error.text, "error writing volume (", 22) == 0, "%s", run->error.text);
}

static void flush_refuses_bad_ids(struct run *run) {
  check_refuses_ids(run, flush, "volume id empty");
}

/* ---- MountVolume ---- */

/* A formatted volume, mounted on a folder of the case. */
static const char *mount_new(struct run *run, const char *name, char id[VOLUME_ID_BYTES],
                             uint32_t *disk_out) {
  const char *folder = in(run, name);
  uint32_t disk = add_volume(run, "size=1G", "ntfs", id);
  if (disk_out != NULL) *disk_out = disk;
  check_made(run, folder);
  check_ok(run, "MountVolume", mount_at(run, id, folder));
  return folder;
}

static void mounts_on_an_empty_folder(struct run *run) {
  char id[VOLUME_ID_BYTES];
  const char *folder = mount_new(run, "mount", id, NULL);
  check_is_link(run, folder, true);
  check_ok(run, "UnmountVolume", unmount_from(run, id, folder));
  check_is_link(run, folder, false);
  check_ok(run, "MountVolume, again", mount_at(run, id, folder));
  check_is_link(run, folder, true);
}

static void mounting_twice_is_mounting_once(struct run *run) {
  char id[VOLUME_ID_BYTES];
  const char *folder = mount_new(run, "mount", id, NULL);
  check_ok(run, "MountVolume, again", mount_at(run, id, folder));
  const char *without_backslash = path(run, "%.48s", id);
  check_ok(run, "MountVolume, spelled otherwise", mount_at(run, without_backslash, folder));
}

static void takes_paths_as_drivers_spell_them(struct run *run) {
  char id[VOLUME_ID_BYTES];
  add_volume(run, "size=1G", "ntfs", id);
  const char *folder = in(run, "mount");
  check_made(run, folder);
  char *slashes = (char *)path(run, "%s", folder + 2);
  for (char *at = slashes; *at != '\0'; at++)
    if (*at == '\\') *at = '/';
  check_ok(run, "MountVolume, without drive", mount_at(run, id, folder + 2));
  check_ok(run, "MountVolume, slashes", mount_at(run, id, slashes));
  check_ok(run, "MountVolume, backslash at the end", mount_at(run, id, path(run, "%s\\", folder)));
  check_ok(run, "UnmountVolume, slashes", unmount_from(run, id, slashes));
  check_is_link(run, folder, false);
}

static void does_not_mount_over_another_volume(struct run *run) {
  char first[VOLUME_ID_BYTES], second[VOLUME_ID_BYTES];
  const char *folder = mount_new(run, "mount", first, NULL);
  add_volume(run, "size=1G", "ntfs", second);
  check(run, mount_at(run, second, folder) != CSI_OK, "two volumes on one folder");
  check_refusal(run, CSI_UNKNOWN, CSI_FAILED_PRECONDITION, 0,
                path(run, "error mount volume (%s) to path %s. error: volume %s is mounted there", second,
                     folder, first));
}

static void does_not_mount_on_a_full_folder(struct run *run) {
  char id[VOLUME_ID_BYTES];
  add_volume(run, "size=1G", "ntfs", id);
  check_made(run, in(run, "full\\inside"));
  check(run, mount_at(run, id, in(run, "full")) != CSI_OK, "a folder that is not empty was taken");
  check(run,
        run->error.number == DIR_NOT_EMPTY && strstr(run->error.text, "The directory is not empty.") != NULL,
        "error %u: %s", (unsigned)run->error.number, run->error.text);
}

static void does_not_mount_on_nothing(struct run *run) {
  char id[VOLUME_ID_BYTES];
  add_volume(run, "size=1G", "ntfs", id);
  check(run, mount_at(run, id, in(run, "missing")) != CSI_OK, "a missing folder was taken");
  check(run, run->error.precise_code == CSI_NOT_FOUND, "%s: %s", csi_code_name(run->error.precise_code),
        run->error.text);
}

static void mount_refuses_what_is_empty(struct run *run) {
  check(run, mount_at(run, "", in(run, "mount")) != CSI_OK, "success with an empty volume id");
  check_refusal(run, CSI_UNKNOWN, CSI_INVALID_ARGUMENT, 0, "MountVolumeRequest.VolumeId is empty");
  check(run, mount_at(run, UNKNOWN_VOLUME, "") != CSI_OK, "success with an empty path");
  check_refusal(run, CSI_UNKNOWN, CSI_INVALID_ARGUMENT, 0, "MountVolumeRequest.TargetPath is empty");
}

static void mount_knows_no_such_volume(struct run *run) {
  check_made(run, in(run, "mount"));
  check(run, mount_at(run, UNKNOWN_VOLUME, in(run, "mount")) != CSI_OK,
        "a volume that is not there is mounted");
  check(run, run->error.precise_code == CSI_NOT_FOUND, "%s: %s", csi_code_name(run->error.precise_code),
        run->error.text);
  check_is_link(run, in(run, "mount"), false);
}

/* ---- UnmountVolume ---- */

static void unmounts_and_keeps_the_folder(struct run *run) {
  char id[VOLUME_ID_BYTES];
  const char *folder = mount_new(run, "mount", id, NULL);
  check_ok(run, "UnmountVolume", unmount_from(run, id, folder));
  check_exists(run, folder, true);
  check_is_link(run, folder, false);
  check_ok(run, "UnmountVolume, again", unmount_from(run, id, folder));
}

static void unmounts_what_has_vanished(struct run *run) {
  char id[VOLUME_ID_BYTES];
  uint32_t disk;
  const char *folder = mount_new(run, "mount", id, &disk);
  scene(run, "disk remove number=%u", (unsigned)disk);
  check_ok(run, "UnmountVolume", unmount_from(run, id, folder));
  check_is_link(run, folder, false);
}

static void does_not_unmount_another_volume(struct run *run) {
  char first[VOLUME_ID_BYTES], second[VOLUME_ID_BYTES];
  const char *folder = mount_new(run, "mount", first, NULL);
  add_volume(run, "size=1G", "ntfs", second);
  check(run, unmount_from(run, second, folder) != CSI_OK, "another volume was unmounted");
  const char *text = path(run, "error umount volume (%s) from path %s. error: volume %s is mounted there",
                          second, folder, first);
  check_refusal(run, CSI_UNKNOWN, CSI_FAILED_PRECONDITION, 0, prefixed(run, "UnmountVolume", text));
  check_is_link(run, folder, true);
}

static void unmount_refuses_what_is_empty(struct run *run) {
  check(run, unmount_from(run, "", in(run, "mount")) != CSI_OK, "success with an empty volume id");
  check_refusal(run, CSI_UNKNOWN, CSI_INVALID_ARGUMENT, 0, prefixed(run, "UnmountVolume", "volume id empty"));
  check(run, unmount_from(run, UNKNOWN_VOLUME, "") != CSI_OK, "success with an empty path");
  check_refusal(run, CSI_UNKNOWN, CSI_INVALID_ARGUMENT, 0,
                prefixed(run, "UnmountVolume", "target path empty"));
}

/* No RPC reaches into a volume, so that the node itself has to put something on it. */
static void check_on_volume(struct run *run, const char *id, int number) {
  const char *reply = scene(run, "directory exists path=%s%d", id, number);
  check(run, strcmp(reply, "yes\n") == 0, "directory %d on the volume is gone", number);
}

/* A driver's Rmdir(force) of what is still mounted must not reach into the volume. */
static void removing_the_folder_keeps_the_volume(struct run *run) {
  char id[VOLUME_ID_BYTES];
  const char *folder = mount_new(run, "mount", id, NULL);
  for (int i = 0; i < MANY_FILES && !run->failed; i++)
    scene(run, "directory add path=%s%d", id, i);
  check(run, rmdir_at(run, folder, true) == CSI_OK, "Rmdir: %s", run->error.text);
  check_exists(run, folder, false);
  for (int i = 0; i < MANY_FILES && !run->failed; i++)
    check_on_volume(run, id, i);
  check_made(run, folder);
  check_ok(run, "MountVolume", mount_at(run, id, folder));
}

/* ---- GetVolumeIDFromTargetPath ---- */

static void check_volume_at(struct run *run, const char *where, const char *expected) {
  char found[VOLUME_ID_BYTES];
  check(run, volume_at(run, where, found) == CSI_OK, "GetVolumeIDFromTargetPath(%s): %s", where,
        run->error.text);
  check(run, strcmp(found, expected) == 0, "%s is %s, not %s", where, found, expected);
}

static void finds_what_is_mounted(struct run *run) {
  char id[VOLUME_ID_BYTES];
  const char *folder = mount_new(run, "mount", id, NULL);
  check_volume_at(run, folder, id);
  check_volume_at(run, folder + 2, id);
  check(run, link_at(run, folder, in(run, "publish")) == CSI_OK, "CreateSymlink: %s", run->error.text);
  check(run, link_at(run, in(run, "publish"), in(run, "again")) == CSI_OK, "CreateSymlink: %s",
        run->error.text);
  check_volume_at(run, in(run, "publish"), id);
  check_volume_at(run, in(run, "again"), id);
}

static void names_a_volume_that_has_vanished(struct run *run) {
  char id[VOLUME_ID_BYTES];
  uint32_t disk;
  const char *folder = mount_new(run, "mount", id, &disk);
  scene(run, "disk remove number=%u", (unsigned)disk);
  check_volume_at(run, folder, id);
}

/* The regular expression by which the EBS driver tells "not mounted" from trouble; as plain text, since what
 * it looks for has no variable part here. */
static void check_not_mounted(struct run *run, const char *where) {
  char id[VOLUME_ID_BYTES];
  check(run, volume_at(run, where, id) != CSI_OK, "%s is %s", where, id);
  check(run,
        strstr(run->error.text, "(Get-Item -Path $Env:mountpath).Target, output: , error: <nil>") != NULL ||
            strstr(run->error.text, "because it does not exist") != NULL,
        "drivers do not understand: %s", run->error.text);
}

static void says_that_nothing_is_mounted(struct run *run) {
  check_not_mounted(run, run->directory);
  check_not_mounted(run, run->directory + 2);
  check_not_mounted(run, in(run, "missing"));
  check_not_mounted(run, in(run, "missing\\below"));
}

static void says_that_a_link_leads_to_no_mount(struct run *run) {
  check_made(run, in(run, "plain"));
  check(run, link_at(run, in(run, "plain"), in(run, "link")) == CSI_OK, "%s", run->error.text);
  check_not_mounted(run, in(run, "link"));
  check(run, link_at(run, in(run, "nothing"), in(run, "dangling")) == CSI_OK, "%s", run->error.text);
  check_not_mounted(run, in(run, "dangling"));
}

static void volume_at_refuses_an_empty_path(struct run *run) {
  char id[VOLUME_ID_BYTES];
  check(run, volume_at(run, "", id) != CSI_OK, "success with an empty path");
  check_refusal(run, CSI_UNKNOWN, CSI_INVALID_ARGUMENT, 0,
                prefixed(run, "GetVolumeIDFromTargetPath", "target path is empty"));
}

/* ---- GetClosestVolumeIDFromTargetPath ---- */

static void check_closest(struct run *run, const char *where, const char *expected) {
  char found[VOLUME_ID_BYTES];
  check_ok(run, where, closest_to(run, where, found));
  check(run, strcmp(found, expected) == 0, "%s is on %s, not %s", where, found, expected);
}

static void finds_the_volume_that_is_mounted(struct run *run) {
  char id[VOLUME_ID_BYTES];
  const char *folder = mount_new(run, "mount", id, NULL);
  check(run, link_at(run, folder, in(run, "link")) == CSI_OK, "CreateSymlink: %s", run->error.text);
  check_closest(run, folder, id);
  check_closest(run, in(run, "link"), id);
}

static void finds_the_volume_above(struct run *run) {
  char id[VOLUME_ID_BYTES];
  const char *folder = mount_new(run, "mount", id, NULL);
  scene(run, "directory add path=%sa\\b", id);
  check(run, link_at(run, folder, in(run, "link")) == CSI_OK, "CreateSymlink: %s", run->error.text);
  check_closest(run, path(run, "%s\\a\\b", folder), id);
  check_closest(run, path(run, "%s\\a", in(run, "link")), id);
}

static void finds_the_drive(struct run *run) {
  char id[VOLUME_ID_BYTES], found[VOLUME_ID_BYTES];
  add_volume(run, "size=1G", "ntfs", id);
  scene(run, "volume letter guid=%s letter=C", guid_of(run, id));
  check_ok(run, "GetClosestVolumeIDFromTargetPath", closest_to(run, run->directory, found));
  check(run, strcmp(found, id) == 0, "it is %s, not %s", found, id);
  check_ok(run, "GetClosestVolumeIDFromTargetPath, without drive",
           closest_to(run, run->directory + 2, found));
  check(run, strcmp(found, id) == 0, "it is %s, not %s", found, id);
}

static void closest_refuses_what_is_not_there(struct run *run) {
  char id[VOLUME_ID_BYTES];
  check(run, closest_to(run, "", id) != CSI_OK, "success with an empty path");
  check_refusal(run, CSI_UNKNOWN, CSI_INVALID_ARGUMENT, 0, "target path is empty");
  check(run, closest_to(run, in(run, "missing"), id) != CSI_OK, "success with a missing path");
  check_refusal(run, CSI_UNKNOWN, CSI_NOT_FOUND, FILE_NOT_FOUND,
                path(run, "error getting the closest volume for the path=%s, err=", in(run, "missing")));
}

/* ---- RPCs that a version lacks ---- */

static bool has_rpc(const char *version, const char *rpc) {
  bool alpha = strcmp(version, "v1alpha1") == 0, beta1 = strcmp(version, "v1beta1") == 0;
  if (strcmp(rpc, "GetVolumeStats") == 0 || strcmp(rpc, "GetDiskNumberFromVolumeID") == 0 ||
      strcmp(rpc, "GetVolumeIDFromTargetPath") == 0)
    return !alpha;
  if (strcmp(rpc, "WriteVolumeCache") == 0) return !alpha && !beta1;
  if (strcmp(rpc, "GetClosestVolumeIDFromTargetPath") == 0) return strcmp(version, "v2alpha1") == 0;
  return true;
}

static void rpcs_of_other_versions_are_unimplemented(struct run *run) {
  char id[VOLUME_ID_BYTES];
  if (!has_rpc(run->version, "GetVolumeStats")) {
    check(run, stats_rpc(run, UNKNOWN_VOLUME) == CSI_UNIMPLEMENTED, "%s", run->error.text);
    check(run, disk_of_rpc(run, UNKNOWN_VOLUME) == CSI_UNIMPLEMENTED, "%s", run->error.text);
    check(run, volume_at(run, run->directory, id) == CSI_UNIMPLEMENTED, "%s", run->error.text);
  }
  if (!has_rpc(run->version, "WriteVolumeCache"))
    check(run, flush(run, UNKNOWN_VOLUME) == CSI_UNIMPLEMENTED, "%s", run->error.text);
  if (!has_rpc(run->version, "GetClosestVolumeIDFromTargetPath"))
    check(run, closest_to(run, run->directory, id) == CSI_UNIMPLEMENTED, "%s", run->error.text);
}

static const struct test_case cases[] = {
    GOOD("ListVolumesOnDisk", NEEDS_NOTHING, lists_in_the_order_of_partitions),
    GOOD("ListVolumesOnDisk", NEEDS_NOTHING, lists_mbr_partitions),
    GOOD("ListVolumesOnDisk", NEEDS_NOTHING, ids_have_their_form),
    GOOD("ListVolumesOnDisk", NEEDS_NOTHING, a_disk_without_partitions_has_no_volumes),
    BAD("ListVolumesOnDisk", NEEDS_NOTHING, refuses_an_unknown_disk),
    BAD("ListVolumesOnDisk", NEEDS_NOTHING, refuses_an_unknown_partition),
    BAD("ListVolumesOnDisk", NEEDS_NOTHING, an_offline_disk_is_no_empty_one),
    GOOD("MountVolume", NEEDS_LINKS, mounts_on_an_empty_folder),
    GOOD("MountVolume", NEEDS_LINKS, mounting_twice_is_mounting_once),
    GOOD("MountVolume", NEEDS_LINKS, takes_paths_as_drivers_spell_them),
    BAD("MountVolume", NEEDS_LINKS, does_not_mount_over_another_volume),
    BAD("MountVolume", NEEDS_LINKS, does_not_mount_on_a_full_folder),
    BAD("MountVolume", NEEDS_NOTHING, does_not_mount_on_nothing),
    BAD("MountVolume", NEEDS_NOTHING, mount_refuses_what_is_empty),
    BAD("MountVolume", NEEDS_NOTHING, mount_knows_no_such_volume),
    GOOD("UnmountVolume", NEEDS_LINKS, unmounts_and_keeps_the_folder),
    GOOD("UnmountVolume", NEEDS_LINKS, unmounts_what_has_vanished),
    GOOD("UnmountVolume", NEEDS_FAKE, removing_the_folder_keeps_the_volume),
    BAD("UnmountVolume", NEEDS_LINKS, does_not_unmount_another_volume),
    BAD("UnmountVolume", NEEDS_NOTHING, unmount_refuses_what_is_empty),
    GOOD("IsVolumeFormatted", NEEDS_NOTHING, tells_formatted_from_raw),
    GOOD("IsVolumeFormatted", NEEDS_NOTHING, takes_ids_in_every_spelling),
    BAD("IsVolumeFormatted", NEEDS_NOTHING, does_not_call_foreign_data_unformatted),
    BAD("IsVolumeFormatted", NEEDS_NOTHING, does_not_call_what_it_cannot_read_unformatted),
    BAD("IsVolumeFormatted", NEEDS_NOTHING, is_formatted_refuses_bad_ids),
    GOOD("FormatVolume", NEEDS_NOTHING, formats_a_raw_volume),
    GOOD("FormatVolume", NEEDS_NOTHING, formats_again),
    BAD("FormatVolume", NEEDS_NOTHING, does_not_format_foreign_data),
    BAD("FormatVolume", NEEDS_NOTHING, does_not_format_the_system),
    BAD("FormatVolume", NEEDS_NOTHING, a_failed_format_can_be_repeated),
    BAD("FormatVolume", NEEDS_NOTHING, a_format_that_hangs_is_given_up),
    BAD("FormatVolume", NEEDS_NOTHING, format_refuses_bad_ids),
    GOOD("ResizeVolume", NEEDS_NOTHING, fills_the_disk),
    GOOD("ResizeVolume", NEEDS_NOTHING, fills_a_disk_of_4_kib_sectors),
    GOOD("ResizeVolume", NEEDS_NOTHING, grows_by_little),
    GOOD("ResizeVolume", NEEDS_NOTHING, grows_to_a_size),
    BAD("ResizeVolume", NEEDS_NOTHING, finishes_what_was_half_done),
    BAD("ResizeVolume", NEEDS_NOTHING, refuses_impossible_sizes),
    BAD("ResizeVolume", NEEDS_NOTHING, does_not_resize_the_system),
    BAD("ResizeVolume", NEEDS_NOTHING, resize_refuses_bad_ids),
    GOOD("GetVolumeStats", NEEDS_NOTHING, tells_size_and_use),
    GOOD("GetVolumeStats", NEEDS_NOTHING, an_unformatted_volume_has_nothing),
    BAD("GetVolumeStats", NEEDS_NOTHING, stats_refuses_bad_ids),
    GOOD("GetDiskNumberFromVolumeID", NEEDS_NOTHING, finds_the_disk_without_any_path),
    BAD("GetDiskNumberFromVolumeID", NEEDS_NOTHING, disk_of_refuses_bad_ids),
    BAD("GetDiskNumberFromVolumeID", NEEDS_NOTHING, an_unplugged_volume_is_on_no_disk),
    GOOD("GetVolumeIDFromTargetPath", NEEDS_LINKS, finds_what_is_mounted),
    GOOD("GetVolumeIDFromTargetPath", NEEDS_LINKS, names_a_volume_that_has_vanished),
    BAD("GetVolumeIDFromTargetPath", NEEDS_NOTHING, says_that_nothing_is_mounted),
    BAD("GetVolumeIDFromTargetPath", NEEDS_LINKS, says_that_a_link_leads_to_no_mount),
    BAD("GetVolumeIDFromTargetPath", NEEDS_NOTHING, volume_at_refuses_an_empty_path),
    GOOD("GetClosestVolumeIDFromTargetPath", NEEDS_LINKS, finds_the_volume_that_is_mounted),
    GOOD("GetClosestVolumeIDFromTargetPath", NEEDS_FAKE, finds_the_volume_above),
    GOOD("GetClosestVolumeIDFromTargetPath", NEEDS_FAKE, finds_the_drive),
    BAD("GetClosestVolumeIDFromTargetPath", NEEDS_NOTHING, closest_refuses_what_is_not_there),
    GOOD("WriteVolumeCache", NEEDS_NOTHING, flushes),
    BAD("WriteVolumeCache", NEEDS_NOTHING, a_failed_flush_is_told),
    BAD("WriteVolumeCache", NEEDS_NOTHING, flush_refuses_bad_ids),
    BAD("others' RPCs", NEEDS_NOTHING, rpcs_of_other_versions_are_unimplemented),
};

static const char *const versions[] = {"v1alpha1", "v1beta1", "v1beta2", "v1beta3", "v1", "v2alpha1", NULL};
static const char *const rpcs[] = {"ListVolumesOnDisk",
                                   "MountVolume",
                                   "UnmountVolume",
                                   "IsVolumeFormatted",
                                   "FormatVolume",
                                   "ResizeVolume",
                                   "GetVolumeStats",
                                   "GetDiskNumberFromVolumeID",
                                   "GetVolumeIDFromTargetPath",
                                   "GetClosestVolumeIDFromTargetPath",
                                   "WriteVolumeCache",
                                   "others' RPCs",
                                   NULL};

static const char *const other_groups[] = {"disk", "filesystem", NULL};

const struct suite volume_suite = {
    .group = "volume",
    .versions = versions,
    .rpcs = rpcs,
    .cases = cases,
    .case_count = sizeof cases / sizeof cases[0],
    .has_rpc = has_rpc,
    .other_groups = other_groups,
    .prepare = prepare_scene,
    .clean_up = clean_up_scene,
};
