/* SPDX-License-Identifier: Apache-2.0
 *
 * admin          shows the version of the service, and which groups are ready
 *
 * In place of pipes, CSI_PROXY_ENDPOINT_FORMAT may name other endpoints (see csi_client_options).
 */
#include <csi-proxy/admin.h>
#include <csi-proxy/client.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "show.h"

static const struct csi_call_options in_time = {.timeout_ms = CALL_TIMEOUT_MS};

static void show_group(const struct csi_admin_group_status *group) {
  printf("  %-12s %s\n", group->group, group->ready ? "ready" : "NOT READY");
  for (size_t i = 0; i < group->parts_count; i++) {
    const struct csi_admin_part_status *part = &group->parts[i];
    if (part->state == CSI_ADMIN_PART_STATE_MISSING)
      printf("    %s is missing%s: %s\n", part->name, part->required ? "" : " (not needed by every call)",
             part->detail);
  }
}

static bool show_status(struct csi_client *client) {
  const struct csi_admin_get_status_request request = {0};
  struct csi_admin_get_status_response *status;
  struct csi_error error;
  if (csi_admin_get_status(client, &request, &in_time, &status, &error) != CSI_OK) {
    show_error(&error);
    return false;
  }
  printf("csi-proxy %s, process %u, %s\n", status->version, status->process_id,
         status->ready ? "ready" : "NOT READY");
  for (size_t i = 0; i < status->groups_count; i++)
    show_group(&status->groups[i]);
  csi_response_free(status);
  return true;
}

int main(int argc, char **argv) {
  (void)argv;
  if (argc != 1) {
    fprintf(stderr, "usage: admin\n");
    return 2;
  }
  struct csi_client_options options = {.endpoint_format = getenv("CSI_PROXY_ENDPOINT_FORMAT")};
  struct csi_client *client = connect_or_explain("admin", &options);
  if (client == NULL) return EXIT_FAILURE;
  bool ok = show_status(client);
  csi_client_close(client);
  return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
