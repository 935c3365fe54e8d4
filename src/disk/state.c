/* SPDX-License-Identifier: Apache-2.0 */
#include "disk/state.h"

#include <inttypes.h>

#include "base/log.h"

/* Sets the attributes in mask, and reads them back: a disk of a cluster, or one whose medium is write
 * protected, may keep what it has. */
static bool set_attributes(struct csi_target *target, uint64_t attributes, uint64_t mask) {
  const struct csi_disk_host *host = target->host;
  uint64_t now;
  if (!host->set_attributes(host->self, target->ctx, target->disk, attributes, mask) ||
      !csi_target_update_properties(target) || !csi_target_get_attributes(target, &now))
    return false;
  if ((now & mask) == attributes) return true;
  return csi_fail(&target->ctx->status, CSI_FAILED_PRECONDITION,
                  "disk %" PRIu32 " is still %s, though Windows accepted the change", target->number,
                  (now & CSI_DISK_ATTRIBUTE_OFFLINE) != (attributes & CSI_DISK_ATTRIBUTE_OFFLINE)
                      ? (now & CSI_DISK_ATTRIBUTE_OFFLINE) != 0 ? "offline" : "online"
                      : "read-only");
}

/* A disk that stays read-only is online all the same. */
static bool bring_online_only(struct csi_target *target) {
  struct csi_ctx *ctx = target->ctx;
  if (!csi_ctx_alive(ctx)) return false;
  CSI_LOG(WARNING, "disk %" PRIu32 " does not become online and writable in one step: %s", target->number,
          ctx->status.text);
  csi_status_clear(&ctx->status);
  uint64_t attributes;
  if (!csi_target_get_attributes(target, &attributes)) return false;
  return (attributes & CSI_DISK_ATTRIBUTE_OFFLINE) == 0 ||
         set_attributes(target, 0, CSI_DISK_ATTRIBUTE_OFFLINE);
}

bool csi_disk_bring_online(struct csi_target *target) {
  const uint64_t mask = CSI_DISK_ATTRIBUTE_OFFLINE | CSI_DISK_ATTRIBUTE_READ_ONLY;
  uint64_t attributes;
  if (!csi_target_get_attributes(target, &attributes)) return false;
  if ((attributes & mask) == 0) return true;
  CSI_V(2, "disk %" PRIu32 ": bringing it online and making it writable", target->number);
  return set_attributes(target, 0, mask) || bring_online_only(target);
}

bool csi_disk_require_writable(struct csi_target *target) {
  uint64_t attributes;
  if (!csi_target_get_attributes(target, &attributes)) return false;
  return (attributes & CSI_DISK_ATTRIBUTE_READ_ONLY) == 0 ||
         csi_fail(&target->ctx->status, CSI_FAILED_PRECONDITION, "disk %" PRIu32 " is read-only",
                  target->number);
}

/* A disk whose table cannot be read must be possible to detach as well. */
static bool check_guard(struct csi_target *target) {
  struct csi_layout layout;
  bool readable = csi_target_get_layout(target, &layout);
  if (!readable) {
    if (!csi_ctx_alive(target->ctx)) return false;
    csi_status_clear(&target->ctx->status);
  }
  return csi_target_check_guard(target, readable ? &layout : NULL);
}

bool csi_disk_take_offline(struct csi_target *target) {
  uint64_t attributes;
  if (!csi_target_get_attributes(target, &attributes)) return false;
  if ((attributes & CSI_DISK_ATTRIBUTE_OFFLINE) != 0) return true;
  if (target->guarded && !check_guard(target)) return false;
  CSI_V(2, "disk %" PRIu32 ": taking it offline", target->number);
  return set_attributes(target, CSI_DISK_ATTRIBUTE_OFFLINE, CSI_DISK_ATTRIBUTE_OFFLINE);
}
