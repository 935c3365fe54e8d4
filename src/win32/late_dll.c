/* SPDX-License-Identifier: Apache-2.0 */
#include "win32/late_dll.h"

#include <string.h>

#include "win32/ascii.h"

enum { NAME_UNITS = 32 };

static bool find_functions(struct csi_late_dll *dll, HMODULE module, struct csi_status *status) {
  for (size_t i = 0; i < dll->count; i++) {
    FARPROC function = GetProcAddress(module, dll->names[i]);
    if (function == NULL && i < dll->required_count)
      return csi_fail(status, CSI_UNIMPLEMENTED, "%s of this version of Windows has no %s", dll->name,
                      dll->names[i]);
    memcpy((char *)dll->functions + i * sizeof function, &function, sizeof function);
  }
  return true;
}

static bool load(struct csi_late_dll *dll, struct csi_status *status) {
  wchar_t name_w[NAME_UNITS];
  csi_widen_ascii(dll->name, name_w, NAME_UNITS);
  HMODULE module = LoadLibraryExW(name_w, NULL, LOAD_LIBRARY_SEARCH_SYSTEM32);
  if (module == NULL) {
    DWORD error = GetLastError();
    csi_fail_system(status, CSI_SPACE_WIN32, error, "LoadLibraryExW", "%s", dll->name);
    if (error == ERROR_MOD_NOT_FOUND) status->code = CSI_UNIMPLEMENTED;
    return false;
  }
  dll->is_loaded = find_functions(dll, module, status);
  if (!dll->is_loaded) FreeLibrary(module);
  return dll->is_loaded;
}

bool csi_late_dll_load(struct csi_late_dll *dll, struct csi_status *status) {
  AcquireSRWLockExclusive(&dll->lock);
  bool done = dll->is_loaded || load(dll, status);
  ReleaseSRWLockExclusive(&dll->lock);
  return done;
}
