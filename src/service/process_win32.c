/* SPDX-License-Identifier: Apache-2.0 */
#include "service/process_win32.h"

#include <windows.h>

#include "base/log.h"
#include "base/text.h"

void csi_process_harden(void) {
  HeapSetInformation(NULL, HeapEnableTerminationOnCorruption, NULL, 0);
  /* Neither the program's own directory nor the current one: both may be writable by others. */
  SetDefaultDllDirectories(LOAD_LIBRARY_SEARCH_SYSTEM32);
  SetDllDirectoryW(L"");
  SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOOPENFILEERRORBOX);
}

struct privilege {
  const wchar_t *name_w;
  const char *name;
};

static const struct privilege privileges[] = {
    {L"SeBackupPrivilege", "SeBackupPrivilege"}, /* look into directories whatever their ACL */
    {L"SeRestorePrivilege", "SeRestorePrivilege"},
    {L"SeCreateSymbolicLinkPrivilege", "SeCreateSymbolicLinkPrivilege"},
    {L"SeManageVolumePrivilege", "SeManageVolumePrivilege"}, /* extend a file system */
    {L"SeLoadDriverPrivilege", "SeLoadDriverPrivilege"},     /* look for new disks on an adapter */
};

/* UNVERIFIED ON WINDOWS: Wine does not know SeCreateSymbolicLinkPrivilege and checks no privilege. */
static DWORD enable_privilege(HANDLE token, const wchar_t *name_w) {
  TOKEN_PRIVILEGES change = {.PrivilegeCount = 1, .Privileges[0].Attributes = SE_PRIVILEGE_ENABLED};
  if (!LookupPrivilegeValueW(NULL, name_w, &change.Privileges[0].Luid)) return GetLastError();
  /* Succeeds without effect when the account does not hold it; only the last error tells. */
  AdjustTokenPrivileges(token, FALSE, &change, 0, NULL, NULL);
  return GetLastError();
}

void csi_process_enable_privileges(void) {
  HANDLE token;
  if (!OpenProcessToken(GetCurrentProcess(), TOKEN_ADJUST_PRIVILEGES | TOKEN_QUERY, &token)) {
    DWORD error = GetLastError();
    CSI_V(2, "Cannot adjust privileges: OpenProcessToken failed with %lu", error);
    return;
  }
  for (size_t i = 0; i < sizeof privileges / sizeof privileges[0]; i++) {
    DWORD error = enable_privilege(token, privileges[i].name_w);
    if (error != ERROR_SUCCESS) CSI_V(2, "Cannot enable %s: error %lu", privileges[i].name, error);
  }
  CloseHandle(token);
}

char **csi_process_arguments(struct csi_arena *arena, int argc, wchar_t *const *argv_w) {
  char **argv = csi_arena_alloc_array(arena, (size_t)argc + 1, sizeof *argv);
  if (argv == NULL) return NULL;
  for (int i = 0; i < argc; i++) {
    argv[i] = csi_utf8_from_utf16(arena, argv_w[i], wcslen(argv_w[i]));
    if (argv[i] == NULL) return NULL;
  }
  return argv;
}
