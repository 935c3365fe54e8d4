/* SPDX-License-Identifier: Apache-2.0
 *
 * volume                       shows the versions of the volume group that this node serves
 * volume DISK                  shows the volumes on a disk
 * volume stage DISK FOLDER     formats the first volume on a disk unless it is formatted, lets it fill the
 *                              disk, makes the folder and mounts the volume on it
 * volume unstage FOLDER        finds out which volume is mounted on a folder, and unmounts it
 *
 * In place of pipes, CSI_PROXY_ENDPOINT_FORMAT may name other endpoints (see csi_client_options).
 */
#include <csi-proxy/client.h>
#include <csi-proxy/filesystem.h>
#include <csi-proxy/volume.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "show.h"

enum {
  VOLUME_ID_BYTES = 64,
};

static const struct csi_call_options in_time = {.timeout_ms = CALL_TIMEOUT_MS};
static const struct csi_call_options in_long_time = {.timeout_ms = LONG_CALL_TIMEOUT_MS};

/* ---- The RPCs, each with its line of output. ---- */

static bool is_formatted(struct csi_client *client, const char *volume, bool *formatted_out) {
  struct csi_volume_is_volume_formatted_request request = {.volume_id = volume};
  struct csi_volume_is_volume_formatted_response *response;
  struct csi_error error;
  long long started_us = now_us();
  enum csi_code code = csi_volume_is_volume_formatted(client, &request, &in_time, &response, &error);
  *formatted_out = code == CSI_OK && response->formatted;
  csi_response_free(response);
  return show_outcome("IsFormatted", volume, *formatted_out ? "yes" : "no", started_us, code, &error);
}

static bool format(struct csi_client *client, const char *volume) {
  struct csi_volume_format_volume_request request = {.volume_id = volume};
  struct csi_volume_format_volume_response *response;
  struct csi_error error;
  long long started_us = now_us();
  enum csi_code code = csi_volume_format_volume(client, &request, &in_long_time, &response, &error);
  csi_response_free(response);
  return show_outcome("FormatVolume", volume, "NTFS", started_us, code, &error);
}

static bool fill_disk(struct csi_client *client, const char *volume) {
  struct csi_volume_resize_volume_request request = {.volume_id = volume, .size_bytes = 0};
  struct csi_volume_resize_volume_response *response;
  struct csi_error error;
  long long started_us = now_us();
  enum csi_code code = csi_volume_resize_volume(client, &request, &in_long_time, &response, &error);
  csi_response_free(response);
  return show_outcome("ResizeVolume", volume, "done", started_us, code, &error);
}

static bool mount(struct csi_client *client, const char *volume, const char *folder) {
  struct csi_volume_mount_volume_request request = {.volume_id = volume, .target_path = folder};
  struct csi_volume_mount_volume_response *response;
  struct csi_error error;
  long long started_us = now_us();
  enum csi_code code = csi_volume_mount_volume(client, &request, &in_long_time, &response, &error);
  csi_response_free(response);
  return show_outcome("MountVolume", folder, "mounted", started_us, code, &error);
}

static bool unmount(struct csi_client *client, const char *volume, const char *folder) {
  struct csi_volume_unmount_volume_request request = {.volume_id = volume, .target_path = folder};
  struct csi_volume_unmount_volume_response *response;
  struct csi_error error;
  long long started_us = now_us();
  enum csi_code code = csi_volume_unmount_volume(client, &request, &in_long_time, &response, &error);
  csi_response_free(response);
  return show_outcome("UnmountVolume", folder, "gone", started_us, code, &error);
}

static bool show_use(struct csi_client *client, const char *volume) {
  struct csi_volume_get_volume_stats_request request = {.volume_id = volume};
  struct csi_volume_get_volume_stats_response *response;
  struct csi_error error;
  char result[64] = "";
  long long started_us = now_us();
  enum csi_code code = csi_volume_get_volume_stats(client, &request, &in_time, &response, &error);
  if (code == CSI_OK) {
    snprintf(result, sizeof result, "%" PRId64 " of %" PRId64 " MiB", response->used_bytes >> 20,
             response->total_bytes >> 20);
  }
  csi_response_free(response);
  return show_outcome("VolumeStats", volume, result, started_us, code, &error);
}

static bool find_mounted(struct csi_client *client, const char *folder, char volume_out[VOLUME_ID_BYTES]) {
  struct csi_volume_get_volume_id_from_target_path_request request = {.target_path = folder};
  struct csi_volume_get_volume_id_from_target_path_response *response;
  struct csi_error error;
  long long started_us = now_us();
  enum csi_code code =
      csi_volume_get_volume_id_from_target_path(client, &request, &in_time, &response, &error);
  if (code == CSI_OK) snprintf(volume_out, VOLUME_ID_BYTES, "%s", response->volume_id);
  csi_response_free(response);
  return show_outcome("VolumeAtPath", folder, code == CSI_OK ? volume_out : "", started_us, code, &error);
}

