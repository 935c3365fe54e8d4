/* SPDX-License-Identifier: Apache-2.0
 *
 * What calls answer, in the caller's buffer and in the layouts of Windows. A buffer that is too small gives
 * ERROR_INSUFFICIENT_BUFFER and the size that is needed, and is not touched.
 */
#ifndef CSI_TESTBED_ISCSIDSC_REPLY_H
#define CSI_TESTBED_ISCSIDSC_REPLY_H

#include "iscsi/iscsidsc_win32.h"
#include "network/state.h"

/* Registered portals. */
DWORD reply_portals(const struct network_state *state, ULONG *count, ULONG *size_bytes,
                    ISCSI_TARGET_PORTAL_INFO_EXW *portals);

/* Names of discovered targets; sizes are in units. */
DWORD reply_targets(const struct network_state *state, ULONG *units, WCHAR *names_w);

/* How a target was discovered; sizes are in bytes. */
DWORD reply_mechanisms(const struct network_state *state, const char *iqn, ULONG *size_bytes, void *texts);

/* Sessions: the array, then their connections and texts. */
DWORD reply_sessions(const struct network_state *state, ULONG *size_bytes, ULONG *count,
                     ISCSI_SESSION_INFOW *sessions);

DWORD reply_persistent_logins(const struct network_state *state, ULONG *count,
                              PERSISTENT_ISCSI_LOGIN_INFOW *logins, ULONG *size_bytes);

/* The disks of a session that have arrived. */
DWORD reply_devices(const struct network_state *state, const struct network_record *session, ULONG *count,
                    ISCSI_DEVICE_ON_SESSIONW *devices);

#endif
