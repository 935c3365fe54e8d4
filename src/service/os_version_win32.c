/* SPDX-License-Identifier: Apache-2.0 */
#include "service/os_version_win32.h"

#include <windows.h>

#include <stdio.h>
#include <string.h>

#define KEY_W L"SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion"

enum {
  NAME_UNITS = 128,
  NAME_BYTES = 3 * NAME_UNITS,
  REVISION_BYTES = 16,
};

static DWORD get_build(void) {
  union {
    FARPROC found;
    LONG(WINAPI *call)(OSVERSIONINFOW *version);
  } get_version = {.found = GetProcAddress(GetModuleHandleW(L"ntdll.dll"), "RtlGetVersion")};
  OSVERSIONINFOW version = {.dwOSVersionInfoSize = sizeof version};
  return get_version.found != NULL && get_version.call(&version) == 0 ? version.dwBuildNumber : 0;
}

static void get_name(char name_out[NAME_BYTES]) {
  wchar_t name_w[NAME_UNITS];
  DWORD bytes = sizeof name_w;
  LSTATUS error =
      RegGetValueW(HKEY_LOCAL_MACHINE, KEY_W, L"ProductName", RRF_RT_REG_SZ, NULL, name_w, &bytes);
  if (error != ERROR_SUCCESS ||
      WideCharToMultiByte(CP_UTF8, 0, name_w, -1, name_out, NAME_BYTES, NULL, NULL) == 0)
    strcpy(name_out, "Windows");
}

/* The update level, ".2113"; "" when the registry does not tell. */
static void get_revision(char revision_out[REVISION_BYTES]) {
  DWORD revision, bytes = sizeof revision;
  revision_out[0] = '\0';
  if (RegGetValueW(HKEY_LOCAL_MACHINE, KEY_W, L"UBR", RRF_RT_REG_DWORD, NULL, &revision, &bytes) ==
      ERROR_SUCCESS)
    snprintf(revision_out, REVISION_BYTES, ".%lu", revision);
}

void csi_os_version(char *text_out, size_t text_bytes) {
  char name[NAME_BYTES], revision[REVISION_BYTES];
  get_name(name);
  get_revision(revision);
  snprintf(text_out, text_bytes, "%s, build %lu%s", name, get_build(), revision);
}
