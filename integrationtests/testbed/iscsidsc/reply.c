/* SPDX-License-Identifier: Apache-2.0 */
#include "reply.h"

#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "targets.h"

enum {
  TEXT_UNITS = 320,
  LIST_UNITS = 256 << 10, /* of all texts of an answer */
};

/* ---- Texts. ---- */

/* Converts to an array of units, cut when it does not fit. Values are UTF-8. */
static void widen(const char *text, WCHAR *text_w_out, int units) {
  if (text == NULL || MultiByteToWideChar(CP_UTF8, 0, text, -1, text_w_out, units) == 0)
    text_w_out[0] = L'\0';
}

/* A portal's key, ADDRESS:PORT, taken apart. */
static void widen_portal(const char *key, WCHAR *address_w_out, USHORT *port_out) {
  struct csi_iscsi_portal portal = targets_portal_of_key(key);
  widen(portal.address, address_w_out, CSI_ISCSI_TEXT_UNITS);
  *port_out = portal.port;
}

/* A list of texts, each with its NUL. */
struct text_list {
  WCHAR *units_w; /* LIST_UNITS, from malloc() */
  size_t used;
};

static bool list_begin(struct text_list *list) {
  *list = (struct text_list){.units_w = calloc(LIST_UNITS, sizeof(WCHAR))};
  return list->units_w != NULL;
}

static void list_add(struct text_list *list, const WCHAR *text_w) {
  size_t units = wcslen(text_w) + 1;
  if (list->used + units >= LIST_UNITS) return; /* the last one is for the end */
  memcpy(list->units_w + list->used, text_w, units * sizeof(WCHAR));
  list->used += units;
}

/* Hands the list out, with the empty text at its end. */
static DWORD list_finish(struct text_list *list, size_t room_units, size_t *needed_units_out, void *room) {
  size_t needed = list->used == 0 ? 2 : list->used + 1;
  bool fits = room != NULL && needed <= room_units;
  if (fits) memcpy(room, list->units_w, needed * sizeof(WCHAR));
  free(list->units_w);
  *needed_units_out = needed;
  return fits ? ERROR_SUCCESS : ERROR_INSUFFICIENT_BUFFER;
}

static bool is_first_of_target(const struct network_state *state, const struct network_record *discovered) {
  return network_find(state, "discovered", "iqn", network_get(discovered, "iqn")) == discovered;
}

DWORD reply_targets(const struct network_state *state, ULONG *units, WCHAR *names_w) {
  struct text_list list;
  if (!list_begin(&list)) return ERROR_NOT_ENOUGH_MEMORY;
  for (const struct network_record *discovered = network_next(state, "discovered", NULL); discovered != NULL;
       discovered = network_next(state, "discovered", discovered)) {
    WCHAR name_w[CSI_ISCSI_NAME_UNITS];
    if (!is_first_of_target(state, discovered)) continue;
    widen(network_get(discovered, "iqn"), name_w, CSI_ISCSI_NAME_UNITS);
    list_add(&list, name_w);
  }
  size_t needed_units;
  DWORD error = list_finish(&list, *units, &needed_units, names_w);
  *units = (ULONG)needed_units;
  return error;
}

DWORD reply_mechanisms(const struct network_state *state, const char *iqn, ULONG *size_bytes, void *texts) {
  struct text_list list;
  if (network_find(state, "discovered", "iqn", iqn) == NULL) return CSI_ISDSC_TARGET_NOT_FOUND;
  if (!list_begin(&list)) return ERROR_NOT_ENOUGH_MEMORY;
  for (const struct network_record *discovered = network_next(state, "discovered", NULL); discovered != NULL;
       discovered = network_next(state, "discovered", discovered)) {
    const struct network_record *portal =
        network_find(state, "send-targets", "portal", network_get(discovered, "portal"));
    WCHAR address_w[CSI_ISCSI_TEXT_UNITS], text_w[TEXT_UNITS];
    if (portal == NULL || !network_has(discovered, "iqn", iqn)) continue;
    widen(network_get(portal, "address"), address_w, CSI_ISCSI_TEXT_UNITS);
    swprintf(text_w, TEXT_UNITS, L"SendTargets:*%ls %07u " TEXT(TARGETS_ADAPTER) L" ", address_w,
             (unsigned)network_get_number(portal, "port", 0));
    list_add(&list, text_w);
  }
  size_t needed_units;
  DWORD error = list_finish(&list, *size_bytes / sizeof(WCHAR), &needed_units, texts);
  *size_bytes = (ULONG)(needed_units * sizeof(WCHAR));
  return error;
}

/* ---- Arrays. ---- */

DWORD reply_portals(const struct network_state *state, ULONG *count, ULONG *size_bytes,
                    ISCSI_TARGET_PORTAL_INFO_EXW *portals) {
  ULONG room_bytes = *size_bytes;
  *count = (ULONG)network_count(state, "send-targets");
  *size_bytes = *count * (ULONG)sizeof *portals;
  if (*size_bytes > room_bytes || (portals == NULL && *count > 0)) return ERROR_INSUFFICIENT_BUFFER;
  for (const struct network_record *record = network_next(state, "send-targets", NULL); record != NULL;
       record = network_next(state, "send-targets", record), portals++) {
    *portals = (ISCSI_TARGET_PORTAL_INFO_EXW){.InitiatorPortNumber = ISCSI_ANY_INITIATOR_PORT};
    widen(network_get(record, "address"), portals->Address, CSI_ISCSI_TEXT_UNITS);
    portals->Socket = (USHORT)network_get_number(record, "port", 0);
  }
  return ERROR_SUCCESS;
}

