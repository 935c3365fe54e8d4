/* SPDX-License-Identifier: Apache-2.0 */
#include "network_calls.h"

#include <stdio.h>
#include <string.h>

/* Declares response and code, and makes the call with `request`. */
#define CALL(group, rpc, request)                                                                            \
  struct csi_##group##_##rpc##_response *response = NULL;                                                    \
  struct csi_call_options options = call_options(run);                                                       \
  run->error = (struct csi_error){0};                                                                        \
  enum csi_code code = csi_##group##_##rpc(run->group, request, &options, &response, &run->error)

static void add_text(struct run *run, struct texts *texts, const char *text) {
  if (!check(run, texts->count < TEXTS_MAX, "a list of more than %d", TEXTS_MAX)) return;
  snprintf(texts->text[texts->count++], TEXT_BYTES, "%s", text);
}

/* ---- SMB ---- */

enum csi_code map_share(struct run *run, const struct csi_smb_new_smb_global_mapping_request *request) {
  CALL(smb, new_smb_global_mapping, request);
  csi_response_free(response);
  return code;
}

enum csi_code unmap_share(struct run *run, const char *remote_path) {
  struct csi_smb_remove_smb_global_mapping_request request = {.remote_path = remote_path};
  CALL(smb, remove_smb_global_mapping, &request);
  csi_response_free(response);
  return code;
}

/* ---- iSCSI ---- */

enum csi_code add_portal(struct run *run, const struct csi_iscsi_target_portal *portal) {
  struct csi_iscsi_add_target_portal_request request = {.target_portal = portal};
  CALL(iscsi, add_target_portal, &request);
  csi_response_free(response);
  return code;
}

enum csi_code discover(struct run *run, const struct csi_iscsi_target_portal *portal,
                       struct texts *iqns_out) {
  struct csi_iscsi_discover_target_portal_request request = {.target_portal = portal};
  CALL(iscsi, discover_target_portal, &request);
  iqns_out->count = 0;
  for (size_t i = 0; code == CSI_OK && i < response->iqns_count; i++)
    add_text(run, iqns_out, response->iqns[i]);
  csi_response_free(response);
  return code;
}

enum csi_code remove_portal(struct run *run, const struct csi_iscsi_target_portal *portal) {
  struct csi_iscsi_remove_target_portal_request request = {.target_portal = portal};
  CALL(iscsi, remove_target_portal, &request);
  csi_response_free(response);
  return code;
}

enum csi_code list_portals(struct run *run, struct texts *portals_out) {
  struct csi_iscsi_list_target_portals_request request = {0};
  CALL(iscsi, list_target_portals, &request);
  portals_out->count = 0;
  for (size_t i = 0; code == CSI_OK && i < response->target_portals_count; i++) {
    char text[TEXT_BYTES];
    snprintf(text, sizeof text, "%.240s:%u", response->target_portals[i].target_address,
             (unsigned)response->target_portals[i].target_port);
    add_text(run, portals_out, text);
  }
  csi_response_free(response);
  return code;
}

enum csi_code log_in(struct run *run, const struct csi_iscsi_connect_target_request *request) {
  CALL(iscsi, connect_target, request);
  csi_response_free(response);
  return code;
}

enum csi_code log_out(struct run *run, const struct csi_iscsi_target_portal *portal, const char *iqn) {
  struct csi_iscsi_disconnect_target_request request = {.target_portal = portal, .iqn = iqn};
  CALL(iscsi, disconnect_target, &request);
  csi_response_free(response);
  return code;
}

enum csi_code disks_of(struct run *run, const struct csi_iscsi_target_portal *portal, const char *iqn,
                       struct texts *numbers_out) {
  struct csi_iscsi_get_target_disks_request request = {.target_portal = portal, .iqn = iqn};
  CALL(iscsi, get_target_disks, &request);
  numbers_out->count = 0;
  for (size_t i = 0; code == CSI_OK && i < response->disk_ids_count; i++)
    add_text(run, numbers_out, response->disk_ids[i]);
  csi_response_free(response);
  return code;
}

enum csi_code set_mutual_secret(struct run *run, const char *secret) {
  struct csi_iscsi_set_mutual_chap_secret_request request = {.mutual_chap_secret = secret};
  CALL(iscsi, set_mutual_chap_secret, &request);
  csi_response_free(response);
  return code;
}

/* ---- System ---- */

enum csi_code serial_number(struct run *run, char text_out[TEXT_BYTES]) {
  struct csi_system_get_bios_serial_number_request request = {0};
  CALL(system, get_bios_serial_number, &request);
  snprintf(text_out, TEXT_BYTES, "%s", code == CSI_OK ? response->serial_number : "");
  csi_response_free(response);
  return code;
}

enum csi_code facts_of(struct run *run, const char *name, struct service_facts *facts_out) {
  struct csi_system_get_service_request request = {.name = name};
  CALL(system, get_service, &request);
  *facts_out = (struct service_facts){0};
  if (code == CSI_OK) {
    snprintf(facts_out->display_name, TEXT_BYTES, "%s", response->display_name);
    facts_out->start_type = response->start_type;
    facts_out->status = response->status;
  }
  csi_response_free(response);
  return code;
}

enum csi_code start_service(struct run *run, const char *name) {
  struct csi_system_start_service_request request = {.name = name};
  CALL(system, start_service, &request);
  csi_response_free(response);
  return code;
}

enum csi_code stop_service(struct run *run, const char *name, bool force) {
  struct csi_system_stop_service_request request = {.name = name, .force = force};
  CALL(system, stop_service, &request);
  csi_response_free(response);
  return code;
}
