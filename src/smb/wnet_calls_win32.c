/* SPDX-License-Identifier: Apache-2.0 */
#include "smb/wnet_calls_win32.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/wipe.h"
#include "win32/late_dll.h"

static wchar_t provider_name_w[] = L"Microsoft Windows Network";

/* ---- DLLs. ---- */

const struct csi_wnet *csi_wnet(struct csi_status *status) {
  static const char *const names[] = {
      "WNetAddConnection4W", "WNetCancelConnection2W", "WNetOpenEnumW",
      "WNetEnumResourceW",   "WNetCloseEnum",          "WNetGetLastErrorW",
  };
  static struct csi_wnet functions;
  static struct csi_late_dll dll = {.name = "mpr.dll",
                                    .names = names,
                                    .count = ARRAYSIZE(names),
                                    .required_count = ARRAYSIZE(names),
                                    .functions = &functions};
  _Static_assert(sizeof functions == ARRAYSIZE(names) * sizeof(FARPROC), "one name for each function");
  return csi_late_dll_load(&dll, status) ? &functions : NULL;
}

struct credui {
  BOOL(WINAPI *pack)(DWORD flags, wchar_t *username_w, wchar_t *password_w, BYTE *packed, DWORD *bytes_inout);
};

static struct credui credui;

static bool load_credui(struct csi_status *status) {
  static const char *const names[] = {"CredPackAuthenticationBufferW"};
  static struct csi_late_dll dll = {
      .name = "credui.dll", .names = names, .count = 1, .required_count = 1, .functions = &credui};
  return csi_late_dll_load(&dll, status);
}

/* ---- Errors. ---- */

void csi_provider_error_get(const struct csi_wnet *wnet, DWORD error,
                            struct csi_provider_error *provider_out) {
  wchar_t name_w[64];
  provider_out->number = 0;
  if (error != ERROR_EXTENDED_ERROR) return;
  if (wnet->get_last_error(&provider_out->number, provider_out->text_w, CSI_PROVIDER_TEXT_UNITS, name_w,
                           ARRAYSIZE(name_w)) != NO_ERROR)
    provider_out->number = 0;
  provider_out->text_w[CSI_PROVIDER_TEXT_UNITS - 1] = L'\0';
}

bool csi_wnet_fail(struct csi_ctx *ctx, uint32_t error, const struct csi_provider_error *provider,
                   const char *call, const char *object) {
  csi_fail_system(&ctx->status, CSI_SPACE_WIN32, error, call, "%s", object);
  if (provider->number == 0) return false;
  char text[CSI_PROVIDER_TEXT_UNITS * 4] = "";
  const char *utf8 = csi_utf8_from_utf16(ctx->arena, provider->text_w, csi_utf16_length(provider->text_w));
  if (utf8 != NULL) csi_text_escape(text, sizeof text, utf8, strlen(utf8));
  return csi_advise(&ctx->status, "; the network provider says %lu: %s", provider->number, text);
}

/* ---- Connecting. ---- */

static void clean_up(struct csi_library_call *call) {
  struct csi_connect *connect = (struct csi_connect *)call;
  if (connect->packed != NULL) csi_wipe(connect->packed, connect->packed_bytes);
  free(connect->packed);
}

static bool fill(struct csi_ctx *ctx, struct csi_connect *connect, const char *root,
                 const struct csi_smb_credentials *credentials) {
  connect->has_credentials = credentials->username[0] != '\0';
  if (!csi_smb_widen(ctx, root, "remote path", connect->root_w, CSI_SMB_ROOT_UNITS)) return false;
  if (!connect->has_credentials) return true;
  return load_credui(&ctx->status) &&
         csi_smb_widen(ctx, credentials->username, "username", connect->username_w,
                       CSI_SMB_CREDENTIAL_UNITS) &&
         csi_smb_widen(ctx, credentials->password, "password", connect->password_w, CSI_SMB_CREDENTIAL_UNITS);
}

struct csi_connect *csi_connect_new(struct csi_ctx *ctx, const char *root,
                                    const struct csi_smb_credentials *credentials, DWORD flags,
                                    void (*run)(struct csi_library_call *call)) {
  const struct csi_wnet *wnet = csi_wnet(&ctx->status);
  if (wnet == NULL) return NULL;
  struct csi_connect *connect =
      csi_library_call_new(ctx, sizeof *connect, run == NULL ? csi_connect_run : run, "WNetAddConnection4W");
  if (connect == NULL) return NULL;
  connect->call.clean_up = clean_up;
  connect->wnet = wnet;
  connect->flags = flags;
  connect->failed = connect->call.name;
  if (fill(ctx, connect, root, credentials)) return connect;
  csi_library_call_free(&connect->call);
  return NULL;
}

/* UNVERIFIED ON WINDOWS: that WNetAddConnection4W() takes credentials packed with no flags. */
static bool pack(struct csi_connect *connect) {
  DWORD size_bytes = 0;
  connect->failed = "CredPackAuthenticationBufferW";
  if (!credui.pack(0, connect->username_w, connect->password_w, NULL, &size_bytes)) {
    connect->call.error = GetLastError();
    if (connect->call.error != ERROR_INSUFFICIENT_BUFFER) return false;
  }
  connect->call.error = ERROR_NOT_ENOUGH_MEMORY;
  connect->packed = calloc(1, size_bytes);
  if (connect->packed == NULL) return false;
  connect->packed_bytes = size_bytes;
  if (credui.pack(0, connect->username_w, connect->password_w, connect->packed, &size_bytes)) return true;
  connect->call.error = GetLastError();
  return false;
}

/* UNVERIFIED ON WINDOWS: CONNECT_GLOBAL_MAPPING, and CONNECT_TEMPORARY with it. */
void csi_connect_run(struct csi_library_call *call) {
  struct csi_connect *connect = (struct csi_connect *)call;
  NETRESOURCEW resource = {
      .dwType = RESOURCETYPE_DISK, .lpRemoteName = connect->root_w, .lpProvider = provider_name_w};
  if (connect->has_credentials && !pack(connect)) return;
  connect->failed = call->name;
  call->error = connect->wnet->add_connection(NULL, &resource, connect->packed, connect->packed_bytes,
                                              connect->flags, NULL, 0);
  csi_provider_error_get(connect->wnet, call->error, &connect->provider);
}

bool csi_connect_finish(struct csi_ctx *ctx, struct csi_connect *connect, const char *root,
                        bool *root_is_denied_out) {
  const char *object = csi_smb_object(ctx, root);
  if (object == NULL) {
    csi_library_call_free(&connect->call);
    return false;
  }
  if (!csi_library_call(ctx, &connect->call, CSI_LIBRARY_CALL_MS, object)) return false;
  if (root_is_denied_out != NULL) *root_is_denied_out = connect->root_is_denied;
  bool done = connect->call.error == NO_ERROR ||
              csi_wnet_fail(ctx, connect->call.error, &connect->provider, connect->failed, object);
  csi_library_call_free(&connect->call);
  return done;
}
