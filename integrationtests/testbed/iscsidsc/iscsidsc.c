/* SPDX-License-Identifier: Apache-2.0
 *
 * iscsidsc.dll for the testbed: the calls of Windows' iSCSI initiator that csi-proxy makes, with their names,
 * arguments and answers. Targets stand in the testbed's network (targets.h); a login makes disks of their
 * LUNs.
 */
#include <windows.h>

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "iscsi/iscsidsc_win32.h"
#include "lun_disks.h"
#include "network/network.h"
#include "reply.h"
#include "targets.h"

enum { DELAY_STEP_MS = 10 };

#define EXPORT __declspec(dllexport)
EXPORT csi_add_portal_function AddIScsiSendTargetPortalW;
EXPORT csi_portal_function RefreshIScsiSendTargetPortalW, RemoveIScsiSendTargetPortalW;
EXPORT csi_report_portals_function ReportIScsiSendTargetPortalsExW;
EXPORT csi_report_targets_function ReportIScsiTargetsW;
EXPORT csi_target_information_function GetIScsiTargetInformationW;
EXPORT csi_session_list_function GetIScsiSessionListW;
EXPORT csi_login_function LoginIScsiTargetW;
EXPORT csi_logout_function LogoutIScsiTarget;
EXPORT csi_report_persistent_logins_function ReportIScsiPersistentLoginsW;
EXPORT csi_remove_persistent_login_function RemoveIScsiPersistentTargetW;
EXPORT csi_session_devices_function GetDevicesForIScsiSessionW;
EXPORT csi_set_chap_secret_function SetIScsiInitiatorCHAPSharedSecret;

/* ---- Beginning and end of a call. ---- */

/* Opens the network for a call. Its answer when that does not work, or when the service does not run. */
static DWORD open_network(struct network_state **state_out) {
  *state_out = network_open();
  if (*state_out == NULL) return GetLastError();
  DWORD error = targets_service(*state_out);
  if (error == ERROR_SUCCESS) return ERROR_SUCCESS;
  network_close(*state_out);
  *state_out = NULL;
  return error;
}

static DWORD begin(const char *name, struct network_state **state_out) {
  DWORD error = network_begin_call(name);
  return error != ERROR_SUCCESS ? error : open_network(state_out);
}

static DWORD end(struct network_state *state, DWORD error) {
  if (!network_close(state) && error == ERROR_SUCCESS) return GetLastError();
  return error;
}

/* Ends a call that may have changed sessions. */
static DWORD end_with_disks(struct network_state *state, DWORD error) {
  struct csi_ctl_error problem;
  if (!lun_disks_settle(state, &problem)) {
    OutputDebugStringA(problem.text);
    if (error == ERROR_SUCCESS) error = ERROR_GEN_FAILURE;
  }
  return end(state, error);
}

/* ---- Texts. ---- */

/* False when a text is none, or does not fit. */
static bool narrow(const WCHAR *text_w, char *text_out, int bytes) {
  return text_w != NULL && WideCharToMultiByte(CP_UTF8, 0, text_w, -1, text_out, bytes, NULL, NULL) > 0;
}

static bool narrow_portal(const ISCSI_TARGET_PORTALW *portal_w, struct csi_iscsi_portal *portal_out) {
  *portal_out = (struct csi_iscsi_portal){.port = portal_w == NULL ? 0 : portal_w->Socket};
  return portal_w == NULL || narrow(portal_w->Address, portal_out->address, CSI_ISCSI_ADDRESS_BYTES);
}

/* ---- Portals. ---- */

static DWORD change_portal(const char *name, const ISCSI_TARGET_PORTALW *portal_w,
                           uint32_t (*change)(struct network_state *state,
                                              const struct csi_iscsi_portal *portal)) {
  struct network_state *state;
  struct csi_iscsi_portal portal;
  DWORD error = begin(name, &state);
  if (error != ERROR_SUCCESS) return error;
  bool is_one = portal_w != NULL && narrow_portal(portal_w, &portal) && portal.address[0] != '\0';
  return end(state, is_one ? change(state, &portal) : ERROR_INVALID_PARAMETER);
}

ULONG WINAPI AddIScsiSendTargetPortalW(PWSTR initiator_w, ULONG initiator_port, ISCSI_LOGIN_OPTIONS *options,
                                       ULONGLONG security_flags, ISCSI_TARGET_PORTALW *portal) {
  (void)initiator_w, (void)initiator_port, (void)options, (void)security_flags;
  return change_portal("AddIScsiSendTargetPortalW", portal, targets_add_portal);
}

ULONG WINAPI RefreshIScsiSendTargetPortalW(PWSTR initiator_w, ULONG initiator_port,
                                           ISCSI_TARGET_PORTALW *portal) {
  (void)initiator_w, (void)initiator_port;
  return change_portal("RefreshIScsiSendTargetPortalW", portal, targets_refresh_portal);
}

