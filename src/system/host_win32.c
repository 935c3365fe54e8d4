/* SPDX-License-Identifier: Apache-2.0 */
#include "system/host_win32.h"

#include <windows.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#include <winsvc.h>

#include "base/text.h"
#include "system/scm_calls_win32.h"
#include "system/service.h"
#include "system/service_list.h"
#include "win32/library_call.h"

enum {
  NAME_UNITS = CSI_SERVICE_NAME_UNITS + 1,
  DISPLAY_NAME_UNITS = 1024, /* 256 characters are documented */
  SCRATCH_BYTES = 16 * 1024, /* the longest name in all its forms */
  CONFIG_BYTES = 8 * 1024,   /* more than that QueryServiceConfigW() never needs */
  LIST_BYTES = 16 * 1024,
  LIST_BYTES_MAX = 256 * 1024, /* more the service manager does not take: [MS-SCMR] 3.1.4.13 */
  LIST_ATTEMPTS = 8,           /* services may come while we ask */
  SMBIOS_BYTES_MAX = 1024 * 1024,
  SMBIOS_ATTEMPTS = 3,
};
_Static_assert(sizeof(ENUM_SERVICE_STATUSW) == CSI_SERVICE_ENTRY_BYTES, "ENUM_SERVICE_STATUSW");
_Static_assert(offsetof(ENUM_SERVICE_STATUSW, lpServiceName) == 0, "ENUM_SERVICE_STATUSW");

static void close_scm(SC_HANDLE *handle) {
  if (*handle != NULL) CloseServiceHandle(*handle);
}

#define SCOPED_SCM __attribute__((cleanup(close_scm))) SC_HANDLE

/* -- One conversation with the service manager, which may take its time ---------------------------- */

struct scm_call {
  struct csi_library_call call; /* first */
  wchar_t name_w[NAME_UNITS];
  DWORD access; /* to the service; 0 = it is not opened */
  /* Returns 0 or an error. */
  DWORD (*work)(struct scm_call *call, SC_HANDLE manager, SC_HANDLE service);
  const char *failed; /* literal: the function that gave the error */

  SERVICE_STATUS_PROCESS status;
  DWORD start_type;
  wchar_t text_w[DISPLAY_NAME_UNITS];
  BYTE *list; /* list_bytes, with count entries */
  DWORD list_bytes, count;
};

/* The error of the function that has just failed. */
static DWORD failed(struct scm_call *call, const char *function) {
  DWORD error = GetLastError();
  call->failed = function;
  return error != ERROR_SUCCESS ? error : ERROR_GEN_FAILURE;
}

static SC_HANDLE shared_manager; /* as long as the process lives */

static BOOL CALLBACK open_manager(INIT_ONCE *once, void *context, void **result_out) {
  (void)once;
  (void)result_out;
  shared_manager = OpenSCManagerW(NULL, NULL, SC_MANAGER_CONNECT);
  if (shared_manager == NULL) ((struct scm_call *)context)->call.error = failed(context, "OpenSCManagerW");
  return shared_manager != NULL;
}

/* One for all: the connection stays, and Wine mixes up the handles of two that are made at the same moment.
 * NULL with call->call.error; the next call tries again. */
static SC_HANDLE get_manager(struct scm_call *call) {
  static INIT_ONCE once = INIT_ONCE_STATIC_INIT;
  return InitOnceExecuteOnce(&once, open_manager, call, NULL) ? shared_manager : NULL;
}

static void run_scm(struct csi_library_call *library_call) {
  struct scm_call *call = (struct scm_call *)library_call;
  SC_HANDLE manager = get_manager(call);
  if (manager == NULL) return;
  SCOPED_SCM service = call->access == 0 ? NULL : csi_scm.open_service(manager, call->name_w, call->access);
  if (call->access != 0 && service == NULL)
    call->call.error = failed(call, "OpenServiceW");
  else
    call->call.error = call->work(call, manager, service);
}

static void clean_up_scm(struct csi_library_call *library_call) {
  free(((struct scm_call *)library_call)->list);
}

