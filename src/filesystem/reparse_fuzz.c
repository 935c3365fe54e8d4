/* SPDX-License-Identifier: Apache-2.0
 *
 * Any REPARSE_DATA_BUFFER: parsing stays inside it, and a link built from what was read reads the same.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "filesystem/reparse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition) {
  if (!condition) abort();
}

static void check_round_trip(struct csi_ctx *ctx, const char *target, enum csi_link_kind kind) {
  uint8_t bytes[CSI_REPARSE_BYTES_MAX];
  size_t size_bytes;
  if (!csi_reparse_build_symlink(ctx, target, bytes, &size_bytes)) return;
  struct csi_reparse link;
  require(size_bytes <= sizeof bytes && csi_reparse_parse(ctx, bytes, size_bytes, &link));
  require(link.tag == CSI_REPARSE_TAG_SYMLINK && link.kind == kind);
  require(strcmp(link.target, target) == 0 && strcmp(link.print, target) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct csi_ctx ctx = {.arena = csi_arena_new(1 << 20), .deadline_ns = CSI_NO_DEADLINE};
  require(ctx.arena != NULL);
  struct csi_reparse link;
  if (csi_reparse_parse(&ctx, data, size, &link)) {
    require((link.kind == CSI_LINK_NONE) == (link.target == NULL));
    bool volume_root = csi_reparse_is_volume_root(&link);
    require(!volume_root || strlen(link.target) >= 48);
    if (link.kind == CSI_LINK_DRIVE || link.kind == CSI_LINK_UNC)
      check_round_trip(&ctx, link.target, link.kind);
  } else {
    require(!csi_status_ok(&ctx.status));
  }
  csi_arena_free(ctx.arena);
  return 0;
}
