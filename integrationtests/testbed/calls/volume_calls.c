/* SPDX-License-Identifier: Apache-2.0 */
#include <csi-proxy/volume.h>
#include <inttypes.h>
#include <stdio.h>

#include "calls.h"

static enum csi_code list_volumes_on_disk(struct call *call) {
  CALL(volume, list_volumes_on_disk, call_number(call->word[0]), call_number(call->word[1]));
  for (size_t i = 0; code == CSI_OK && i < response->volume_ids_count; i++)
    printf("volume=%s\n", response->volume_ids[i]);
  csi_response_free(response);
  return code;
}

static enum csi_code mount_volume(struct call *call) {
  CALL(volume, mount_volume, call->word[0], call->word[1]);
  csi_response_free(response);
  return code;
}

static enum csi_code unmount_volume(struct call *call) {
  CALL(volume, unmount_volume, call->word[0], call->word[1]);
  csi_response_free(response);
  return code;
}

static enum csi_code is_volume_formatted(struct call *call) {
  CALL(volume, is_volume_formatted, call->word[0]);
  if (code == CSI_OK) printf("formatted=%d\n", response->formatted);
  csi_response_free(response);
  return code;
}

static enum csi_code format_volume(struct call *call) {
  CALL(volume, format_volume, call->word[0]);
  csi_response_free(response);
  return code;
}

static enum csi_code resize_volume(struct call *call) {
  CALL(volume, resize_volume, call->word[0], call_size(call->word[1]));
  csi_response_free(response);
  return code;
}

static enum csi_code get_volume_stats(struct call *call) {
  CALL(volume, get_volume_stats, call->word[0]);
  if (code == CSI_OK)
    printf("total=%" PRId64 " used=%" PRId64 "\n", response->total_bytes, response->used_bytes);
  csi_response_free(response);
  return code;
}

static enum csi_code get_disk_number_from_volume_id(struct call *call) {
  CALL(volume, get_disk_number_from_volume_id, call->word[0]);
  if (code == CSI_OK) printf("disk=%u\n", response->disk_number);
  csi_response_free(response);
  return code;
}

static enum csi_code get_volume_id_from_target_path(struct call *call) {
  CALL(volume, get_volume_id_from_target_path, call->word[0]);
  if (code == CSI_OK) printf("volume=%s\n", response->volume_id);
  csi_response_free(response);
  return code;
}

static enum csi_code get_closest_volume_id_from_target_path(struct call *call) {
  CALL(volume, get_closest_volume_id_from_target_path, call->word[0]);
  if (code == CSI_OK) printf("volume=%s\n", response->volume_id);
  csi_response_free(response);
  return code;
}

static enum csi_code write_volume_cache(struct call *call) {
  CALL(volume, write_volume_cache, call->word[0]);
  csi_response_free(response);
  return code;
}

const struct call_rpc volume_rpcs[] = {
    {"ListVolumesOnDisk", list_volumes_on_disk},                                  /* DISK [PARTITION] */
    {"MountVolume", mount_volume},                                                /* VOLUME PATH */
    {"UnmountVolume", unmount_volume},                                            /* VOLUME PATH */
    {"IsVolumeFormatted", is_volume_formatted},                                   /* VOLUME */
    {"FormatVolume", format_volume},                                              /* VOLUME */
    {"ResizeVolume", resize_volume},                                              /* VOLUME BYTES */
    {"GetVolumeStats", get_volume_stats},                                         /* VOLUME */
    {"GetDiskNumberFromVolumeID", get_disk_number_from_volume_id},                /* VOLUME */
    {"GetVolumeIDFromTargetPath", get_volume_id_from_target_path},                /* PATH */
    {"GetClosestVolumeIDFromTargetPath", get_closest_volume_id_from_target_path}, /* PATH */
    {"WriteVolumeCache", write_volume_cache},                                     /* VOLUME */
    {NULL, NULL},
};