/* By way of an arena of its own: the request's would grow with every look at a service. */
static bool put_name(struct csi_ctx *ctx, struct scm_call *call, const char *name, const char *function) {
  struct csi_arena *scratch = csi_arena_new(SCRATCH_BYTES);
  if (scratch == NULL) return csi_fail_out_of_memory(&ctx->status);
  size_t units;
  const uint16_t *name_w = csi_utf16_from_utf8(scratch, name, strlen(name), &units, &ctx->status);
  bool fits = name_w != NULL && units < NAME_UNITS;
  if (fits) memcpy(call->name_w, name_w, (units + 1) * sizeof *name_w);
  if (name_w != NULL && !fits)
    csi_fail_system(&ctx->status, CSI_SPACE_WIN32, ERROR_INVALID_NAME, function, "service %s",
                    csi_service_of(ctx, NULL, name).shown);
  csi_arena_free(scratch);
  return fits;
}

/* Makes the call and waits for it. NULL with a status; otherwise the caller frees it. */
static struct scm_call *converse(struct csi_ctx *ctx, const char *name, DWORD access, const char *function,
                                 DWORD (*work)(struct scm_call *, SC_HANDLE, SC_HANDLE)) {
  struct csi_service shown = csi_service_of(ctx, NULL, name);
  struct scm_call *call = csi_library_call_new(ctx, sizeof *call, run_scm, function);
  if (call == NULL) return NULL;
  if (!put_name(ctx, call, name, function)) {
    csi_library_call_free(&call->call);
    return NULL;
  }
  call->call.clean_up = clean_up_scm;
  call->access = access;
  call->work = work;
  char object[CSI_LIBRARY_OBJECT_BYTES];
  snprintf(object, sizeof object, "service %s", shown.shown);
  if (!csi_library_call(ctx, &call->call, CSI_LIBRARY_CALL_MS, object)) return NULL;
  if (call->call.error == ERROR_SUCCESS) return call;
  csi_fail_system(&ctx->status, CSI_SPACE_WIN32, call->call.error, call->failed, "%s", object);
  csi_library_call_free(&call->call);
  return NULL;
}

/* As converse(), for calls of which only the success matters. */
static bool command(struct csi_ctx *ctx, const char *name, DWORD access, const char *function,
                    DWORD (*work)(struct scm_call *, SC_HANDLE, SC_HANDLE)) {
  struct scm_call *call = converse(ctx, name, access, function, work);
  if (call == NULL) return false;
  csi_library_call_free(&call->call);
  return true;
}

/* -- Names and configuration ----------------------------------------------------------------------- */

static DWORD work_display_name(struct scm_call *call, SC_HANDLE manager, SC_HANDLE service) {
  (void)service;
  DWORD units = DISPLAY_NAME_UNITS;
  if (!GetServiceDisplayNameW(manager, call->name_w, call->text_w, &units))
    return failed(call, "GetServiceDisplayNameW");
  call->text_w[DISPLAY_NAME_UNITS - 1] = L'\0';
  return ERROR_SUCCESS;
}

/* Says that there is no such service or that the service manager cannot be asked; all other errors are about
 * the display name, such as one whose text is in a DLL that is gone. */
static bool is_final(DWORD error) {
  return error == ERROR_SERVICE_DOES_NOT_EXIST || error == ERROR_INVALID_NAME ||
         error == ERROR_ACCESS_DENIED || error == ERROR_INVALID_HANDLE ||
         error == ERROR_SHUTDOWN_IN_PROGRESS ||
         (error >= RPC_S_INVALID_STRING_BINDING && error <= RPC_X_BAD_STUB_DATA);
}

/* No call tells how the service manager spells a name, but by way of the display name. Where that does not
 * lead back, the name it was asked for has to do.
 * UNVERIFIED ON WINDOWS: that it leads back for display names from resources. */
static DWORD work_key_name(struct scm_call *call, SC_HANDLE manager, SC_HANDLE service) {
  DWORD error = work_display_name(call, manager, service);
  if (is_final(error)) return error;
  wchar_t key_w[NAME_UNITS] = L"";
  DWORD units = NAME_UNITS;
  bool found =
      error == ERROR_SUCCESS && GetServiceKeyNameW(manager, call->text_w, key_w, &units) && key_w[0] != L'\0';
  key_w[NAME_UNITS - 1] = L'\0';
  memcpy(call->text_w, found ? key_w : call->name_w, sizeof key_w);
  return ERROR_SUCCESS;
}

