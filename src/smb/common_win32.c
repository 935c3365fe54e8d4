/* SPDX-License-Identifier: Apache-2.0 */
#include "smb/common_win32.h"

#include <string.h>

#include "base/text.h"
#include "win32/library_call.h"

bool csi_smb_widen(struct csi_ctx *ctx, const char *text, const char *what, wchar_t *text_w_out,
                   size_t units) {
  size_t length;
  const uint16_t *text_w = csi_utf16_from_utf8(ctx->arena, text, strlen(text), &length, &ctx->status);
  if (text_w == NULL) return csi_explain(&ctx->status, "%s: ", what);
  if (length >= units)
    return csi_fail(&ctx->status, CSI_INVALID_ARGUMENT, "%s: longer than %zu characters", what, units - 1);
  memcpy(text_w_out, text_w, (length + 1) * sizeof *text_w);
  return true;
}

const char *csi_smb_object(struct csi_ctx *ctx, const char *root) {
  const char *object = csi_arena_printf(ctx->arena, "share %s", root);
  if (object == NULL) csi_fail_out_of_memory(&ctx->status);
  return object;
}

/* ---- Check. ---- */

struct check {
  struct csi_library_call call; /* first */
  wchar_t path_w[CSI_SMB_ROOT_UNITS];
};

DWORD csi_smb_open_root(const wchar_t *path_w) {
  HANDLE folder =
      CreateFileW(path_w, FILE_READ_ATTRIBUTES, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                  OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL);
  if (folder == INVALID_HANDLE_VALUE) return GetLastError();
  CloseHandle(folder);
  return NO_ERROR;
}

static void run_check(struct csi_library_call *call) {
  call->error = csi_smb_open_root(((struct check *)call)->path_w);
}

bool csi_smb_check_root(void *self, struct csi_ctx *ctx, const char *root) {
  (void)self;
  const char *object = csi_smb_object(ctx, root);
  const char *path = csi_arena_printf(ctx->arena, "%s\\", root);
  if (object == NULL || path == NULL) return csi_fail_out_of_memory(&ctx->status);
  struct check *check = csi_library_call_new(ctx, sizeof *check, run_check, "CreateFileW");
  if (check == NULL) return false;
  if (!csi_smb_widen(ctx, path, object, check->path_w, CSI_SMB_ROOT_UNITS)) {
    csi_library_call_free(&check->call);
    return false;
  }
  if (!csi_library_call(ctx, &check->call, CSI_LIBRARY_CALL_MS, object)) return false;
  uint32_t error = check->call.error;
  csi_library_call_free(&check->call);
  return error == 0 || csi_fail_system(&ctx->status, CSI_SPACE_WIN32, error, "CreateFileW", "%s", object);
}
