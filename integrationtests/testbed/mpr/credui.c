/* SPDX-License-Identifier: Apache-2.0
 *
 * credui.dll for the testbed: CredPackAuthenticationBufferW, which Wine's does not do. No Wine DLL imports
 * credui.dll.
 */
#include <windows.h>

#include <string.h>
#include <wchar.h>

#include "auth_buffer.h"

__declspec(dllexport) BOOL WINAPI
    CredPackAuthenticationBufferW(DWORD flags, wchar_t *user_w, wchar_t *password_w, BYTE *packed,
                                  DWORD *packed_bytes_inout);

BOOL WINAPI CredPackAuthenticationBufferW(DWORD flags, wchar_t *user_w, wchar_t *password_w, BYTE *packed,
                                          DWORD *packed_bytes_inout) {
  if (flags != 0 || user_w == NULL || password_w == NULL || packed_bytes_inout == NULL) {
    SetLastError(ERROR_INVALID_PARAMETER);
    return FALSE;
  }
  struct auth_buffer head = {
      .magic = AUTH_BUFFER_MAGIC,
      .user_units = (uint32_t)wcslen(user_w),
      .password_units = (uint32_t)wcslen(password_w),
  };
  size_t user_bytes = head.user_units * sizeof *user_w;
  size_t password_bytes = head.password_units * sizeof *password_w;
  DWORD capacity_bytes = *packed_bytes_inout;
  *packed_bytes_inout = (DWORD)(sizeof head + user_bytes + password_bytes);
  if (packed == NULL || capacity_bytes < *packed_bytes_inout) {
    SetLastError(ERROR_INSUFFICIENT_BUFFER);
    return FALSE;
  }
  memcpy(packed, &head, sizeof head);
  memcpy(packed + sizeof head, user_w, user_bytes);
  memcpy(packed + sizeof head + user_bytes, password_w, password_bytes);
  return TRUE;
}
