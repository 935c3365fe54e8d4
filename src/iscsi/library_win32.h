/* SPDX-License-Identifier: Apache-2.0
 *
 * iscsidsc.dll, and what all calls into it have in common.
 */
#ifndef CSI_ISCSI_LIBRARY_WIN32_H
#define CSI_ISCSI_LIBRARY_WIN32_H

#include "base/ctx.h"
#include "iscsi/iscsidsc_win32.h"
#include "win32/library_call.h"

/* What a library that cannot be loaded is missed for. */
#define CSI_ISCSI_INITIATOR "the iSCSI initiator"

/* The library's functions. */
struct csi_iscsi_library {
  csi_add_portal_function *add_portal;
  csi_portal_function *refresh_portal;
  csi_portal_function *remove_portal;
  csi_report_portals_function *report_portals;
  csi_report_targets_function *report_targets;
  csi_target_information_function *get_target_information;
  csi_session_list_function *get_sessions;
  csi_login_function *login;
  csi_logout_function *logout;
  csi_report_persistent_logins_function *report_persistent_logins;
  csi_remove_persistent_login_function *remove_persistent_login;
  csi_session_devices_function *get_session_devices;
  csi_set_chap_secret_function *set_chap_secret;
};

/* The library, loaded when it is first asked for. NULL with UNIMPLEMENTED when this Windows lacks it. */
const struct csi_iscsi_library *csi_iscsi_library(struct csi_ctx *ctx);

/* The object of calls that change a target or a portal, the same for all its spellings, in the arena; NULL
 * with a status when memory is short. */
const char *csi_iscsi_target_object(struct csi_ctx *ctx, const char *target);
const char *csi_iscsi_portal_object(struct csi_ctx *ctx, const struct csi_iscsi_portal *portal);

/* Copies UTF-8 to an array of room units, filled up with NULs. INVALID_ARGUMENT when it does not fit. */
bool csi_iscsi_library_widen(struct csi_ctx *ctx, const char *text, wchar_t *text_w_out,
                             size_t room) CSI_MUST_CHECK;

/* Fails with a result of the library that is not 0. */
bool csi_iscsi_library_fail(struct csi_ctx *ctx, uint32_t error, const char *function, const char *object);

/* Runs a call to its end, frees it, and fails when its result is not 0. A call that gives back more than that
 * is run with csi_library_call(). */
bool csi_iscsi_library_run(struct csi_ctx *ctx, struct csi_library_call *call,
                           const char *object) CSI_MUST_CHECK;

#endif
