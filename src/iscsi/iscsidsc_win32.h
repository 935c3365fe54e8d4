/* SPDX-License-Identifier: Apache-2.0
 *
 * What iscsidsc.dll is called with: the structures and functions that csi-proxy uses, with the names of the
 * SDK. mingw's iscsidsc.h does not compile, and has other layouts.
 */
#ifndef CSI_ISCSI_ISCSIDSC_WIN32_H
#define CSI_ISCSI_ISCSIDSC_WIN32_H

#include <windows.h>

#include <stddef.h>
#include <winioctl.h>

#include "iscsi/structures.h"

/* InitiatorPortNumber: any port of any adapter. The SDK has two names for it. */
#define ISCSI_ANY_INITIATOR_PORT ((ULONG)-1)
#define ISCSI_ALL_INITIATOR_PORTS ((ULONG)-1)

/* ISCSI_LOGIN_OPTIONS.InformationSpecified */
#define ISCSI_LOGIN_OPTIONS_USERNAME 0x00000020
#define ISCSI_LOGIN_OPTIONS_PASSWORD 0x00000040
#define ISCSI_LOGIN_OPTIONS_AUTH_TYPE 0x00000080
#define ISCSI_LOGIN_OPTIONS_VERSION 0

/* ISCSI_LOGIN_OPTIONS.AuthType */
enum {
  ISCSI_NO_AUTH_TYPE = 0,
  ISCSI_CHAP_AUTH_TYPE = 1,
  ISCSI_MUTUAL_CHAP_AUTH_TYPE = 2,
};

/* TARGET_INFORMATION_CLASS: texts, as those of ReportIScsiTargetsW. */
enum { ISCSI_DISCOVERY_MECHANISMS = 2 };

typedef struct {
  WCHAR SymbolicName[CSI_ISCSI_TEXT_UNITS];
  WCHAR Address[CSI_ISCSI_TEXT_UNITS];
  USHORT Socket;
} ISCSI_TARGET_PORTALW;

typedef struct {
  ULONG Version;
  ULONG InformationSpecified;
  ULONG LoginFlags;
  ULONG AuthType;
  ULONG HeaderDigest;
  ULONG DataDigest;
  ULONG MaximumConnections;
  ULONG DefaultTime2Wait;
  ULONG DefaultTime2Retain;
  ULONG UsernameLength; /* bytes */
  ULONG PasswordLength;
  PUCHAR Username;
  PUCHAR Password;
} ISCSI_LOGIN_OPTIONS;

typedef struct {
  WCHAR InitiatorName[CSI_ISCSI_TEXT_UNITS];
  ULONG InitiatorPortNumber;
  WCHAR SymbolicName[CSI_ISCSI_TEXT_UNITS];
  WCHAR Address[CSI_ISCSI_TEXT_UNITS];
  USHORT Socket;
  ULONGLONG SecurityFlags;
  ISCSI_LOGIN_OPTIONS LoginOptions;
} ISCSI_TARGET_PORTAL_INFO_EXW;

typedef struct {
  ULONGLONG AdapterUnique;
  ULONGLONG AdapterSpecific;
} ISCSI_UNIQUE_SESSION_ID;

typedef struct {
  ISCSI_UNIQUE_SESSION_ID ConnectionId;
  PWCHAR InitiatorAddress;
  PWCHAR TargetAddress;
  USHORT InitiatorSocket;
  USHORT TargetSocket;
  UCHAR CID[2];
} ISCSI_CONNECTION_INFOW;

typedef struct {
  ISCSI_UNIQUE_SESSION_ID SessionId;
  PWCHAR InitiatorName;
  PWCHAR TargetNodeName;
  PWCHAR TargetName;
  UCHAR ISID[6];
  UCHAR TSID[2];
  ULONG ConnectionCount;
  ISCSI_CONNECTION_INFOW *Connections;
} ISCSI_SESSION_INFOW;

/* SCSI_ADDRESS of ntddscsi.h. */
typedef struct {
  ULONG Length;
  UCHAR PortNumber;
  UCHAR PathId;
  UCHAR TargetId;
  UCHAR Lun;
} ISCSI_DEVICE_ADDRESS;

