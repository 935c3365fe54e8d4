/* SPDX-License-Identifier: Apache-2.0 */
#include <csi-proxy/disk.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "calls.h"

static enum csi_code list_disk_locations(struct call *call) {
  CALL(disk, list_disk_locations, 0);
  for (size_t i = 0; code == CSI_OK && i < response->disk_locations_count; i++) {
    const struct csi_disk_disk_location *location = &response->disk_locations[i].value;
    printf("disk=%u adapter=%s bus=%s target=%s lun=%s\n", response->disk_locations[i].key, location->adapter,
           location->bus, location->target, location->lunid);
  }
  csi_response_free(response);
  return code;
}

static enum csi_code list_disk_ids(struct call *call) {
  CALL(disk, list_disk_ids, 0);
  for (size_t i = 0; code == CSI_OK && i < response->disk_ids_count; i++)
    printf("disk=%u page83=<%s> serial=<%s>\n", response->disk_ids[i].key, response->disk_ids[i].value.page83,
           response->disk_ids[i].value.serial_number);
  csi_response_free(response);
  return code;
}

static enum csi_code partition_disk(struct call *call) {
  CALL(disk, partition_disk, call_number(call->word[0]));
  csi_response_free(response);
  return code;
}

static enum csi_code rescan(struct call *call) {
  CALL(disk, rescan, 0);
  csi_response_free(response);
  return code;
}

static enum csi_code get_disk_stats(struct call *call) {
  CALL(disk, get_disk_stats, call_number(call->word[0]));
  if (code == CSI_OK) printf("total=%" PRId64 "\n", response->total_bytes);
  csi_response_free(response);
  return code;
}

static enum csi_code set_disk_state(struct call *call) {
  CALL(disk, set_disk_state, call_number(call->word[0]), strcmp(call->word[1], "online") == 0);
  csi_response_free(response);
  return code;
}

static enum csi_code get_disk_state(struct call *call) {
  CALL(disk, get_disk_state, call_number(call->word[0]));
  if (code == CSI_OK) printf("online=%d\n", response->is_online);
  csi_response_free(response);
  return code;
}

const struct call_rpc disk_rpcs[] = {
    {"ListDiskLocations", list_disk_locations}, /* */
    {"ListDiskIDs", list_disk_ids},             /* */
    {"PartitionDisk", partition_disk},          /* DISK */
    {"Rescan", rescan},                         /* */
    {"GetDiskStats", get_disk_stats},           /* DISK */
    {"SetDiskState", set_disk_state},           /* DISK online|offline */
    {"GetDiskState", get_disk_state},           /* DISK */
    {NULL, NULL},
};
