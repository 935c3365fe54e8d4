/* SPDX-License-Identifier: Apache-2.0 */
#include "iscsi/library_win32.h"

#include <string.h>

#include "base/text.h"
#include "iscsi/name.h"
#include "iscsi/portal.h"
#include "win32/late_dll.h"

/* In the order of struct csi_iscsi_library. */
static const char *const names[] = {
    "AddIScsiSendTargetPortalW",
    "RefreshIScsiSendTargetPortalW",
    "RemoveIScsiSendTargetPortalW",
    "ReportIScsiSendTargetPortalsExW",
    "ReportIScsiTargetsW",
    "GetIScsiTargetInformationW",
    "GetIScsiSessionListW",
    "LoginIScsiTargetW",
    "LogoutIScsiTarget",
    "ReportIScsiPersistentLoginsW",
    "RemoveIScsiPersistentTargetW",
    "GetDevicesForIScsiSessionW",
    "SetIScsiInitiatorCHAPSharedSecret",
};

enum { FUNCTION_COUNT = sizeof names / sizeof names[0] };

_Static_assert(sizeof(struct csi_iscsi_library) == FUNCTION_COUNT * sizeof(FARPROC),
               "a name for each function");

const struct csi_iscsi_library *csi_iscsi_library(struct csi_ctx *ctx) {
  static struct csi_iscsi_library library;
  static struct csi_late_dll dll = {.name = "iscsidsc.dll",
                                    .names = names,
                                    .count = FUNCTION_COUNT,
                                    .required_count = FUNCTION_COUNT,
                                    .functions = &library};
  if (csi_late_dll_load(&dll, &ctx->status)) return &library;
  csi_explain(&ctx->status, CSI_ISCSI_INITIATOR ": ");
  return NULL;
}

const char *csi_iscsi_target_object(struct csi_ctx *ctx, const char *target) {
  char key[CSI_ISCSI_NAME_BYTES];
  csi_iscsi_name_key(target, key);
  const char *object = csi_arena_printf(ctx->arena, "target %s", key);
  if (object == NULL) csi_fail_out_of_memory(&ctx->status);
  return object;
}

const char *csi_iscsi_portal_object(struct csi_ctx *ctx, const struct csi_iscsi_portal *portal) {
  char key[CSI_ISCSI_PORTAL_KEY_BYTES];
  csi_iscsi_portal_key(portal, key);
  const char *object = csi_arena_printf(ctx->arena, "portal %s", key);
  if (object == NULL) csi_fail_out_of_memory(&ctx->status);
  return object;
}

bool csi_iscsi_library_widen(struct csi_ctx *ctx, const char *text, wchar_t *text_w_out, size_t room) {
  size_t units;
  const uint16_t *text_w = csi_utf16_from_utf8(ctx->arena, text, strlen(text), &units, &ctx->status);
  if (text_w == NULL) return false;
  if (units >= room) return csi_fail(&ctx->status, CSI_INVALID_ARGUMENT, "too long for iSCSI: %s", text);
  memset(text_w_out, 0, room * sizeof *text_w_out);
  memcpy(text_w_out, text_w, units * sizeof *text_w_out);
  return true;
}

bool csi_iscsi_library_fail(struct csi_ctx *ctx, uint32_t error, const char *function, const char *object) {
  return csi_fail_system(&ctx->status, csi_iscsi_error_space(error), error, function, "%s", object);
}

bool csi_iscsi_library_run(struct csi_ctx *ctx, struct csi_library_call *call, const char *object) {
  if (!csi_library_call(ctx, call, CSI_LIBRARY_CALL_MS, object)) return false;
  uint32_t error = call->error;
  const char *function = call->name;
  csi_library_call_free(call);
  return error == ERROR_SUCCESS || csi_iscsi_library_fail(ctx, error, function, object);
}