ULONG WINAPI RemoveIScsiSendTargetPortalW(PWSTR initiator_w, ULONG initiator_port,
                                          ISCSI_TARGET_PORTALW *portal) {
  (void)initiator_w, (void)initiator_port;
  return change_portal("RemoveIScsiSendTargetPortalW", portal, targets_remove_portal);
}

/* ---- Lists. ---- */

/* Begins a call for a list. One that fails says that it needs no room, as Windows does. */
static DWORD begin_list(const char *name, struct network_state **state_out, PULONG size) {
  DWORD error = begin(name, state_out);
  if (error != ERROR_SUCCESS) *size = 0;
  return error;
}

ULONG WINAPI ReportIScsiSendTargetPortalsExW(PULONG count, PULONG size_bytes,
                                             ISCSI_TARGET_PORTAL_INFO_EXW *portals) {
  struct network_state *state;
  DWORD error = begin_list("ReportIScsiSendTargetPortalsExW", &state, size_bytes);
  return error != ERROR_SUCCESS ? error : end(state, reply_portals(state, count, size_bytes, portals));
}

ULONG WINAPI ReportIScsiTargetsW(BOOLEAN update, PULONG units, PWCHAR names_w) {
  struct network_state *state;
  (void)update;
  DWORD error = begin_list("ReportIScsiTargetsW", &state, units);
  return error != ERROR_SUCCESS ? error : end(state, reply_targets(state, units, names_w));
}

ULONG WINAPI GetIScsiTargetInformationW(PWSTR target_w, PWSTR mechanism_w, ULONG class, PULONG size_bytes,
                                        void *buffer) {
  struct network_state *state;
  char iqn[CSI_ISCSI_NAME_BYTES];
  (void)mechanism_w;
  DWORD error = begin_list("GetIScsiTargetInformationW", &state, size_bytes);
  if (error != ERROR_SUCCESS) return error;
  if (class != ISCSI_DISCOVERY_MECHANISMS || !narrow(target_w, iqn, CSI_ISCSI_NAME_BYTES))
    return end(state, ERROR_INVALID_PARAMETER);
  return end(state, reply_mechanisms(state, iqn, size_bytes, buffer));
}

ULONG WINAPI GetIScsiSessionListW(PULONG size_bytes, PULONG count, ISCSI_SESSION_INFOW *sessions) {
  struct network_state *state;
  DWORD error = begin_list("GetIScsiSessionListW", &state, size_bytes);
  return error != ERROR_SUCCESS ? error : end(state, reply_sessions(state, size_bytes, count, sessions));
}

ULONG WINAPI ReportIScsiPersistentLoginsW(PULONG count, PERSISTENT_ISCSI_LOGIN_INFOW *logins,
                                          PULONG size_bytes) {
  struct network_state *state;
  DWORD error = begin_list("ReportIScsiPersistentLoginsW", &state, size_bytes);
  return error != ERROR_SUCCESS ? error
                                : end(state, reply_persistent_logins(state, count, logins, size_bytes));
}

ULONG WINAPI GetDevicesForIScsiSessionW(ISCSI_UNIQUE_SESSION_ID *session_id, PULONG count,
                                        ISCSI_DEVICE_ON_SESSIONW *devices) {
  struct network_state *state;
  DWORD error = begin_list("GetDevicesForIScsiSessionW", &state, count);
  if (error != ERROR_SUCCESS) return error;
  struct csi_ctl_error problem;
  const struct network_record *session = targets_find_session(state, session_id->AdapterSpecific);
  if (session == NULL)
    error = CSI_ISDSC_INVALID_SESSION_ID;
  else if (!lun_disks_settle(state, &problem)) /* those that are due now */
    error = ERROR_GEN_FAILURE;
  else
    error = reply_devices(state, session, count, devices);
  return end(state, error);
}

/* ---- Sessions. ---- */

static void wait_for_target(uint32_t delay_ms) {
  for (ULONGLONG end_ms = GetTickCount64() + delay_ms; GetTickCount64() < end_ms;)
    Sleep(DELAY_STEP_MS);
}

