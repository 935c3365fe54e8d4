/* SPDX-License-Identifier: Apache-2.0 */
#include "storage_calls.h"

#include <csi-proxy/disk.h>
#include <csi-proxy/volume.h>
#include <stdio.h>
#include <string.h>

static void copy(char *to, size_t capacity_bytes, const char *from) {
  snprintf(to, capacity_bytes, "%s", from);
}

/* ---- Disk ---- */

enum csi_code find_location(struct run *run, uint32_t disk, struct disk_location *location_out) {
  struct csi_call_options options = call_options(run);
  struct csi_disk_list_disk_locations_request request = {0};
  struct csi_disk_list_disk_locations_response *response;
  run->error = (struct csi_error){0};
  enum csi_code code = csi_disk_list_disk_locations(run->disk, &request, &options, &response, &run->error);
  *location_out = (struct disk_location){0};
  for (size_t i = 0; code == CSI_OK && i < response->disk_locations_count; i++) {
    if (response->disk_locations[i].key != disk) continue;
    const struct csi_disk_disk_location *found = &response->disk_locations[i].value;
    location_out->is_listed = true;
    copy(location_out->adapter, sizeof location_out->adapter, found->adapter);
    copy(location_out->bus, sizeof location_out->bus, found->bus);
    copy(location_out->target, sizeof location_out->target, found->target);
    copy(location_out->lun, sizeof location_out->lun, found->lunid);
  }
  csi_response_free(response);
  return code;
}

enum csi_code find_names(struct run *run, uint32_t disk, struct disk_names *names_out) {
  struct csi_call_options options = call_options(run);
  struct csi_disk_list_disk_ids_request request = {0};
  struct csi_disk_list_disk_ids_response *response;
  run->error = (struct csi_error){0};
  enum csi_code code = csi_disk_list_disk_ids(run->disk, &request, &options, &response, &run->error);
  *names_out = (struct disk_names){0};
  for (size_t i = 0; code == CSI_OK && i < response->disk_ids_count; i++) {
    if (response->disk_ids[i].key != disk) continue;
    names_out->is_listed = true;
    copy(names_out->page83, sizeof names_out->page83, response->disk_ids[i].value.page83);
    copy(names_out->serial_number, sizeof names_out->serial_number,
         response->disk_ids[i].value.serial_number);
  }
  csi_response_free(response);
  return code;
}

enum csi_code number_of_name(struct run *run, const char *name, uint32_t *disk_out) {
  struct csi_call_options options = call_options(run);
  struct csi_disk_get_disk_number_by_name_request request = {.disk_name = name};
  struct csi_disk_get_disk_number_by_name_response *response;
  run->error = (struct csi_error){0};
  enum csi_code code =
      csi_disk_get_disk_number_by_name(run->disk, &request, &options, &response, &run->error);
  *disk_out = code == CSI_OK ? response->disk_number : UINT32_MAX;
  csi_response_free(response);
  return code;
}

enum csi_code partition(struct run *run, uint32_t disk) {
  struct csi_call_options options = call_options(run);
  struct csi_disk_partition_disk_request request = {.disk_number = disk};
  struct csi_disk_partition_disk_response *response;
  run->error = (struct csi_error){0};
  enum csi_code code = csi_disk_partition_disk(run->disk, &request, &options, &response, &run->error);
  csi_response_free(response);
  return code;
}

enum csi_code rescan(struct run *run) {
  struct csi_call_options options = call_options(run);
  struct csi_disk_rescan_request request = {0};
  struct csi_disk_rescan_response *response;
  run->error = (struct csi_error){0};
  enum csi_code code = csi_disk_rescan(run->disk, &request, &options, &response, &run->error);
  csi_response_free(response);
  return code;
}

enum csi_code size_of(struct run *run, uint32_t disk, int64_t *bytes_out) {
  struct csi_call_options options = call_options(run);
  struct csi_disk_get_disk_stats_request request = {.disk_number = disk};
  struct csi_disk_get_disk_stats_response *response;
  run->error = (struct csi_error){0};
  enum csi_code code = csi_disk_get_disk_stats(run->disk, &request, &options, &response, &run->error);
  *bytes_out = code == CSI_OK ? response->total_bytes : -1;
  csi_response_free(response);
  return code;
}

enum csi_code set_online(struct run *run, uint32_t disk, bool online) {
  struct csi_call_options options = call_options(run);
  struct csi_disk_set_disk_state_request request = {.disk_number = disk, .is_online = online};
  struct csi_disk_set_disk_state_response *response;
  run->error = (struct csi_error){0};
  enum csi_code code = csi_disk_set_disk_state(run->disk, &request, &options, &response, &run->error);
  csi_response_free(response);
  return code;
}

enum csi_code is_online(struct run *run, uint32_t disk, bool *online_out) {
  struct csi_call_options options = call_options(run);
  struct csi_disk_get_disk_state_request request = {.disk_number = disk};
  struct csi_disk_get_disk_state_response *response;
  run->error = (struct csi_error){0};
  enum csi_code code = csi_disk_get_disk_state(run->disk, &request, &options, &response, &run->error);
  *online_out = code == CSI_OK && response->is_online;
  csi_response_free(response);
  return code;
}

/* ---- Volume ---- */

enum csi_code list_volumes(struct run *run, uint32_t disk, uint32_t partition_number,
                           struct volume_ids *ids_out) {
  struct csi_call_options options = call_options(run);
  struct csi_volume_list_volumes_on_disk_request request = {.disk_number = disk,
                                                            .partition_number = partition_number};
  struct csi_volume_list_volumes_on_disk_response *response;
  run->error = (struct csi_error){0};
  enum csi_code code =
      csi_volume_list_volumes_on_disk(run->volume, &request, &options, &response, &run->error);
  *ids_out = (struct volume_ids){0};
  if (code == CSI_OK) {
    check(run, response->volume_ids_count <= VOLUMES_MAX, "%zu volumes", response->volume_ids_count);
    for (size_t i = 0; i < response->volume_ids_count && i < VOLUMES_MAX; i++)
      copy(ids_out->ids[ids_out->count++], VOLUME_ID_BYTES, response->volume_ids[i]);
  }
  csi_response_free(response);
  return code;
}