typedef struct {
  WCHAR InitiatorName[CSI_ISCSI_TEXT_UNITS];
  WCHAR TargetName[CSI_ISCSI_NAME_UNITS];
  ISCSI_DEVICE_ADDRESS ScsiAddress;
  GUID DeviceInterfaceType;
  WCHAR DeviceInterfaceName[MAX_PATH];
  WCHAR LegacyName[MAX_PATH];
  STORAGE_DEVICE_NUMBER StorageDeviceNumber;
  DWORD DeviceInstance;
} ISCSI_DEVICE_ON_SESSIONW;

typedef struct {
  WCHAR TargetName[CSI_ISCSI_NAME_UNITS];
  BOOLEAN IsInformationalSession;
  WCHAR InitiatorInstance[CSI_ISCSI_TEXT_UNITS];
  ULONG InitiatorPortNumber;
  ISCSI_TARGET_PORTALW TargetPortal;
  ULONGLONG SecurityFlags;
  void *Mappings;
  ISCSI_LOGIN_OPTIONS LoginOptions;
} PERSISTENT_ISCSI_LOGIN_INFOW;

/* What structures.c reads is where it reads it. */
#define CSI_ISCSI_AT(type, field, at) _Static_assert(offsetof(type, field) == (at), #type "." #field)
_Static_assert(sizeof(ISCSI_TARGET_PORTALW) == 1026, "ISCSI_TARGET_PORTALW");
CSI_ISCSI_AT(ISCSI_TARGET_PORTALW, Socket, 1024);
_Static_assert(sizeof(ISCSI_LOGIN_OPTIONS) == 64, "ISCSI_LOGIN_OPTIONS");
CSI_ISCSI_AT(ISCSI_LOGIN_OPTIONS, UsernameLength, 36);
CSI_ISCSI_AT(ISCSI_LOGIN_OPTIONS, Username, 48);
CSI_ISCSI_AT(ISCSI_LOGIN_OPTIONS, Password, 56);
_Static_assert(sizeof(ISCSI_UNIQUE_SESSION_ID) == 16, "ISCSI_UNIQUE_SESSION_ID");
_Static_assert(sizeof(ISCSI_CONNECTION_INFOW) == 40, "ISCSI_CONNECTION_INFOW");
CSI_ISCSI_AT(ISCSI_CONNECTION_INFOW, TargetSocket, 34);

_Static_assert(sizeof(ISCSI_TARGET_PORTAL_INFO_EXW) == CSI_ISCSI_PORTAL_INFO_BYTES, "portal");
CSI_ISCSI_AT(ISCSI_TARGET_PORTAL_INFO_EXW, Address, CSI_ISCSI_PORTAL_INFO_ADDRESS_AT);
CSI_ISCSI_AT(ISCSI_TARGET_PORTAL_INFO_EXW, Socket, CSI_ISCSI_PORTAL_INFO_SOCKET_AT);
CSI_ISCSI_AT(ISCSI_TARGET_PORTAL_INFO_EXW, LoginOptions, 1552);

_Static_assert(sizeof(ISCSI_SESSION_INFOW) == CSI_ISCSI_SESSION_BYTES, "session");
CSI_ISCSI_AT(ISCSI_SESSION_INFOW, InitiatorName, CSI_ISCSI_SESSION_INITIATOR_AT);
CSI_ISCSI_AT(ISCSI_SESSION_INFOW, TargetNodeName, CSI_ISCSI_SESSION_NODE_NAME_AT);
CSI_ISCSI_AT(ISCSI_SESSION_INFOW, TargetName, CSI_ISCSI_SESSION_NAME_AT);
CSI_ISCSI_AT(ISCSI_SESSION_INFOW, ConnectionCount, CSI_ISCSI_SESSION_CONNECTION_COUNT_AT);
CSI_ISCSI_AT(ISCSI_SESSION_INFOW, Connections, CSI_ISCSI_SESSION_CONNECTIONS_AT);

_Static_assert(sizeof(ISCSI_DEVICE_ON_SESSIONW) == CSI_ISCSI_DEVICE_BYTES, "device");
CSI_ISCSI_AT(ISCSI_DEVICE_ON_SESSIONW, StorageDeviceNumber.DeviceType, CSI_ISCSI_DEVICE_TYPE_AT);
CSI_ISCSI_AT(ISCSI_DEVICE_ON_SESSIONW, StorageDeviceNumber.DeviceNumber, CSI_ISCSI_DEVICE_NUMBER_AT);