/* What a login gives for CHAP. The secret itself is not kept. */
static bool read_options(const ISCSI_LOGIN_OPTIONS *options, struct targets_login *login,
                         char user_out[CSI_ISCSI_ADDRESS_BYTES]) {
  if (options == NULL) return true;
  if (options->Version != ISCSI_LOGIN_OPTIONS_VERSION) return false;
  if ((options->InformationSpecified & ISCSI_LOGIN_OPTIONS_AUTH_TYPE) != 0) {
    if (options->AuthType > ISCSI_MUTUAL_CHAP_AUTH_TYPE) return false;
    login->authentication = (enum csi_iscsi_authentication)options->AuthType;
  }
  if ((options->InformationSpecified & ISCSI_LOGIN_OPTIONS_USERNAME) != 0) {
    if (options->UsernameLength == 0 || options->UsernameLength >= CSI_ISCSI_ADDRESS_BYTES) return false;
    snprintf(user_out, CSI_ISCSI_ADDRESS_BYTES, "%.*s", (int)options->UsernameLength,
             (const char *)options->Username);
    login->user = user_out;
  }
  if ((options->InformationSpecified & ISCSI_LOGIN_OPTIONS_PASSWORD) != 0) {
    login->secret_bytes = options->PasswordLength;
    network_secret_digest(options->Password, options->PasswordLength, login->secret);
  }
  return true;
}

/* The target takes its time; nobody else waits for it. */
static DWORD begin_login(const char *iqn, struct network_state **state_out) {
  DWORD error = begin("LoginIScsiTargetW", state_out);
  if (error != ERROR_SUCCESS) return error;
  uint32_t delay_ms = targets_login_delay_ms(*state_out, iqn);
  if (delay_ms == 0) return ERROR_SUCCESS;
  error = end(*state_out, ERROR_SUCCESS);
  if (error != ERROR_SUCCESS) return error;
  wait_for_target(delay_ms);
  return open_network(state_out);
}

ULONG WINAPI LoginIScsiTargetW(PWSTR target_w, BOOLEAN informational, PWSTR initiator_w, ULONG initiator_port,
                               ISCSI_TARGET_PORTALW *portal_w, ULONGLONG security_flags, void *mappings,
                               ISCSI_LOGIN_OPTIONS *options, ULONG key_bytes, PCHAR key, BOOLEAN persistent,
                               ISCSI_UNIQUE_SESSION_ID *session_out,
                               ISCSI_UNIQUE_SESSION_ID *connection_out) {
  char iqn[CSI_ISCSI_NAME_BYTES], user[CSI_ISCSI_ADDRESS_BYTES];
  struct csi_iscsi_portal portal;
  struct targets_login login = {.iqn = iqn, .portal = &portal};
  struct network_state *state;
  uint64_t id;
  (void)initiator_w, (void)security_flags, (void)mappings, (void)key;
  if (informational || persistent || key_bytes != 0 || initiator_port != ISCSI_ANY_INITIATOR_PORT ||
      !narrow(target_w, iqn, CSI_ISCSI_NAME_BYTES) || !narrow_portal(portal_w, &portal) ||
      !read_options(options, &login, user))
    return ERROR_INVALID_PARAMETER;
  DWORD error = begin_login(iqn, &state);
  if (error != ERROR_SUCCESS) return error;
  error = targets_log_in(state, &login, GetTickCount64(), &id);
  if (error != ERROR_SUCCESS) return end(state, error);
  *session_out = (ISCSI_UNIQUE_SESSION_ID){.AdapterUnique = 1, .AdapterSpecific = id};
  *connection_out = *session_out;
  return end_with_disks(state, ERROR_SUCCESS);
}

ULONG WINAPI LogoutIScsiTarget(ISCSI_UNIQUE_SESSION_ID *session_id) {
  struct network_state *state;
  DWORD error = begin("LogoutIScsiTarget", &state);
  if (error != ERROR_SUCCESS) return error;
  return end_with_disks(state, targets_log_out(state, session_id->AdapterSpecific));
}

/* ---- Others. ---- */

ULONG WINAPI RemoveIScsiPersistentTargetW(PWSTR initiator_w, ULONG initiator_port, PWSTR target_w,
                                          ISCSI_TARGET_PORTALW *portal_w) {
  struct network_state *state;
  struct csi_iscsi_portal portal;
  char iqn[CSI_ISCSI_NAME_BYTES];
  (void)initiator_port;
  DWORD error = begin("RemoveIScsiPersistentTargetW", &state);
  if (error != ERROR_SUCCESS) return error;
  bool is_right = initiator_w != NULL && _wcsicmp(initiator_w, TEXT(TARGETS_ADAPTER)) == 0 &&
                  narrow(target_w, iqn, CSI_ISCSI_NAME_BYTES) && narrow_portal(portal_w, &portal) &&
                  (portal_w == NULL || wcscmp(portal_w->SymbolicName, TEXT(TARGETS_PORTAL_NAME)) == 0);
  return end(state, is_right ? targets_forget_login(state, iqn, &portal) : ERROR_INVALID_PARAMETER);
}

ULONG WINAPI SetIScsiInitiatorCHAPSharedSecret(ULONG size_bytes, PUCHAR secret) {
  struct network_state *state;
  DWORD error = begin("SetIScsiInitiatorCHAPSharedSecret", &state);
  return error != ERROR_SUCCESS ? error : end(state, targets_set_mutual_secret(state, secret, size_bytes));
}
