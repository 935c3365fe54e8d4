/* SPDX-License-Identifier: Apache-2.0 */
#include "win32/device_query.h"

#include <string.h>

bool csi_device_query(struct csi_ctx *ctx, HANDLE device, struct csi_control control, void *out,
                      size_t out_bytes, size_t min_bytes, const char *object) {
  size_t returned_bytes;
  memset(out, 0, out_bytes);
  if (!csi_device_control(ctx, device, control, NULL, 0, out, out_bytes, &returned_bytes, object))
    return false;
  return returned_bytes >= min_bytes ||
         csi_fail(&ctx->status, CSI_DATA_LOSS, "%s: %s returned %zu bytes instead of %zu", object,
                  control.name, returned_bytes, min_bytes);
}