_Static_assert(sizeof(PERSISTENT_ISCSI_LOGIN_INFOW) == CSI_ISCSI_PERSISTENT_BYTES, "persistent login");
CSI_ISCSI_AT(PERSISTENT_ISCSI_LOGIN_INFOW, TargetName, CSI_ISCSI_PERSISTENT_TARGET_AT);
CSI_ISCSI_AT(PERSISTENT_ISCSI_LOGIN_INFOW, InitiatorInstance, CSI_ISCSI_PERSISTENT_INITIATOR_AT);
CSI_ISCSI_AT(PERSISTENT_ISCSI_LOGIN_INFOW, InitiatorPortNumber, CSI_ISCSI_PERSISTENT_INITIATOR_PORT_AT);
CSI_ISCSI_AT(PERSISTENT_ISCSI_LOGIN_INFOW, TargetPortal.SymbolicName, CSI_ISCSI_PERSISTENT_PORTAL_NAME_AT);
CSI_ISCSI_AT(PERSISTENT_ISCSI_LOGIN_INFOW, TargetPortal.Address, CSI_ISCSI_PERSISTENT_ADDRESS_AT);
CSI_ISCSI_AT(PERSISTENT_ISCSI_LOGIN_INFOW, TargetPortal.Socket, CSI_ISCSI_PERSISTENT_SOCKET_AT);
#undef CSI_ISCSI_AT

/* All return 0, a Win32 error, or a number of iscsierr.h. Sizes are those of the buffers going in, and what
 * is there or needed coming out. */
typedef ULONG(WINAPI csi_add_portal_function)(PWSTR initiator_w, ULONG initiator_port,
                                              ISCSI_LOGIN_OPTIONS *options, ULONGLONG security_flags,
                                              ISCSI_TARGET_PORTALW *portal);
/* RefreshIScsiSendTargetPortalW and RemoveIScsiSendTargetPortalW. */
typedef ULONG(WINAPI csi_portal_function)(PWSTR initiator_w, ULONG initiator_port,
                                          ISCSI_TARGET_PORTALW *portal);
typedef ULONG(WINAPI csi_report_portals_function)(PULONG count, PULONG size_bytes,
                                                  ISCSI_TARGET_PORTAL_INFO_EXW *portals);
typedef ULONG(WINAPI csi_report_targets_function)(BOOLEAN update, PULONG units, PWCHAR names_w);
typedef ULONG(WINAPI csi_target_information_function)(PWSTR target_w, PWSTR mechanism_w, ULONG class,
                                                      PULONG size_bytes, void *buffer);
typedef ULONG(WINAPI csi_session_list_function)(PULONG size_bytes, PULONG count,
                                                ISCSI_SESSION_INFOW *sessions);
typedef ULONG(WINAPI csi_login_function)(PWSTR target_w, BOOLEAN informational, PWSTR initiator_w,
                                         ULONG initiator_port, ISCSI_TARGET_PORTALW *portal,
                                         ULONGLONG security_flags, void *mappings,
                                         ISCSI_LOGIN_OPTIONS *options, ULONG key_bytes, PCHAR key,
                                         BOOLEAN persistent, ISCSI_UNIQUE_SESSION_ID *session_out,
                                         ISCSI_UNIQUE_SESSION_ID *connection_out);
typedef ULONG(WINAPI csi_logout_function)(ISCSI_UNIQUE_SESSION_ID *session);
typedef ULONG(WINAPI csi_report_persistent_logins_function)(PULONG count,
                                                            PERSISTENT_ISCSI_LOGIN_INFOW *logins,
                                                            PULONG size_bytes);
typedef ULONG(WINAPI csi_remove_persistent_login_function)(PWSTR initiator_w, ULONG initiator_port,
                                                           PWSTR target_w, ISCSI_TARGET_PORTALW *portal);
/* count: of the room for devices, and of devices. */
typedef ULONG(WINAPI csi_session_devices_function)(ISCSI_UNIQUE_SESSION_ID *session, PULONG count,
                                                   ISCSI_DEVICE_ON_SESSIONW *devices);
typedef ULONG(WINAPI csi_set_chap_secret_function)(ULONG size_bytes, PUCHAR secret);

#endif