static bool take_text(struct csi_ctx *ctx, const struct scm_call *call, const char **text_out) {
  *text_out = csi_utf8_from_utf16(ctx->arena, call->text_w, wcslen(call->text_w));
  return *text_out != NULL || csi_fail_out_of_memory(&ctx->status);
}

static bool get_key_name(void *self, struct csi_ctx *ctx, const char *name, const char **key_name_out) {
  (void)self;
  struct scm_call *call = converse(ctx, name, 0, "GetServiceKeyNameW", work_key_name);
  if (call == NULL) return false;
  bool taken = take_text(ctx, call, key_name_out);
  csi_library_call_free(&call->call);
  return taken;
}

static DWORD work_config(struct scm_call *call, SC_HANDLE manager, SC_HANDLE service) {
  _Alignas(QUERY_SERVICE_CONFIGW) BYTE buffer[CONFIG_BYTES];
  DWORD needed_bytes;
  if (!QueryServiceConfigW(service, (QUERY_SERVICE_CONFIGW *)buffer, sizeof buffer, &needed_bytes))
    return failed(call, "QueryServiceConfigW");
  call->start_type = ((const QUERY_SERVICE_CONFIGW *)buffer)->dwStartType;
  return work_display_name(call, manager, service);
}

static bool get_config(void *self, struct csi_ctx *ctx, const char *name,
                       struct csi_service_config *config_out) {
  (void)self;
  struct scm_call *call = converse(ctx, name, SERVICE_QUERY_CONFIG, "QueryServiceConfigW", work_config);
  if (call == NULL) return false;
  config_out->start_type = call->start_type;
  bool taken = take_text(ctx, call, &config_out->display_name);
  csi_library_call_free(&call->call);
  return taken;
}

/* -- State ----------------------------------------------------------------------------------------- */

static DWORD work_status(struct scm_call *call, SC_HANDLE manager, SC_HANDLE service) {
  (void)manager;
  DWORD needed_bytes;
  if (QueryServiceStatusEx(service, SC_STATUS_PROCESS_INFO, (BYTE *)&call->status, sizeof call->status,
                           &needed_bytes))
    return ERROR_SUCCESS;
  return failed(call, "QueryServiceStatusEx");
}

static bool get_status(void *self, struct csi_ctx *ctx, const char *name,
                       struct csi_service_status *status_out) {
  (void)self;
  struct scm_call *call = converse(ctx, name, SERVICE_QUERY_STATUS, "QueryServiceStatusEx", work_status);
  if (call == NULL) return false;
  const SERVICE_STATUS_PROCESS *status = &call->status;
  *status_out = (struct csi_service_status){
      .type = status->dwServiceType,
      .state = status->dwCurrentState,
      .controls_accepted = status->dwControlsAccepted,
      .check_point = status->dwCheckPoint,
      .wait_hint_ms = status->dwWaitHint,
      .process_id = status->dwProcessId,
      .win32_exit_code = status->dwWin32ExitCode,
      .specific_exit_code = status->dwServiceSpecificExitCode,
  };
  csi_library_call_free(&call->call);
  return true;
}

static DWORD work_start(struct scm_call *call, SC_HANDLE manager, SC_HANDLE service) {
  (void)manager;
  return StartServiceW(service, 0, NULL) ? ERROR_SUCCESS : failed(call, "StartServiceW");
}

static bool start(void *self, struct csi_ctx *ctx, const char *name) {
  (void)self;
  return command(ctx, name, SERVICE_START, "StartServiceW", work_start);
}

static DWORD work_stop(struct scm_call *call, SC_HANDLE manager, SC_HANDLE service) {
  (void)manager;
  SERVICE_STATUS status;
  return csi_scm.control_service(service, SERVICE_CONTROL_STOP, &status) ? ERROR_SUCCESS
                                                                         : failed(call, "ControlService");
}

static bool stop(void *self, struct csi_ctx *ctx, const char *name) {
  (void)self;
  return command(ctx, name, SERVICE_STOP, "ControlService", work_stop);
}

