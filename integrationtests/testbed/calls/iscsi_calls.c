/* SPDX-License-Identifier: Apache-2.0 */
#include <csi-proxy/iscsi.h>
#include <stdio.h>
#include <string.h>

#include "calls.h"

enum {
  ADDRESS_BYTES = 4096,
};

struct portal {
  char address[ADDRESS_BYTES];
  struct csi_iscsi_target_portal wire;
};

/* Reads ADDRESS[:PORT], with an IPv6 address in brackets. NULL for the argument that is not there. */
static const struct csi_iscsi_target_portal *portal_of(struct portal *portal, const char *word) {
  const char *bracket = strchr(word, ']');
  const char *colon = strrchr(bracket != NULL ? bracket : word, ':');
  size_t length = colon != NULL ? (size_t)(colon - word) : strlen(word);
  if (word[0] == '\0') return NULL;
  if (bracket != NULL && word[0] == '[') word++, length = (size_t)(bracket - word);
  snprintf(portal->address, sizeof portal->address, "%.*s", (int)length, word);
  portal->wire = (struct csi_iscsi_target_portal){.target_address = portal->address,
                                                  .target_port = colon != NULL ? call_number(colon + 1) : 0};
  return &portal->wire;
}

/* Numbers pass as they are, so that unknown ones can be tried. */
static enum csi_iscsi_authentication_type authentication_of(const char *word) {
  if (strcmp(word, "chap") == 0) return CSI_ISCSI_AUTHENTICATION_TYPE_ONE_WAY_CHAP;
  if (strcmp(word, "mutual") == 0) return CSI_ISCSI_AUTHENTICATION_TYPE_MUTUAL_CHAP;
  return (enum csi_iscsi_authentication_type)call_number(word);
}

static enum csi_code add_target_portal(struct call *call) {
  struct portal portal;
  CALL(iscsi, add_target_portal, portal_of(&portal, call->word[0]));
  csi_response_free(response);
  return code;
}

static enum csi_code discover_target_portal(struct call *call) {
  struct portal portal;
  CALL(iscsi, discover_target_portal, portal_of(&portal, call->word[0]));
  for (size_t i = 0; code == CSI_OK && i < response->iqns_count; i++)
    printf("iqn=%s\n", response->iqns[i]);
  csi_response_free(response);
  return code;
}

static enum csi_code remove_target_portal(struct call *call) {
  struct portal portal;
  CALL(iscsi, remove_target_portal, portal_of(&portal, call->word[0]));
  csi_response_free(response);
  return code;
}

static enum csi_code list_target_portals(struct call *call) {
  CALL(iscsi, list_target_portals, 0);
  for (size_t i = 0; code == CSI_OK && i < response->target_portals_count; i++)
    printf("portal=%s:%u\n", response->target_portals[i].target_address,
           (unsigned)response->target_portals[i].target_port);
  csi_response_free(response);
  return code;
}

static enum csi_code connect_target(struct call *call) {
  struct portal portal;
  CALL(iscsi, connect_target, .target_portal = portal_of(&portal, call->word[0]), .iqn = call->word[1],
       .auth_type = authentication_of(call->word[2]), .chap_username = call->word[3],
       .chap_secret = call->word[4]);
  csi_response_free(response);
  return code;
}

static enum csi_code disconnect_target(struct call *call) {
  struct portal portal;
  CALL(iscsi, disconnect_target, portal_of(&portal, call->word[0]), call->word[1]);
  csi_response_free(response);
  return code;
}

static enum csi_code get_target_disks(struct call *call) {
  struct portal portal;
  CALL(iscsi, get_target_disks, portal_of(&portal, call->word[0]), call->word[1]);
  for (size_t i = 0; code == CSI_OK && i < response->disk_ids_count; i++)
    printf("disk=%s\n", response->disk_ids[i]);
  csi_response_free(response);
  return code;
}

static enum csi_code set_mutual_chap_secret(struct call *call) {
  CALL(iscsi, set_mutual_chap_secret, call->word[0]);
  csi_response_free(response);
  return code;
}

const struct call_rpc iscsi_rpcs[] = {
    {"AddTargetPortal", add_target_portal},           /* ADDRESS[:PORT] */
    {"DiscoverTargetPortal", discover_target_portal}, /* ADDRESS[:PORT] */
    {"RemoveTargetPortal", remove_target_portal},     /* ADDRESS[:PORT] */
    {"ListTargetPortals", list_target_portals},       /* */
    {"ConnectTarget", connect_target},               /* ADDRESS[:PORT] IQN [none|chap|mutual [USER SECRET]] */
    {"DisconnectTarget", disconnect_target},         /* ADDRESS[:PORT] IQN */
    {"GetTargetDisks", get_target_disks},            /* ADDRESS[:PORT] IQN */
    {"SetMutualChapSecret", set_mutual_chap_secret}, /* SECRET */
    {NULL, NULL},
};