enum csi_code mount_at(struct run *run, const char *volume, const char *where) {
  struct csi_call_options options = call_options(run);
  struct csi_volume_mount_volume_request request = {.volume_id = volume, .target_path = where};
  struct csi_volume_mount_volume_response *response;
  run->error = (struct csi_error){0};
  enum csi_code code = csi_volume_mount_volume(run->volume, &request, &options, &response, &run->error);
  csi_response_free(response);
  return code;
}

enum csi_code unmount_from(struct run *run, const char *volume, const char *where) {
  struct csi_call_options options = call_options(run);
  struct csi_volume_unmount_volume_request request = {.volume_id = volume, .target_path = where};
  struct csi_volume_unmount_volume_response *response;
  run->error = (struct csi_error){0};
  enum csi_code code = csi_volume_unmount_volume(run->volume, &request, &options, &response, &run->error);
  csi_response_free(response);
  return code;
}

enum csi_code is_formatted(struct run *run, const char *volume, bool *formatted_out) {
  struct csi_call_options options = call_options(run);
  struct csi_volume_is_volume_formatted_request request = {.volume_id = volume};
  struct csi_volume_is_volume_formatted_response *response;
  run->error = (struct csi_error){0};
  enum csi_code code =
      csi_volume_is_volume_formatted(run->volume, &request, &options, &response, &run->error);
  *formatted_out = code == CSI_OK && response->formatted;
  csi_response_free(response);
  return code;
}

enum csi_code format(struct run *run, const char *volume) {
  struct csi_call_options options = call_options(run);
  struct csi_volume_format_volume_request request = {.volume_id = volume};
  struct csi_volume_format_volume_response *response;
  run->error = (struct csi_error){0};
  enum csi_code code = csi_volume_format_volume(run->volume, &request, &options, &response, &run->error);
  csi_response_free(response);
  return code;
}

enum csi_code resize(struct run *run, const char *volume, int64_t size_bytes) {
  struct csi_call_options options = call_options(run);
  struct csi_volume_resize_volume_request request = {.volume_id = volume, .size_bytes = size_bytes};
  struct csi_volume_resize_volume_response *response;
  run->error = (struct csi_error){0};
  enum csi_code code = csi_volume_resize_volume(run->volume, &request, &options, &response, &run->error);
  csi_response_free(response);
  return code;
}

enum csi_code stats_of(struct run *run, const char *volume, int64_t *total_out, int64_t *used_out) {
  struct csi_call_options options = call_options(run);
  struct csi_volume_get_volume_stats_request request = {.volume_id = volume};
  struct csi_volume_get_volume_stats_response *response;
  run->error = (struct csi_error){0};
  enum csi_code code = csi_volume_get_volume_stats(run->volume, &request, &options, &response, &run->error);
  *total_out = code == CSI_OK ? response->total_bytes : -1;
  *used_out = code == CSI_OK ? response->used_bytes : -1;
  csi_response_free(response);
  return code;
}

enum csi_code disk_of(struct run *run, const char *volume, uint32_t *disk_out) {
  struct csi_call_options options = call_options(run);
  struct csi_volume_get_disk_number_from_volume_id_request request = {.volume_id = volume};
  struct csi_volume_get_disk_number_from_volume_id_response *response;
  run->error = (struct csi_error){0};
  enum csi_code code =
      csi_volume_get_disk_number_from_volume_id(run->volume, &request, &options, &response, &run->error);
  *disk_out = code == CSI_OK ? response->disk_number : UINT32_MAX;
  csi_response_free(response);
  return code;
}

enum csi_code volume_at(struct run *run, const char *where, char id_out[VOLUME_ID_BYTES]) {
  struct csi_call_options options = call_options(run);
  struct csi_volume_get_volume_id_from_target_path_request request = {.target_path = where};
  struct csi_volume_get_volume_id_from_target_path_response *response;
  run->error = (struct csi_error){0};
  enum csi_code code =
      csi_volume_get_volume_id_from_target_path(run->volume, &request, &options, &response, &run->error);
  copy(id_out, VOLUME_ID_BYTES, code == CSI_OK ? response->volume_id : "");
  csi_response_free(response);
  return code;
}

enum csi_code closest_to(struct run *run, const char *where, char id_out[VOLUME_ID_BYTES]) {
  struct csi_call_options options = call_options(run);
  struct csi_volume_get_closest_volume_id_from_target_path_request request = {.target_path = where};
  struct csi_volume_get_closest_volume_id_from_target_path_response *response;
  run->error = (struct csi_error){0};
  enum csi_code code = csi_volume_get_closest_volume_id_from_target_path(run->volume, &request, &options,
                                                                         &response, &run->error);
  copy(id_out, VOLUME_ID_BYTES, code == CSI_OK ? response->volume_id : "");
  csi_response_free(response);
  return code;
}

enum csi_code flush(struct run *run, const char *volume) {
  struct csi_call_options options = call_options(run);
  struct csi_volume_write_volume_cache_request request = {.volume_id = volume};
  struct csi_volume_write_volume_cache_response *response;
  run->error = (struct csi_error){0};
  enum csi_code code = csi_volume_write_volume_cache(run->volume, &request, &options, &response, &run->error);
  csi_response_free(response);
  return code;
}
