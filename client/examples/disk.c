/* SPDX-License-Identifier: Apache-2.0
 *
 * disk                   shows the versions of the disk group that this node serves, and its disks
 * disk prepare NUMBER    makes a volume of a disk: rescan, partition, online
 * disk offline NUMBER    takes a disk offline, as before it is detached
 *
 * In place of pipes, CSI_PROXY_ENDPOINT_FORMAT may name other endpoints (see csi_client_options).
 */
#include <csi-proxy/client.h>
#include <csi-proxy/disk.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "show.h"

static const struct csi_call_options in_time = {.timeout_ms = CALL_TIMEOUT_MS};
static const struct csi_call_options in_long_time = {.timeout_ms = LONG_CALL_TIMEOUT_MS};

/* ---- All disks. ---- */

/* "port 0 target 1 lun 3" of a disk; "" when it has no bus address. */
static void find_location(const struct csi_disk_list_disk_locations_response *locations, uint32_t number,
                          char *text, size_t text_bytes) {
  text[0] = '\0';
  for (size_t i = 0; i < locations->disk_locations_count; i++) {
    if (locations->disk_locations[i].key != number) continue;
    const struct csi_disk_disk_location *where = &locations->disk_locations[i].value;
    snprintf(text, text_bytes, "%s.%s.%s.%s", where->adapter, where->bus, where->target, where->lunid);
  }
}

/* Size and state are asked for one disk at a time; a disk may go away between two calls. */
static void show_disk(struct csi_client *client, uint32_t number, const struct csi_disk_disk_ids *ids,
                      const char *location) {
  struct csi_disk_get_disk_stats_request stats_request = {.disk_number = number};
  struct csi_disk_get_disk_stats_response *stats;
  struct csi_disk_get_disk_state_request state_request = {.disk_number = number};
  struct csi_disk_get_disk_state_response *state;
  struct csi_error error;
  if (csi_disk_get_disk_stats(client, &stats_request, &in_time, &stats, &error) != CSI_OK) {
    show_error(&error);
    return;
  }
  if (csi_disk_get_disk_state(client, &state_request, &in_time, &state, &error) == CSI_OK) {
    printf("  %6" PRIu32 "  %8" PRId64 " MiB  %-7s  %-12s  %-28s  %s\n", number, stats->total_bytes >> 20,
           state->is_online ? "online" : "offline", location, ids->serial_number, ids->page83);
  } else {
    show_error(&error);
  }
  csi_response_free(state);
  csi_response_free(stats);
}

static bool show_disks(struct csi_client *client) {
  const struct csi_disk_list_disk_ids_request ids_request = {0};
  const struct csi_disk_list_disk_locations_request locations_request = {0};
  struct csi_disk_list_disk_ids_response *ids;
  struct csi_disk_list_disk_locations_response *locations = NULL;
  struct csi_error error;
  bool listed =
      csi_disk_list_disk_ids(client, &ids_request, &in_time, &ids, &error) == CSI_OK &&
      csi_disk_list_disk_locations(client, &locations_request, &in_time, &locations, &error) == CSI_OK;
  if (!listed) show_error(&error);
  if (listed)
    printf("\n  number          size  state    location      serial number                 page 83\n");
  for (size_t i = 0; listed && i < ids->disk_ids_count; i++) {
    char location[64];
    find_location(locations, ids->disk_ids[i].key, location, sizeof location);
    show_disk(client, ids->disk_ids[i].key, &ids->disk_ids[i].value, location);
  }
  csi_response_free(locations);
  csi_response_free(ids);
  return listed;
}

/* ---- One disk. ---- */

static bool rescan(struct csi_client *client) {
  const struct csi_disk_rescan_request request = {0};
  struct csi_disk_rescan_response *response;
  struct csi_error error;
  long long started_us = now_us();
  enum csi_code code = csi_disk_rescan(client, &request, &in_long_time, &response, &error);
  csi_response_free(response);
  return show_outcome("Rescan", "", "done", started_us, code, &error);
}

static bool partition(struct csi_client *client, uint32_t number, const char *name) {
  struct csi_disk_partition_disk_request request = {.disk_number = number};
  struct csi_disk_partition_disk_response *response;
  struct csi_error error;
  long long started_us = now_us();
  enum csi_code code = csi_disk_partition_disk(client, &request, &in_long_time, &response, &error);
  csi_response_free(response);
  return show_outcome("PartitionDisk", name, "done", started_us, code, &error);
}

static bool set_state(struct csi_client *client, uint32_t number, const char *name, bool is_online) {
  struct csi_disk_set_disk_state_request request = {.disk_number = number, .is_online = is_online};
  struct csi_disk_set_disk_state_response *response;
  struct csi_error error;
  long long started_us = now_us();
  enum csi_code code = csi_disk_set_disk_state(client, &request, &in_long_time, &response, &error);
  csi_response_free(response);
  return show_outcome("SetDiskState", name, is_online ? "online" : "offline", started_us, code, &error);
}

static bool change(struct csi_client *client, const char *what, const char *disk) {
  char *end;
  unsigned long number = strtoul(disk, &end, 10);
  if (*disk == '\0' || *end != '\0' || number > UINT32_MAX) {
    printf("%s is no disk number\n", disk);
    return false;
  }
  if (strcmp(what, "offline") == 0) return set_state(client, (uint32_t)number, disk, false);
  return rescan(client) && partition(client, (uint32_t)number, disk) &&
         set_state(client, (uint32_t)number, disk, true);
}

int main(int argc, char **argv) {
  static const char *const versions[] = {"v1", "v1beta3", "v1beta2", "v1beta1", "v1alpha1", NULL};
  bool changes = argc == 3 && (strcmp(argv[1], "prepare") == 0 || strcmp(argv[1], "offline") == 0);
  if (argc != 1 && !changes) {
    fprintf(stderr, "usage: disk [prepare NUMBER | offline NUMBER]\n");
    return 2;
  }
  struct csi_client_options options = {.endpoint_format = getenv("CSI_PROXY_ENDPOINT_FORMAT")};
  if (!changes) show_versions("disk", versions, &options);

  struct csi_client *client = connect_or_explain("disk", &options);
  if (client == NULL) return EXIT_FAILURE;
  bool ok = changes ? change(client, argv[1], argv[2]) : show_disks(client);
  csi_client_close(client);
  return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