DWORD reply_persistent_logins(const struct network_state *state, ULONG *count,
                              PERSISTENT_ISCSI_LOGIN_INFOW *logins, ULONG *size_bytes) {
  ULONG room_bytes = *size_bytes;
  *count = (ULONG)network_count(state, "persistent-login");
  *size_bytes = *count * (ULONG)sizeof *logins;
  if (*size_bytes > room_bytes || (logins == NULL && *count > 0)) return ERROR_INSUFFICIENT_BUFFER;
  for (const struct network_record *record = network_next(state, "persistent-login", NULL); record != NULL;
       record = network_next(state, "persistent-login", record), logins++) {
    *logins = (PERSISTENT_ISCSI_LOGIN_INFOW){.InitiatorPortNumber = ISCSI_ANY_INITIATOR_PORT};
    widen(network_get(record, "iqn"), logins->TargetName, CSI_ISCSI_NAME_UNITS);
    widen(TARGETS_ADAPTER, logins->InitiatorInstance, CSI_ISCSI_TEXT_UNITS);
    widen(TARGETS_PORTAL_NAME, logins->TargetPortal.SymbolicName, CSI_ISCSI_TEXT_UNITS);
    widen_portal(network_get(record, "portal"), logins->TargetPortal.Address, &logins->TargetPortal.Socket);
  }
  return ERROR_SUCCESS;
}

/* LUNs of the session's target that are disks, behind `after`. */
static const struct network_record *next_disk(const struct network_state *state,
                                              const struct network_record *session,
                                              const struct network_record *after) {
  const struct network_record *lun = network_next(state, "lun", after);
  while (lun != NULL && !(network_has(lun, "iqn", network_get(session, "iqn")) &&
                          network_get_number(lun, "attached", 0) != 0))
    lun = network_next(state, "lun", lun);
  return lun;
}

DWORD reply_devices(const struct network_state *state, const struct network_record *session, ULONG *count,
                    ISCSI_DEVICE_ON_SESSIONW *devices) {
  ULONG room = *count, lun_number = 0;
  *count = 0;
  for (const struct network_record *lun = next_disk(state, session, NULL); lun != NULL;
       lun = next_disk(state, session, lun))
    ++*count;
  if (*count > room || (devices == NULL && *count > 0)) return ERROR_INSUFFICIENT_BUFFER;
  for (const struct network_record *lun = next_disk(state, session, NULL); lun != NULL;
       lun = next_disk(state, session, lun), devices++) {
    ULONG number = (ULONG)network_get_number(lun, "number", 0);
    *devices = (ISCSI_DEVICE_ON_SESSIONW){
        .ScsiAddress = {.Length = sizeof(ISCSI_DEVICE_ADDRESS), .Lun = (UCHAR)lun_number++},
        .StorageDeviceNumber = {.DeviceType = FILE_DEVICE_DISK, .DeviceNumber = number},
    };
    widen(TARGETS_ADAPTER, devices->InitiatorName, CSI_ISCSI_TEXT_UNITS);
    widen(network_get(session, "iqn"), devices->TargetName, CSI_ISCSI_NAME_UNITS);
    swprintf(devices->LegacyName, MAX_PATH, L"\\\\.\\PhysicalDrive%lu", number);
  }
  return ERROR_SUCCESS;
}

/* ---- Sessions. ---- */

/* A session in the making: its structure, and what stands behind the array. */
struct session_details {
  ISCSI_CONNECTION_INFOW connection;
  WCHAR initiator_w[CSI_ISCSI_NAME_UNITS];
  WCHAR target_w[CSI_ISCSI_NAME_UNITS];
  WCHAR node_address_w[CSI_ISCSI_TEXT_UNITS];
  WCHAR target_address_w[CSI_ISCSI_TEXT_UNITS];
};

static void fill_session(const struct network_record *record, ISCSI_SESSION_INFOW *session,
                         struct session_details *details) {
  ULONGLONG id = network_get_number(record, "id", 0);
  *details = (struct session_details){
      .connection = {.ConnectionId = {.AdapterUnique = 1, .AdapterSpecific = id},
                     .InitiatorAddress = details->node_address_w,
                     .TargetAddress = details->target_address_w,
                     .CID = {1}},
      .node_address_w = L"0.0.0.0",
  };
  widen(TARGETS_INITIATOR_NAME, details->initiator_w, CSI_ISCSI_NAME_UNITS);
  widen(network_get(record, "iqn"), details->target_w, CSI_ISCSI_NAME_UNITS);
  widen_portal(network_get(record, "portal"), details->target_address_w, &details->connection.TargetSocket);
  *session = (ISCSI_SESSION_INFOW){
      .SessionId = {.AdapterUnique = 1, .AdapterSpecific = id},
      .InitiatorName = details->initiator_w,
      .TargetNodeName = details->target_w,
      .TargetName = details->target_w,
      .ISID = {0x40},
      .ConnectionCount = network_get_number(record, "lost", 0) == 0,
      .Connections = &details->connection,
  };
}

DWORD reply_sessions(const struct network_state *state, ULONG *size_bytes, ULONG *count,
                     ISCSI_SESSION_INFOW *sessions) {
  ULONG room_bytes = *size_bytes;
  *count = (ULONG)network_count(state, "session");
  *size_bytes = *count * (ULONG)(sizeof *sessions + sizeof(struct session_details));
  if (*size_bytes > room_bytes || (sessions == NULL && *count > 0)) return ERROR_INSUFFICIENT_BUFFER;
  struct session_details *details = (struct session_details *)(void *)(sessions + *count);
  for (const struct network_record *record = network_next(state, "session", NULL); record != NULL;
       record = network_next(state, "session", record))
    fill_session(record, sessions++, details++);
  return ERROR_SUCCESS;
}
