/* SPDX-License-Identifier: Apache-2.0 */
#include "service/program_win32.h"

#include <windows.h>

#include <sddl.h>
#include <stdio.h>
#include <string.h>

#include "admin/parts_win32.h"
#include "base/arena.h"
#include "base/text.h"
#include "disk/host_win32.h"
#include "filesystem/host_win32.h"
#include "iscsi/host_win32.h"
#include "service/event_log.h"
#include "service/groups.h"
#include "service/os_version_win32.h"
#include "smb/host_win32.h"
#include "system/host_win32.h"
#include "volume/host_win32.h"
#include "win32/device.h"
#include "win32/library_call.h"

enum {
  CHECK_ARENA_BYTES = 1 << 20,
  REMARK_BYTES = 512,
  OS_VERSION_BYTES = 512,
};

#define PIPE_NAMESPACE "\\\\.\\pipe\\"

static bool check_prefix(const char *prefix, struct csi_status *status) {
  size_t length = strlen(PIPE_NAMESPACE);
  if (strlen(prefix) > length && csi_utf8_compare_ignore_case(prefix, length, PIPE_NAMESPACE, length) == 0)
    return true;
  return csi_fail(status, CSI_INVALID_ARGUMENT, "-pipe-prefix: %s does not begin with %s", prefix,
                  PIPE_NAMESPACE);
}

static bool check_sddl(struct csi_arena *arena, const char *sddl, struct csi_status *status) {
  const wchar_t *sddl_w = csi_utf16_from_utf8(arena, sddl, strlen(sddl), NULL, status);
  if (sddl_w == NULL) return csi_explain(status, "-pipe-sddl: ");
  PSECURITY_DESCRIPTOR descriptor = NULL;
  if (!ConvertStringSecurityDescriptorToSecurityDescriptorW(sddl_w, SDDL_REVISION_1, &descriptor, NULL)) {
    DWORD error = GetLastError();
    csi_fail_system(status, CSI_SPACE_WIN32, error, "ConvertStringSecurityDescriptorToSecurityDescriptorW",
                    "-pipe-sddl: %s", sddl);
    status->code = CSI_INVALID_ARGUMENT;
    return false;
  }
  BOOL present = FALSE, defaulted = FALSE;
  PACL list = NULL;
  GetSecurityDescriptorDacl(descriptor, &present, &list, &defaulted);
  LocalFree(descriptor);
  /* Windows would put in one of its own, which lets everybody read. */
  return present ||
         csi_fail(status, CSI_INVALID_ARGUMENT, "-pipe-sddl: no access list (D:...) in \"%s\"", sddl);
}

static void look_for_kubelet(struct csi_arena *arena, const char *path,
                             void (*remark)(void *context, const char *text), void *context) {
  struct csi_status status = {0};
  const wchar_t *path_w = csi_utf16_from_utf8(arena, path, strlen(path), NULL, &status);
  DWORD attributes = path_w == NULL ? INVALID_FILE_ATTRIBUTES : GetFileAttributesW(path_w);
  if (attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_DIRECTORY) != 0) return;
  char text[REMARK_BYTES];
  snprintf(text, sizeof text, "-kubelet-path: there is no directory %s yet", path);
  remark(context, text);
}

static bool check(const struct csi_options *options, void (*remark)(void *context, const char *text),
                  void *context, struct csi_status *status) {
  struct csi_arena *arena = csi_arena_new(CHECK_ARENA_BYTES);
  if (arena == NULL) return csi_fail_out_of_memory(status);
  bool valid = check_prefix(options->pipe_prefix, status) && check_sddl(arena, options->pipe_sddl, status);
  if (valid) look_for_kubelet(arena, options->kubelet_path, remark, context);
  csi_arena_free(arena);
  return valid;
}

static uint64_t count_hanging_calls(void) {
  return csi_device_count_hanging() + csi_library_count_given_up();
}

const struct csi_program *csi_program_win32(const struct csi_options *options) {
  static struct csi_node node;
  static char os_version[OS_VERSION_BYTES];
  static const struct csi_program program = {
      .groups = csi_groups,
      .group_count = CSI_GROUP_COUNT,
      .context = &node,
      .group_was_ready = csi_groups_was_ready,
      .check = check,
      .count_hanging_calls = count_hanging_calls,
      .count_lost_events = csi_event_log_lost,
  };
  csi_os_version(os_version, sizeof os_version);
  node = (struct csi_node){
      .files = csi_filesystem_host_win32(),
      .disks = csi_disk_host_win32(),
      .volumes = csi_volume_host_win32(),
      .shares = csi_smb_host_win32(options->route),
      .system = csi_system_host_win32(),
      .initiator = csi_iscsi_host_win32(),
      .parts = csi_parts_host_win32(),
      .os_version = os_version,
  };
  return &program;
}
