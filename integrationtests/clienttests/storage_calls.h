/* SPDX-License-Identifier: Apache-2.0
 *
 * The RPCs of the disk and volume groups. Each returns the code and leaves the error in run->error; what
 * they give out is empty when they fail.
 */
#ifndef CSI_CLIENTTESTS_STORAGE_CALLS_H
#define CSI_CLIENTTESTS_STORAGE_CALLS_H

#include "harness.h"

enum {
  NAME_BYTES = 256,
  VOLUME_ID_BYTES = 64,
  VOLUMES_MAX = 16,
};

/* What the two lists say of one disk. */
struct disk_names {
  bool is_listed;
  char page83[NAME_BYTES];
  char serial_number[NAME_BYTES];
};

struct disk_location {
  bool is_listed;
  char adapter[8], bus[8], target[8], lun[8];
};

struct volume_ids {
  size_t count;
  char ids[VOLUMES_MAX][VOLUME_ID_BYTES];
};

/* The disk group. */
enum csi_code find_location(struct run *run, uint32_t disk, struct disk_location *location_out);
enum csi_code find_names(struct run *run, uint32_t disk, struct disk_names *names_out);
enum csi_code number_of_name(struct run *run, const char *name, uint32_t *disk_out);
enum csi_code partition(struct run *run, uint32_t disk);
enum csi_code rescan(struct run *run);
enum csi_code size_of(struct run *run, uint32_t disk, int64_t *bytes_out);
enum csi_code set_online(struct run *run, uint32_t disk, bool online);
enum csi_code is_online(struct run *run, uint32_t disk, bool *online_out);

/* The volume group. */
enum csi_code list_volumes(struct run *run, uint32_t disk, uint32_t partition, struct volume_ids *ids_out);
enum csi_code mount_at(struct run *run, const char *volume, const char *path);
enum csi_code unmount_from(struct run *run, const char *volume, const char *path);
enum csi_code is_formatted(struct run *run, const char *volume, bool *formatted_out);
enum csi_code format(struct run *run, const char *volume);
enum csi_code resize(struct run *run, const char *volume, int64_t size_bytes);
enum csi_code stats_of(struct run *run, const char *volume, int64_t *total_out, int64_t *used_out);
enum csi_code disk_of(struct run *run, const char *volume, uint32_t *disk_out);
enum csi_code volume_at(struct run *run, const char *path, char id_out[VOLUME_ID_BYTES]);
enum csi_code closest_to(struct run *run, const char *path, char id_out[VOLUME_ID_BYTES]);
enum csi_code flush(struct run *run, const char *volume);

#endif