/* -- Dependents ------------------------------------------------------------------------------------ */

static bool make_room(struct scm_call *call, DWORD size_bytes) {
  free(call->list);
  call->list = calloc(1, size_bytes);
  call->list_bytes = call->list == NULL ? 0 : size_bytes;
  return call->list != NULL;
}

static DWORD work_dependents(struct scm_call *call, SC_HANDLE manager, SC_HANDLE service) {
  (void)manager;
  static const char function[] = "EnumDependentServicesW";
  DWORD needed_bytes = LIST_BYTES, error = ERROR_MORE_DATA;
  for (int attempt = 0; attempt < LIST_ATTEMPTS && error == ERROR_MORE_DATA; attempt++) {
    DWORD room_bytes = needed_bytes > call->list_bytes ? needed_bytes : 2 * call->list_bytes;
    call->failed = function;
    if (room_bytes > LIST_BYTES_MAX) room_bytes = LIST_BYTES_MAX;
    if (room_bytes <= call->list_bytes) return ERROR_MORE_DATA;
    if (!make_room(call, room_bytes)) return ERROR_NOT_ENOUGH_MEMORY;
    bool listed = csi_scm.enum_dependent_services(service, SERVICE_ACTIVE, (ENUM_SERVICE_STATUSW *)call->list,
                                                  room_bytes, &needed_bytes, &call->count);
    error = listed ? ERROR_SUCCESS : failed(call, function);
  }
  return error;
}

static bool list_active_dependents(void *self, struct csi_ctx *ctx, const char *name, const char ***names_out,
                                   size_t *count_out) {
  (void)self;
  struct scm_call *call =
      converse(ctx, name, SERVICE_ENUMERATE_DEPENDENTS, "EnumDependentServicesW", work_dependents);
  if (call == NULL) return false;
  const struct csi_bytes bytes = {.data = call->list, .size_bytes = call->list_bytes};
  *count_out = call->count;
  bool parsed = csi_service_list_parse(ctx->arena, &bytes, (uintptr_t)call->list, call->count, names_out,
                                       &ctx->status) ||
                csi_explain(&ctx->status, "dependents of %s: ", call->call.object);
  csi_library_call_free(&call->call);
  return parsed;
}

/* -- The machine ----------------------------------------------------------------------------------- */

static uint32_t get_process_id(void *self) {
  (void)self;
  return GetCurrentProcessId();
}

static bool get_smbios(void *self, struct csi_ctx *ctx, struct csi_bytes *bytes_out) {
  (void)self;
  static const char function[] = "GetSystemFirmwareTable";
  enum { RSMB = 'R' << 24 | 'S' << 16 | 'M' << 8 | 'B' };
  uint8_t *bytes = NULL;
  UINT room_bytes = 0;
  for (int attempt = 0; attempt < SMBIOS_ATTEMPTS; attempt++) {
    UINT needed_bytes = GetSystemFirmwareTable(RSMB, 0, bytes, room_bytes);
    if (needed_bytes == 0)
      return csi_fail_system(&ctx->status, CSI_SPACE_WIN32, GetLastError(), function,
                             "the firmware's system information");
    if (needed_bytes <= room_bytes) {
      *bytes_out = (struct csi_bytes){.data = bytes, .size_bytes = needed_bytes};
      return true;
    }
    if (needed_bytes > SMBIOS_BYTES_MAX) break;
    bytes = csi_arena_alloc(ctx->arena, needed_bytes);
    if (bytes == NULL) return csi_fail_out_of_memory(&ctx->status);
    room_bytes = needed_bytes;
  }
  return csi_fail(&ctx->status, CSI_DATA_LOSS, "the firmware's system information has no size that lasts");
}

const struct csi_system_host *csi_system_host_win32(void) {
  static const struct csi_system_host host = {
      .get_process_id = get_process_id,
      .get_smbios = get_smbios,
      .get_config = get_config,
      .get_key_name = get_key_name,
      .get_status = get_status,
      .start = start,
      .stop = stop,
      .list_active_dependents = list_active_dependents,
  };
  return &host;
}
