/* SPDX-License-Identifier: Apache-2.0
 *
 * Any path: what is let through must be in normal form, below its root, and free of what the rules forbid.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "filesystem/path_name.h"
#include "filesystem/path_policy.h"

#define NESTED "C:\\k\\a\\b" /* never where a walk begins */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition) {
  if (!condition) abort();
}

static void check(const struct csi_confined_path *path) {
  require(csi_utf8_is_valid(path->text, strlen(path->text)));
  require(csi_path_is_absolute(path->text));
  size_t root_bytes = strlen(path->root);
  size_t bytes = strlen(path->text);
  require(bytes >= root_bytes && path->below >= path->text && path->below <= path->text + bytes);
  require(csi_utf8_compare_ignore_case(path->text, root_bytes, path->root, root_bytes) == 0);
  require(bytes == root_bytes || path->root[root_bytes - 1] == '\\' || path->text[root_bytes] == '\\');
  require(strstr(path->text, "\\\\") == NULL && (bytes == 3 || path->text[bytes - 1] != '\\'));
  require(path->holds_root || path->below[0] != '\0');
  require(strcmp(path->root, NESTED) != 0);
  const char *rest = path->text + 3;
  struct csi_path_part part;
  while (csi_path_next(&rest, &part))
    require(csi_path_name_flaw(part.text, part.bytes) == NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char *const roots[] = {NESTED, "C:\\k", "D:\\", "E:\\\u00e4"};
  static struct csi_path_policy *policy;
  struct csi_status status = {0};
  if (policy == NULL) policy = csi_path_policy_new(roots, 4, 200, &status);
  struct csi_ctx ctx = {.arena = csi_arena_new(1 << 20), .deadline_ns = CSI_NO_DEADLINE};
  char *path = malloc(size + 1);
  require(policy != NULL && ctx.arena != NULL && path != NULL);
  memcpy(path, data, size);
  path[size] = '\0';

  struct csi_confined_path confined;
  if (csi_path_confine(policy, &ctx, path, &confined)) {
    check(&confined);
    require(strlen(path) <= 200);
    /* What the strict check lets through, the lenient one reads in the same way. */
    struct csi_confined_path again;
    require(csi_path_confine_unnormalised(policy, &ctx, path, &again));
    require(strcmp(confined.text, again.text) == 0);
  }
  csi_status_clear(&ctx.status);
  if (csi_path_confine_unnormalised(policy, &ctx, path, &confined)) check(&confined);

  const char *directory = path;
  csi_status_clear(&status);
  csi_path_policy_free(csi_path_policy_new(&directory, 1, 200, &status));
  free(path);
  csi_arena_free(ctx.arena);
  return 0;
}
