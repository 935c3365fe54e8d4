/* SPDX-License-Identifier: Apache-2.0
 *
 * What Wine's hnetcfg.dll, wininet.dll and winefile.exe import besides.
 */
#include "mpr.h"

#include <winnetwk.h>

MPR_EXPORT DWORD WINAPI WNetGetUniversalNameW(const wchar_t *path_w, DWORD level, void *buffer,
                                              DWORD *buffer_bytes_inout);
MPR_EXPORT DWORD WINAPI WNetConnectionDialog(HWND owner, DWORD type);
MPR_EXPORT DWORD WINAPI WNetDisconnectDialog(HWND owner, DWORD type);
MPR_EXPORT DWORD WINAPI WNetCachePassword(char *resource, WORD resource_bytes, char *password,
                                          WORD password_bytes, BYTE type, WORD flags);
MPR_EXPORT DWORD WINAPI WNetGetCachedPassword(char *resource, WORD resource_bytes, char *password,
                                              WORD *password_bytes, BYTE type);

DWORD WINAPI WNetGetUniversalNameW(const wchar_t *path_w, DWORD level, void *buffer,
                                   DWORD *buffer_bytes_inout) {
  (void)path_w;
  (void)level;
  (void)buffer;
  (void)buffer_bytes_inout;
  return mpr_end(ERROR_NO_NETWORK);
}

DWORD WINAPI WNetConnectionDialog(HWND owner, DWORD type) {
  (void)owner;
  (void)type;
  return mpr_end(ERROR_NO_NETWORK);
}

DWORD WINAPI WNetDisconnectDialog(HWND owner, DWORD type) {
  (void)owner;
  (void)type;
  return mpr_end(ERROR_NO_NETWORK);
}

DWORD WINAPI WNetCachePassword(char *resource, WORD resource_bytes, char *password, WORD password_bytes,
                               BYTE type, WORD flags) {
  (void)resource;
  (void)resource_bytes;
  (void)password;
  (void)password_bytes;
  (void)type;
  (void)flags;
  return mpr_end(ERROR_NO_NETWORK);
}

DWORD WINAPI WNetGetCachedPassword(char *resource, WORD resource_bytes, char *password, WORD *password_bytes,
                                   BYTE type) {
  (void)resource;
  (void)resource_bytes;
  (void)password;
  (void)password_bytes;
  (void)type;
  return mpr_end(ERROR_NO_NETWORK);
}
