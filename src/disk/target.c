/* SPDX-License-Identifier: Apache-2.0 */
#include "disk/target.h"

#include <inttypes.h>
#include <stdio.h>

#include "disk/guard.h"

void csi_disk_lock_key(uint32_t number, char key_out[CSI_LOCK_KEY_BYTES]) {
  (void)snprintf(key_out, CSI_LOCK_KEY_BYTES, "disk %" PRIu32, number);
}

uint8_t *csi_sectors_alloc(struct csi_ctx *ctx, size_t size_bytes) {
  if (size_bytes > SIZE_MAX - CSI_SECTORS_ALIGNMENT) {
    csi_fail_out_of_memory(&ctx->status);
    return NULL;
  }
  uint8_t *bytes = csi_arena_alloc(ctx->arena, size_bytes + CSI_SECTORS_ALIGNMENT);
  if (bytes == NULL) {
    csi_fail_out_of_memory(&ctx->status);
    return NULL;
  }
  size_t beyond_bytes = (uintptr_t)bytes % CSI_SECTORS_ALIGNMENT;
  return beyond_bytes == 0 ? bytes : bytes + (CSI_SECTORS_ALIGNMENT - beyond_bytes);
}

bool csi_target_open(struct csi_target *target, enum csi_disk_access access) {
  const struct csi_disk_host *host = target->host;
  if (host->open_number(host->self, target->ctx, target->number, access, &target->disk)) return true;
  struct csi_status *status = &target->ctx->status;
  return csi_explain(status, "failed to query disk %" PRIu32 ". error: %s", target->number,
                     status->code == CSI_NOT_FOUND ? "not found: " : "");
}

void csi_target_close(struct csi_target *target) {
  if (target->disk != NULL) target->host->close(target->host->self, target->disk);
  target->disk = NULL;
}

bool csi_target_check_guard(struct csi_target *target, const struct csi_layout *layout) {
  return !target->guarded || csi_disk_guard_check(target->host, target->ctx, target->number, layout);
}

bool csi_target_get_attributes(struct csi_target *target, uint64_t *attributes_out) {
  return target->host->get_attributes(target->host->self, target->ctx, target->disk, attributes_out);
}

bool csi_target_get_layout(struct csi_target *target, struct csi_layout *layout_out) {
  return target->host->get_layout(target->host->self, target->ctx, target->disk, layout_out);
}

bool csi_target_update_properties(struct csi_target *target) {
  return target->host->update_properties(target->host->self, target->ctx, target->disk);
}
