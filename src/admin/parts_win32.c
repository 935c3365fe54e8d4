/* SPDX-License-Identifier: Apache-2.0 */
#include "admin/parts_win32.h"

#include <windows.h>

#include <string.h>

#include "base/text.h"
#include "system/host_win32.h"
#include "win32/device.h"
#include "win32/handle.h"

enum {
  FOUND_LIBRARIES = 16, /* as many as parts.c knows, and more */
};

_Static_assert(CSI_PART_NO_SUCH_PRIVILEGE == ERROR_NO_SUCH_PRIVILEGE, "ERROR_NO_SUCH_PRIVILEGE");

static const wchar_t *widen(struct csi_ctx *ctx, const char *text) {
  return csi_utf16_from_utf8(ctx->arena, text, strlen(text), NULL, &ctx->status);
}

static bool fail(struct csi_ctx *ctx, DWORD error, const char *call, const char *object) {
  return csi_fail_system(&ctx->status, CSI_SPACE_WIN32, error, call, "%s", object);
}

/* UNVERIFIED ON WINDOWS: that nothing here is missed on a node that has it. */

/* ---- Directories. ---- */

static bool check_directory(struct csi_ctx *ctx, const char *path) {
  const wchar_t *path_w = widen(ctx, path);
  struct csi_device_watch watch;
  if (path_w == NULL || !csi_device_watch_begin_on(ctx, &watch, CSI_DEVICE_CALL_MS, "CreateFileW", path))
    return false;
  CSI_SCOPED_HANDLE directory =
      CreateFileW(path_w, FILE_LIST_DIRECTORY, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                  OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL);
  DWORD error = directory == INVALID_HANDLE_VALUE ? GetLastError() : ERROR_SUCCESS;
  BY_HANDLE_FILE_INFORMATION information;
  bool is_directory = error == ERROR_SUCCESS && GetFileInformationByHandle(directory, &information) &&
                      (information.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
  csi_device_watch_end(&watch, error == ERROR_SUCCESS);
  if (error != ERROR_SUCCESS) return csi_device_fail(ctx, &watch, error, "CreateFileW", path);
  return is_directory || csi_fail(&ctx->status, CSI_NOT_FOUND, "%s is no directory", path);
}

/* ---- Privileges. ---- */

/* CSI_PART_NO_SUCH_PRIVILEGE: so it is with Wine and SeCreateSymbolicLinkPrivilege. */
static bool check_privilege(struct csi_ctx *ctx, const char *name) {
  PRIVILEGE_SET set = {.PrivilegeCount = 1, .Control = PRIVILEGE_SET_ALL_NECESSARY};
  const wchar_t *name_w = widen(ctx, name);
  if (name_w == NULL) return false;
  if (!LookupPrivilegeValueW(NULL, name_w, &set.Privilege[0].Luid))
    return fail(ctx, GetLastError(), "LookupPrivilegeValueW", name);
  CSI_SCOPED_HANDLE token = INVALID_HANDLE_VALUE;
  if (!OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &token)) {
    DWORD error = GetLastError();
    token = INVALID_HANDLE_VALUE;
    return fail(ctx, error, "OpenProcessToken", name);
  }
  BOOL is_held = FALSE;
  if (!PrivilegeCheck(token, &set, &is_held)) return fail(ctx, GetLastError(), "PrivilegeCheck", name);
  return is_held || csi_fail(&ctx->status, CSI_PERMISSION_DENIED, "the service does not have %s", name);
}

/* ---- Libraries. ---- */

/* Libraries that were complete once: Windows does not lose them while it runs. */
static struct {
  SRWLOCK lock;
  const char *names[FOUND_LIBRARIES];
  size_t count;
} found = {.lock = SRWLOCK_INIT};

static bool was_found(const char *name) {
  bool known = false;
  AcquireSRWLockShared(&found.lock);
  for (size_t i = 0; i < found.count; i++)
    known |= strcmp(found.names[i], name) == 0;
  ReleaseSRWLockShared(&found.lock);
  return known;
}

/* name: a literal. */
static void remember(const char *name) {
  AcquireSRWLockExclusive(&found.lock);
  if (found.count < FOUND_LIBRARIES) found.names[found.count++] = name;
  ReleaseSRWLockExclusive(&found.lock);
}

