/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions of mpr.dll and credui.dll, and the call that connects to a share, which mapping and trying
 * have in common.
 */
#ifndef CSI_SMB_WNET_CALLS_WIN32_H
#define CSI_SMB_WNET_CALLS_WIN32_H

#include <windows.h>

#include <winnetwk.h>

#include "smb/common_win32.h"
#include "win32/library_call.h"

/* In the SDK's winnetwk.h since Windows 10. */
enum {
  CSI_CONNECT_REQUIRE_PRIVACY = 0x00008000,
  CSI_CONNECT_GLOBAL_MAPPING = 0x00040000,
};

struct csi_wnet {
  DWORD(WINAPI *add_connection)
  (HWND owner, NETRESOURCEW *resource, void *auth_buffer, DWORD auth_buffer_bytes, DWORD flags, BYTE *options,
   DWORD options_bytes);
  __typeof__(WNetCancelConnection2W) *cancel_connection;
  __typeof__(WNetOpenEnumW) *open_enum;
  __typeof__(WNetEnumResourceW) *enum_resource;
  __typeof__(WNetCloseEnum) *close_enum;
  __typeof__(WNetGetLastErrorW) *get_last_error;
};

/* The functions of mpr.dll; NULL with UNIMPLEMENTED and what is missing. */
const struct csi_wnet *csi_wnet(struct csi_status *status) CSI_MUST_CHECK;

enum {
  CSI_PROVIDER_TEXT_UNITS = 256,
};

/* What a network provider says besides ERROR_EXTENDED_ERROR. */
struct csi_provider_error {
  DWORD number; /* 0: nothing */
  wchar_t text_w[CSI_PROVIDER_TEXT_UNITS];
};

/* A connection being made. */
struct csi_connect {
  struct csi_library_call call; /* first; its name is WNetAddConnection4W */
  const struct csi_wnet *wnet;
  const char *failed; /* literal: the function that gave call.error */
  DWORD flags;
  bool has_credentials;
  bool root_is_denied; /* out, of a trial */
  struct csi_provider_error provider;
  BYTE *packed; /* credentials as credui.dll packs them */
  DWORD packed_bytes;
  wchar_t root_w[CSI_SMB_ROOT_UNITS];
  wchar_t username_w[CSI_SMB_CREDENTIAL_UNITS];
  wchar_t password_w[CSI_SMB_CREDENTIAL_UNITS];
};

/* Prepares a connection. run: what happens on the thread; NULL = csi_connect_run(). NULL, with ctx->status,
 * on failure. */
struct csi_connect *csi_connect_new(struct csi_ctx *ctx, const char *root,
                                    const struct csi_smb_credentials *credentials, DWORD flags,
                                    void (*run)(struct csi_library_call *call)) CSI_MUST_CHECK;

/* Packs the credentials and connects; leaves the outcome in call.error. On the call's thread. */
void csi_connect_run(struct csi_library_call *call);

/* Runs and frees it. False with what went wrong. root_is_denied_out may be NULL. */
bool csi_connect_finish(struct csi_ctx *ctx, struct csi_connect *connect, const char *root,
                        bool *root_is_denied_out) CSI_MUST_CHECK;

/* Asks for the provider's own error when `error` says that there is one. */
void csi_provider_error_get(const struct csi_wnet *wnet, DWORD error,
                            struct csi_provider_error *provider_out);

/* Records a failure of mpr.dll on an object. Returns false. */
bool csi_wnet_fail(struct csi_ctx *ctx, uint32_t error, const struct csi_provider_error *provider,
                   const char *call, const char *object);

#endif
