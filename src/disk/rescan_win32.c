/* SPDX-License-Identifier: Apache-2.0
 *
 * New disks appear, and gone ones go, when the adapters' device nodes are enumerated again; what a present
 * disk has become (its size, its table) is read again on request. NVMe and paravirtual adapters report
 * both by themselves; for them this only is the proof that nothing was missed.
 *
 * UNVERIFIED ON WINDOWS: that this finds a new LUN and a grown one on Azure, vSphere and iSCSI; and that
 * CM_Reenumerate_DevNode(), which asks a service of Windows, can be cancelled. If it cannot, it keeps its
 * thread until it ends by itself; the disk group lets one rescan in at a time.
 */
#include <windows.h>

#include <cfgmgr32.h>
#include <inttypes.h>
#include <winioctl.h>

#include "base/log.h"
#include "base/text.h"
#include "disk/host_win32_parts.h"
#include "disk/interfaces_win32.h"
#include "win32/device.h"
#include "win32/handle.h"
#include "win32/storage_ioctl.h"

enum {
  REFRESH_MS = 5000, /* how long one disk may keep the others waiting */
};

static bool reenumerate(struct csi_ctx *ctx, DEVINST node, const char *object) {
  struct csi_device_watch watch;
  csi_device_watch_begin(ctx, &watch, CSI_DEVICE_CALL_MS, "CM_Reenumerate_DevNode");
  CONFIGRET result = CM_Reenumerate_DevNode(node, CM_REENUMERATE_SYNCHRONOUS);
  bool gave_up = csi_device_watch_end(&watch, result == CR_SUCCESS);
  if (result == CR_SUCCESS) return true;
  return gave_up ? csi_device_fail(ctx, &watch, ERROR_CANCELLED, "CM_Reenumerate_DevNode", object)
                 : csi_fail_system(&ctx->status, CSI_SPACE_CONFIGRET, result, "CM_Reenumerate_DevNode", "%s",
                                   object);
}

/* The older way, which some port drivers still have. */
static bool rescan_bus(struct csi_ctx *ctx, const wchar_t *path_w, const char *object) {
  CSI_SCOPED_HANDLE adapter = NULL;
  return csi_device_open(ctx, path_w, GENERIC_READ | GENERIC_WRITE, object, &adapter) &&
         csi_device_control(ctx, adapter, CSI_CONTROL(IOCTL_SCSI_RESCAN_BUS), NULL, 0, NULL, 0, NULL, object);
}

static bool rescan_adapter(struct csi_ctx *ctx, const struct csi_device_interface *adapter) {
  const char *object = csi_utf8_from_utf16(ctx->arena, adapter->path_w, wcslen(adapter->path_w));
  if (object == NULL) return csi_fail_out_of_memory(&ctx->status);
  if (reenumerate(ctx, adapter->node, object)) return true;
  CSI_V(2, "%s", ctx->status.text);
  csi_status_clear(&ctx->status);
  return rescan_bus(ctx, adapter->path_w, object);
}

/* Succeeds when at least one adapter could be asked, since one may vanish meanwhile, or know no way; and
 * when there is none to ask, as under Wine. */
static bool rescan_adapters(struct csi_ctx *ctx) {
  struct csi_device_interface *adapters;
  size_t count, done = 0;
  if (!csi_list_device_interfaces(ctx, &GUID_DEVINTERFACE_STORAGEPORT, &adapters, &count)) return false;
  if (count == 0) CSI_V(2, "no storage adapter to look for new disks on");
  struct csi_status first = {0};
  for (size_t i = 0; i < count; i++) {
    if (rescan_adapter(ctx, &adapters[i])) {
      done++;
      continue;
    }
    CSI_V(2, "cannot rescan: %s", ctx->status.text);
    if (csi_status_ok(&first)) first = ctx->status;
    csi_status_clear(&ctx->status);
    if (!csi_ctx_alive(ctx)) return false;
  }
  if (done > 0 || count == 0) return true;
  ctx->status = first;
  return false;
}

/* An odd disk is left as it is. */
static bool refresh_disk(struct csi_ctx *ctx, const struct csi_device_interface *disk) {
  const char *object = csi_utf8_from_utf16(ctx->arena, disk->path_w, wcslen(disk->path_w));
  if (object == NULL) return csi_fail_out_of_memory(&ctx->status);
  CSI_SCOPED_HANDLE handle = NULL;
  if (csi_device_open(ctx, disk->path_w, 0, object, &handle) &&
      csi_device_control_for(ctx, handle, CSI_CONTROL(IOCTL_DISK_UPDATE_PROPERTIES), NULL, 0, NULL, 0, NULL,
                             object, REFRESH_MS))
    return true;
  CSI_V(2, "cannot refresh: %s", ctx->status.text);
  csi_status_clear(&ctx->status);
  return csi_ctx_alive(ctx);
}

bool csi_win32_rescan(void *self, struct csi_ctx *ctx) {
  (void)self;
  struct csi_device_interface *disks;
  size_t count;
  if (!rescan_adapters(ctx) || !csi_list_device_interfaces(ctx, &GUID_DEVINTERFACE_DISK, &disks, &count))
    return false;
  for (size_t i = 0; i < count; i++)
    if (!refresh_disk(ctx, &disks[i])) return false;
  return true;
}