/* Directories are another group's, and have a client of their own. */
static bool make_folder(const struct csi_client_options *options, const char *folder) {
  struct csi_filesystem_mkdir_request request = {.path = folder};
  struct csi_filesystem_mkdir_response *response = NULL;
  struct csi_client *client;
  struct csi_error error;
  long long started_us = now_us();
  enum csi_code code = csi_client_connect("filesystem", NULL, options, &client, &error);
  if (code == CSI_OK) code = csi_filesystem_mkdir(client, &request, &in_time, &response, &error);
  csi_response_free(response);
  csi_client_close(client);
  return show_outcome("Mkdir", folder, "made", started_us, code, &error);
}

/* ---- What is made of them. ---- */

static bool list(struct csi_client *client, uint32_t disk,
                 struct csi_volume_list_volumes_on_disk_response **response_out) {
  struct csi_volume_list_volumes_on_disk_request request = {.disk_number = disk};
  struct csi_error error;
  if (csi_volume_list_volumes_on_disk(client, &request, &in_time, response_out, &error) == CSI_OK)
    return true;
  show_error(&error);
  return false;
}

static bool show_volumes(struct csi_client *client, uint32_t disk) {
  struct csi_volume_list_volumes_on_disk_response *volumes;
  if (!list(client, disk, &volumes)) return false;
  printf("%zu volumes on disk %" PRIu32 ":\n", volumes->volume_ids_count, disk);
  bool ok = true;
  for (size_t i = 0; i < volumes->volume_ids_count; i++) {
    bool formatted;
    ok = is_formatted(client, volumes->volume_ids[i], &formatted) &&
         (!formatted || show_use(client, volumes->volume_ids[i])) && ok;
  }
  csi_response_free(volumes);
  return ok;
}

static bool stage(struct csi_client *client, const struct csi_client_options *options, uint32_t disk,
                  const char *folder) {
  struct csi_volume_list_volumes_on_disk_response *volumes;
  if (!list(client, disk, &volumes)) return false;
  bool ok = volumes->volume_ids_count > 0;
  if (!ok) printf("there is no volume on disk %" PRIu32 "; try \"disk prepare\"\n", disk);
  if (ok) {
    const char *volume = volumes->volume_ids[0];
    bool formatted;
    ok = is_formatted(client, volume, &formatted) && (formatted || format(client, volume)) &&
         fill_disk(client, volume) && make_folder(options, folder) && mount(client, volume, folder) &&
         show_use(client, volume);
  }
  csi_response_free(volumes);
  return ok;
}

static bool unstage(struct csi_client *client, const char *folder) {
  char volume[VOLUME_ID_BYTES];
  return find_mounted(client, folder, volume) && unmount(client, volume, folder);
}

static bool parse_disk(const char *text, uint32_t *number_out) {
  char *end;
  unsigned long number = strtoul(text, &end, 10);
  if (*text == '\0' || *end != '\0' || number > UINT32_MAX) {
    printf("%s is no disk number\n", text);
    return false;
  }
  *number_out = (uint32_t)number;
  return true;
}

static bool run(struct csi_client *client, const struct csi_client_options *options, int argc, char **argv) {
  uint32_t disk;
  if (argc == 1) return true;
  if (argc == 3) return unstage(client, argv[2]);
  if (!parse_disk(argv[argc == 2 ? 1 : 2], &disk)) return false;
  return argc == 2 ? show_volumes(client, disk) : stage(client, options, disk, argv[3]);
}

int main(int argc, char **argv) {
  static const char *const versions[] = {"v1", "v1beta3", "v1beta2", "v1beta1", "v1alpha1", "v2alpha1", NULL};
  bool stages = argc == 4 && strcmp(argv[1], "stage") == 0;
  bool unstages = argc == 3 && strcmp(argv[1], "unstage") == 0;
  if (argc > 2 && !stages && !unstages) {
    fprintf(stderr, "usage: volume [DISK | stage DISK FOLDER | unstage FOLDER]\n");
    return 2;
  }
  struct csi_client_options options = {.endpoint_format = getenv("CSI_PROXY_ENDPOINT_FORMAT")};
  if (argc == 1) show_versions("volume", versions, &options);

  struct csi_client *client = connect_or_explain("volume", &options);
  if (client == NULL) return EXIT_FAILURE;
  bool ok = run(client, &options, argc, argv);
  csi_client_close(client);
  return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
