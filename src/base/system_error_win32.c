/* SPDX-License-Identifier: Apache-2.0 */
#include <windows.h>

#include "base/system_error.h"

enum {
  TEXT_UNITS = 512,
};

bool csi_ask_system_for_error_text(enum csi_error_space space, uint32_t number, char *buffer,
                                   size_t buffer_bytes) {
  bool known_to_system =
      space == CSI_SPACE_WIN32 || space == CSI_SPACE_HRESULT || space == CSI_SPACE_NTSTATUS;
  if (!known_to_system) return false;

  wchar_t text_w[TEXT_UNITS];
  HMODULE table = space == CSI_SPACE_NTSTATUS ? GetModuleHandleW(L"ntdll.dll") : NULL;
  DWORD source = table != NULL ? FORMAT_MESSAGE_FROM_HMODULE : FORMAT_MESSAGE_FROM_SYSTEM;
  DWORD units = FormatMessageW(source | FORMAT_MESSAGE_IGNORE_INSERTS, table, number,
                               MAKELANGID(LANG_ENGLISH, SUBLANG_ENGLISH_US), text_w, TEXT_UNITS, NULL);
  /* English is there only when its language pack is; any language is better than none. */
  if (units == 0)
    units =
        FormatMessageW(source | FORMAT_MESSAGE_IGNORE_INSERTS, table, number, 0, text_w, TEXT_UNITS, NULL);
  DWORD line_units = 0;
  while (line_units < units && text_w[line_units] != L'\r' && text_w[line_units] != L'\n')
    line_units++;
  if (line_units == 0) return false;

  int bytes =
      WideCharToMultiByte(CP_UTF8, 0, text_w, (int)line_units, buffer, (int)buffer_bytes - 1, NULL, NULL);
  if (bytes <= 0) return false;
  buffer[bytes] = '\0';
  return true;
}

enum csi_code csi_code_of_errno(uint32_t number) {
  (void)number;
  return CSI_UNKNOWN;
}
