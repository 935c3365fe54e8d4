/* SPDX-License-Identifier: Apache-2.0 */
#include <initguid.h> /* defines the GUIDs of winioctl.h here */

#include "disk/interfaces_win32.h"

#include <setupapi.h>
#include <string.h>
#include <wchar.h>
#include <winioctl.h>

#include "base/text.h"
#include "disk/host_win32_parts.h"

enum {
  PATH_UNITS = 1024, /* longest path of a device interface; Windows' own are below 300 */
  FIRST_ROOM = 32,
  MOST_INTERFACES = 65536,
};

static void destroy_set(HDEVINFO *set) {
  DWORD error = GetLastError();
  if (*set != INVALID_HANDLE_VALUE) SetupDiDestroyDeviceInfoList(*set);
  SetLastError(error);
}
#define SCOPED_SET __attribute__((cleanup(destroy_set))) HDEVINFO

union detail {
  SP_DEVICE_INTERFACE_DETAIL_DATA_W head;
  uint8_t bytes[sizeof(SP_DEVICE_INTERFACE_DETAIL_DATA_W) + PATH_UNITS * sizeof(wchar_t)];
};

/* An interface that went away since it was enumerated, or has an impossible path, is left out. */
static bool read_interface(struct csi_ctx *ctx, HDEVINFO set, SP_DEVICE_INTERFACE_DATA *data,
                           struct csi_device_interface *interface_out, bool *left_out) {
  union detail detail = {.head.cbSize = sizeof detail.head};
  SP_DEVINFO_DATA device = {.cbSize = sizeof device};
  *left_out = !SetupDiGetDeviceInterfaceDetailW(set, data, &detail.head, sizeof detail, NULL, &device);
  if (*left_out) return true;
  size_t units = wcsnlen(detail.head.DevicePath, PATH_UNITS);
  wchar_t *path_w = csi_arena_alloc_array(ctx->arena, units + 1, sizeof *path_w);
  if (path_w == NULL) return csi_fail_out_of_memory(&ctx->status);
  memcpy(path_w, detail.head.DevicePath, units * sizeof *path_w);
  *interface_out = (struct csi_device_interface){.path_w = path_w, .node = device.DevInst};
  return true;
}

static bool make_room(struct csi_ctx *ctx, struct csi_device_interface **interfaces, size_t count,
                      size_t *room) {
  if (count < *room) return true;
  size_t more = *room == 0 ? FIRST_ROOM : 2 * *room;
  struct csi_device_interface *copy = csi_arena_alloc_array(ctx->arena, more, sizeof *copy);
  if (copy == NULL) return csi_fail_out_of_memory(&ctx->status);
  if (count > 0) memcpy(copy, *interfaces, count * sizeof *copy);
  *interfaces = copy;
  *room = more;
  return true;
}

bool csi_list_device_interfaces(struct csi_ctx *ctx, const GUID *class,
                                struct csi_device_interface **interfaces_out, size_t *count_out) {
  SCOPED_SET set = SetupDiGetClassDevsW(class, NULL, NULL, DIGCF_PRESENT | DIGCF_DEVICEINTERFACE);
  if (set == INVALID_HANDLE_VALUE)
    return csi_fail_system(&ctx->status, CSI_SPACE_WIN32, GetLastError(), "SetupDiGetClassDevsW",
                           "list devices");
  struct csi_device_interface *interfaces = NULL;
  size_t count = 0, room = 0;
  for (DWORD i = 0; i < MOST_INTERFACES; i++) {
    SP_DEVICE_INTERFACE_DATA data = {.cbSize = sizeof data};
    if (!SetupDiEnumDeviceInterfaces(set, NULL, class, i, &data)) {
      DWORD error = GetLastError();
      if (error == ERROR_NO_MORE_ITEMS) break;
      return csi_fail_system(&ctx->status, CSI_SPACE_WIN32, error, "SetupDiEnumDeviceInterfaces",
                             "list devices");
    }
    bool left_out;
    if (!make_room(ctx, &interfaces, count, &room) ||
        !read_interface(ctx, set, &data, &interfaces[count], &left_out))
      return false;
    if (!left_out) count++;
  }
  *interfaces_out = interfaces;
  *count_out = count;
  return true;
}

bool csi_win32_list_disks(void *self, struct csi_ctx *ctx, const char ***paths_out, size_t *count_out) {
  (void)self;
  struct csi_device_interface *disks;
  size_t count;
  if (!csi_list_device_interfaces(ctx, &GUID_DEVINTERFACE_DISK, &disks, &count)) return false;
  const char **paths = csi_arena_alloc_array(ctx->arena, count > 0 ? count : 1, sizeof *paths);
  if (paths == NULL) return csi_fail_out_of_memory(&ctx->status);
  for (size_t i = 0; i < count; i++) {
    paths[i] = csi_utf8_from_utf16(ctx->arena, disks[i].path_w, wcslen(disks[i].path_w));
    if (paths[i] == NULL) return csi_fail_out_of_memory(&ctx->status);
  }
  *paths_out = paths;
  *count_out = count;
  return true;
}
