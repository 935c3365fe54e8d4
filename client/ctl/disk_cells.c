/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "client/ctl/people_verbs.h"

enum csi_style csi_disk_state(struct csi_ctl_view disk, struct csi_arena *arena,
                              struct csi_text_buffer *cell) {
  (void)arena;
  bool online = csi_ctl_bool(disk, "online"), read_only = csi_ctl_bool(disk, "read_only");
  csi_text_buffer_put(cell, online ? "online" : "offline");
  if (read_only) csi_text_buffer_put(cell, ", read-only");
  return online && !read_only ? CSI_STYLE_GOOD : CSI_STYLE_NOTE;
}

enum csi_style csi_disk_location(struct csi_ctl_view disk, struct csi_arena *arena,
                                 struct csi_text_buffer *cell) {
  (void)arena;
  if (csi_ctl_bool(disk, "has_location"))
    csi_text_buffer_print(cell, "%" PRIu64 ".%" PRIu64 ".%" PRIu64 ".%" PRIu64, csi_ctl_u64(disk, "adapter"),
                          csi_ctl_u64(disk, "bus"), csi_ctl_u64(disk, "target"), csi_ctl_u64(disk, "lun"));
  return CSI_STYLE_PLAIN;
}

enum csi_style csi_disk_device(struct csi_ctl_view disk, struct csi_arena *arena,
                               struct csi_text_buffer *cell) {
  const char *vendor = csi_ctl_text(disk, "vendor", arena);
  const char *product = csi_ctl_text(disk, "product", arena);
  csi_text_buffer_put(cell, vendor);
  if (vendor[0] != '\0' && product[0] != '\0') csi_text_buffer_put(cell, " ");
  csi_text_buffer_put(cell, product);
  return CSI_STYLE_PLAIN;
}
