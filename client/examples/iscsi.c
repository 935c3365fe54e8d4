/* SPDX-License-Identifier: Apache-2.0
 *
 * iscsi                            shows the versions of the iSCSI group that this node serves, and the
 * targets of all registered portals iscsi attach ADDRESS IQN [USER]  registers the portal, connects the
 * target and shows its disks; with a USER, by CHAP, with the secret from the standard input iscsi detach
 * ADDRESS IQN         disconnects the target, and forgets the portal
 *
 * The portal's port is 3260. In place of pipes, CSI_PROXY_ENDPOINT_FORMAT may name other endpoints (see
 * csi_client_options).
 */
#include <csi-proxy/client.h>
#include <csi-proxy/iscsi.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "show.h"

enum {
  SECRET_BYTES = 256,
};

static const struct csi_call_options in_time = {.timeout_ms = CALL_TIMEOUT_MS};
static const struct csi_call_options in_long_time = {.timeout_ms = LONG_CALL_TIMEOUT_MS};

/* ---- All portals. ---- */

static bool show_targets(struct csi_client *client, const struct csi_iscsi_target_portal *portal) {
  struct csi_iscsi_discover_target_portal_request request = {.target_portal = portal};
  struct csi_iscsi_discover_target_portal_response *targets;
  struct csi_error error;
  if (csi_iscsi_discover_target_portal(client, &request, &in_long_time, &targets, &error) != CSI_OK) {
    show_error(&error);
    return false;
  }
  printf("  %s:%" PRIu32 ", %zu targets\n", portal->target_address, portal->target_port, targets->iqns_count);
  for (size_t i = 0; i < targets->iqns_count; i++)
    printf("    %s\n", targets->iqns[i]);
  csi_response_free(targets);
  return true;
}

static bool show_portals(struct csi_client *client) {
  const struct csi_iscsi_list_target_portals_request request = {0};
  struct csi_iscsi_list_target_portals_response *portals;
  struct csi_error error;
  if (csi_iscsi_list_target_portals(client, &request, &in_time, &portals, &error) != CSI_OK) {
    show_error(&error); /* the service MSiSCSI may not run; the example "system" starts it */
    return false;
  }
  printf("\n%zu portals:\n", portals->target_portals_count);
  bool ok = true;
  for (size_t i = 0; i < portals->target_portals_count; i++)
    ok = show_targets(client, &portals->target_portals[i]) && ok;
  csi_response_free(portals);
  return ok;
}

/* ---- One target. ---- */

static bool add_portal(struct csi_client *client, const struct csi_iscsi_target_portal *portal) {
  struct csi_iscsi_add_target_portal_request request = {.target_portal = portal};
  struct csi_iscsi_add_target_portal_response *response;
  struct csi_error error;
  long long started_us = now_us();
  enum csi_code code = csi_iscsi_add_target_portal(client, &request, &in_long_time, &response, &error);
  csi_response_free(response);
  return show_outcome("AddPortal", portal->target_address, "done", started_us, code, &error);
}

static bool connect_with(struct csi_client *client, const struct csi_iscsi_target_portal *portal,
                         const char *iqn, const char *user, const char *secret) {
  struct csi_iscsi_connect_target_request request = {
      .target_portal = portal,
      .iqn = iqn,
      .auth_type =
          user == NULL ? CSI_ISCSI_AUTHENTICATION_TYPE_NONE : CSI_ISCSI_AUTHENTICATION_TYPE_ONE_WAY_CHAP,
      .chap_username = user,
      .chap_secret = secret,
  };
  struct csi_iscsi_connect_target_response *response;
  struct csi_error error;
  long long started_us = now_us();
  enum csi_code code = csi_iscsi_connect_target(client, &request, &in_long_time, &response, &error);
  csi_response_free(response);
  return show_outcome("Connect", iqn, "done", started_us, code, &error);
}

static bool connect(struct csi_client *client, const struct csi_iscsi_target_portal *portal, const char *iqn,
                    const char *user) {
  char secret[SECRET_BYTES] = "";
  bool ok =
      (user == NULL || read_secret(secret, sizeof secret)) && connect_with(client, portal, iqn, user, secret);
  forget_secret(secret, sizeof secret);
  return ok;
}

static bool show_disks(struct csi_client *client, const struct csi_iscsi_target_portal *portal,
                       const char *iqn) {
  struct csi_iscsi_get_target_disks_request request = {.target_portal = portal, .iqn = iqn};
  struct csi_iscsi_get_target_disks_response *disks;
  struct csi_error error;
  long long started_us = now_us();
  enum csi_code code = csi_iscsi_get_target_disks(client, &request, &in_long_time, &disks, &error);
  bool ok = show_outcome("TargetDisks", iqn, "done", started_us, code, &error);
  for (size_t i = 0; ok && i < disks->disk_ids_count; i++)
    printf("    disk %s\n", disks->disk_ids[i]);
  csi_response_free(disks);
  return ok;
}

static bool disconnect(struct csi_client *client, const struct csi_iscsi_target_portal *portal,
                       const char *iqn) {
  struct csi_iscsi_disconnect_target_request request = {.target_portal = portal, .iqn = iqn};
  struct csi_iscsi_disconnect_target_response *response;
  struct csi_error error;
  long long started_us = now_us();
  enum csi_code code = csi_iscsi_disconnect_target(client, &request, &in_long_time, &response, &error);
  csi_response_free(response);
  return show_outcome("Disconnect", iqn, "done", started_us, code, &error);
}

static bool remove_portal(struct csi_client *client, const struct csi_iscsi_target_portal *portal) {
  struct csi_iscsi_remove_target_portal_request request = {.target_portal = portal};
  struct csi_iscsi_remove_target_portal_response *response;
  struct csi_error error;
  long long started_us = now_us();
  enum csi_code code = csi_iscsi_remove_target_portal(client, &request, &in_long_time, &response, &error);
  csi_response_free(response);
  return show_outcome("RemovePortal", portal->target_address, "done", started_us, code, &error);
}

int main(int argc, char **argv) {
  static const char *const versions[] = {"v1alpha2", "v1alpha1", NULL};
  bool attaches = (argc == 4 || argc == 5) && strcmp(argv[1], "attach") == 0;
  bool detaches = argc == 4 && strcmp(argv[1], "detach") == 0;
  if (argc != 1 && !attaches && !detaches) {
    fprintf(stderr, "usage: iscsi [attach ADDRESS IQN [USER] | detach ADDRESS IQN]\n");
    return 2;
  }
  struct csi_client_options options = {.endpoint_format = getenv("CSI_PROXY_ENDPOINT_FORMAT")};
  if (argc == 1) show_versions("iscsi", versions, &options);

  struct csi_client *client = connect_or_explain("iscsi", &options);
  if (client == NULL) return EXIT_FAILURE;
  struct csi_iscsi_target_portal portal = {.target_address = argc > 2 ? argv[2] : ""}; /* port 0: 3260 */
  bool ok;
  if (attaches) {
    ok = add_portal(client, &portal) && connect(client, &portal, argv[3], argc == 5 ? argv[4] : NULL) &&
         show_disks(client, &portal, argv[3]);
  } else if (detaches) {
    ok = disconnect(client, &portal, argv[3]) && remove_portal(client, &portal);
  } else {
    ok = show_portals(client);
  }
  csi_client_close(client);
  return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