static bool find_functions(struct csi_ctx *ctx, HMODULE library, const struct csi_part_spec *part) {
  for (const char *const *name = part->functions; *name != NULL; name++)
    if (GetProcAddress(library, *name) == NULL)
      return csi_fail(&ctx->status, CSI_UNIMPLEMENTED, "%s of this Windows has no %s", part->name, *name);
  return true;
}

static bool check_library(struct csi_ctx *ctx, const struct csi_part_spec *part) {
  const wchar_t *name_w = widen(ctx, part->name);
  if (name_w == NULL) return false;
  if (was_found(part->name)) return true;
  HMODULE library = LoadLibraryExW(name_w, NULL, LOAD_LIBRARY_SEARCH_SYSTEM32);
  if (library == NULL) return fail(ctx, GetLastError(), "LoadLibraryExW", part->name);
  bool complete = find_functions(ctx, library, part);
  FreeLibrary(library);
  if (complete) remember(part->name);
  return complete;
}

/* ---- Services and devices. ---- */

static const char *state_name(uint32_t state) {
  static const char *const names[] = {
      [CSI_SERVICE_STOPPED] = "stopped",
      [CSI_SERVICE_START_PENDING] = "starting",
      [CSI_SERVICE_STOP_PENDING] = "stopping",
      [CSI_SERVICE_RUNNING] = "running",
      [CSI_SERVICE_CONTINUE_PENDING] = "resuming",
      [CSI_SERVICE_PAUSE_PENDING] = "pausing",
      [CSI_SERVICE_PAUSED] = "paused",
  };
  return state >= CSI_SERVICE_STOPPED && state <= CSI_SERVICE_PAUSED ? names[state] : "in a state of its own";
}

/* One that is disabled is started by nobody. */
static bool fail_not_running(struct csi_ctx *ctx, const char *name, uint32_t state) {
  const struct csi_system_host *host = csi_system_host_win32();
  struct csi_service_config config;
  if (state != CSI_SERVICE_STOPPED)
    return csi_fail(&ctx->status, CSI_FAILED_PRECONDITION, "the service %s is %s", name, state_name(state));
  if (!host->get_config(host->self, ctx, name, &config)) return false;
  return config.start_type == SERVICE_DISABLED
             ? csi_fail(&ctx->status, CSI_NOT_FOUND, "the service %s is stopped and disabled", name)
             : csi_fail(&ctx->status, CSI_FAILED_PRECONDITION, "the service %s is stopped", name);
}

static bool check_service(struct csi_ctx *ctx, const char *name) {
  const struct csi_system_host *host = csi_system_host_win32();
  struct csi_service_status status;
  if (!host->get_status(host->self, ctx, name, &status)) {
    /* That is for those that do not run. */
    if (ctx->status.code == CSI_FAILED_PRECONDITION) ctx->status.code = CSI_NOT_FOUND;
    return false;
  }
  return status.state == CSI_SERVICE_RUNNING || fail_not_running(ctx, name, status.state);
}

static bool check_device(struct csi_ctx *ctx, const char *name) {
  const wchar_t *name_w = widen(ctx, name);
  HANDLE device;
  if (name_w == NULL || !csi_device_open(ctx, name_w, 0, name, &device)) return false;
  csi_handle_close(&device);
  return true;
}

static bool check(void *self, struct csi_ctx *ctx, const struct csi_part_spec *part) {
  (void)self;
  switch (part->kind) {
  case CSI_PART_DIRECTORY:
    return check_directory(ctx, part->name);
  case CSI_PART_PRIVILEGE:
    return check_privilege(ctx, part->name);
  case CSI_PART_LIBRARY:
    return check_library(ctx, part);
  case CSI_PART_SERVICE:
    return check_service(ctx, part->name);
  case CSI_PART_DEVICE:
    return check_device(ctx, part->name);
  default:
    return csi_fail(&ctx->status, CSI_INTERNAL, "%s is no part that Windows is asked for", part->name);
  }
}

const struct csi_parts_host *csi_parts_host_win32(void) {
  static const struct csi_parts_host host = {.check = check};
  return &host;
}
