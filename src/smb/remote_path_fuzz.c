/* SPDX-License-Identifier: Apache-2.0
 *
 * Any text: what is taken for a remote path is read the same from its own normal forms, which have no
 * component that Windows would take for another.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "smb/remote_path.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition) {
  if (!condition) abort();
}

static void check(struct csi_ctx *ctx, const struct csi_remote_path *path) {
  struct csi_remote_path again;
  size_t target_bytes = strlen(path->target);
  require(strlen(path->root) <= CSI_REMOTE_ROOT_BYTES && csi_utf8_is_valid(path->root, strlen(path->root)));
  require(strncmp(path->root, "\\\\", 2) == 0 && strstr(path->root + 2, "\\\\") == NULL);
  require(strncmp(path->target, "\\\\", 2) == 0 && strstr(path->target + 2, "\\\\") == NULL);
  require(path->target[target_bytes - 1] == '\\');
  require(strpbrk(path->target, "/:?*\"<>|") == NULL && strstr(path->target, "\\..\\") == NULL &&
          strstr(path->target, "\\.\\") == NULL);
  require(csi_utf8_has_prefix_ignore_case(path->target, path->root));
  require(csi_remote_path_parse(ctx, path->target, &again));
  require(strcmp(again.root, path->root) == 0 && strcmp(again.target, path->target) == 0);
  require(again.is_administrative == path->is_administrative);
  require(again.is_loopback == path->is_loopback);
  require(csi_remote_path_parse(ctx, path->root, &again));
  require(strcmp(again.root, path->root) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct csi_ctx ctx = {.arena = csi_arena_new(1 << 20), .deadline_ns = CSI_NO_DEADLINE};
  char *text = malloc(size + 1); /* of exactly that size, for the sanitizer to see its end */
  require(ctx.arena != NULL && text != NULL);
  if (size > 0) memcpy(text, data, size);
  text[size] = '\0';
  struct csi_remote_path path;
  if (csi_remote_path_parse(&ctx, text, &path))
    check(&ctx, &path);
  else
    require(!csi_status_ok(&ctx.status));
  free(text);
  csi_arena_free(ctx.arena);
  return 0;
}
