/* SPDX-License-Identifier: Apache-2.0 */
#include "filesystem/path_policy.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "filesystem/path_name.h"

enum {
  DRIVE_BYTES = 3, /* `X:\` */
};

struct csi_path_policy {
  char **roots; /* normal form, without duplicates, in the order given */
  size_t root_count;
  char *root_list; /* the same, separated by blanks, for error texts */
  size_t max_path_bytes;
};

bool csi_path_next(const char **rest, struct csi_path_part *part_out) {
  *rest += strspn(*rest, "\\");
  part_out->text = *rest;
  part_out->bytes = strcspn(*rest, "\\");
  *rest += part_out->bytes;
  return part_out->bytes > 0;
}

bool csi_path_is_absolute(const char *path) {
  return ((path[0] >= 'a' && path[0] <= 'z') || (path[0] >= 'A' && path[0] <= 'Z')) && path[1] == ':' &&
         path[2] == '\\';
}

/* Brings an absolute path to normal form in place. */
static void normalise(char *path, bool drop_dots) {
  char *end = path + 2;
  const char *rest = path + DRIVE_BYTES;
  struct csi_path_part part;
  while (csi_path_next(&rest, &part)) {
    if (drop_dots && part.bytes == 1 && part.text[0] == '.') continue;
    *end++ = '\\';
    memmove(end, part.text, part.bytes);
    end += part.bytes;
  }
  if (end == path + 2) *end++ = '\\';
  *end = '\0';
}

static void to_backslashes(char *path) {
  for (; *path != '\0'; path++)
    if (*path == '/') *path = '\\';
}

/* What is wrong with a component by rules that the original did not have; NULL when nothing is. */
static const char *first_flaw(const char *below_drive) {
  struct csi_path_part part;
  while (csi_path_next(&below_drive, &part)) {
    const char *flaw = csi_path_name_flaw(part.text, part.bytes);
    if (flaw != NULL) return flaw;
  }
  return NULL;
}

enum relation {
  APART,
  WITHIN, /* the path is the root or below it */
  ABOVE,  /* the root is below the path */
};

/* below_out (out, WITHIN only): the rest of path. */
static enum relation relate(const char *path, const char *root, const char **below_out) {
  if (csi_utf8_compare_ignore_case(path, 1, root, 1) != 0) return APART;
  const char *path_rest = path + DRIVE_BYTES;
  const char *root_rest = root + DRIVE_BYTES;
  struct csi_path_part path_part, root_part;
  while (csi_path_next(&root_rest, &root_part)) {
    if (!csi_path_next(&path_rest, &path_part)) return ABOVE;
    if (csi_utf8_compare_ignore_case(path_part.text, path_part.bytes, root_part.text, root_part.bytes) != 0)
      return APART;
  }
  *below_out = path_rest + strspn(path_rest, "\\");
  return WITHIN;
}

/* Rule 6. The outermost working directory wins: the walk begins there and refuses links below, also in
 * place of one of the others. */
static bool find_root(const struct csi_path_policy *policy, struct csi_confined_path *path) {
  path->root = NULL;
  path->holds_root = false;
  for (size_t i = 0; i < policy->root_count; i++) {
    const char *below = NULL;
    enum relation relation = relate(path->text, policy->roots[i], &below);
    if (relation == WITHIN && (path->root == NULL || strlen(below) > strlen(path->below))) {
      path->root = policy->roots[i];
      path->below = below;
    }
    if (relation == ABOVE || (relation == WITHIN && below[0] == '\0')) path->holds_root = true;
  }
  return path->root != NULL;
}

bool csi_path_policy_root(const struct csi_path_policy *policy, size_t index,
                          struct csi_confined_path *root_out) {
  if (index >= policy->root_count) return false;
  *root_out = (struct csi_confined_path){.given = policy->roots[index], .text = policy->roots[index]};
  return find_root(policy, root_out);
}

static bool fail_invalid(struct csi_ctx *ctx, const char *path, const char *flaw) {
  if (flaw == NULL)
    return csi_fail(&ctx->status, CSI_INVALID_ARGUMENT, "path contains invalid characters: %s", path);
  return csi_fail(&ctx->status, CSI_INVALID_ARGUMENT, "path contains invalid characters: %s (%s)", path,
                  flaw);
}

/* Rules 6 and 7, for a path whose normal form is known. */
static bool admit(const struct csi_path_policy *policy, struct csi_ctx *ctx,
                  struct csi_confined_path *path_out) {
  if (!find_root(policy, path_out))
    return csi_fail(&ctx->status, CSI_PERMISSION_DENIED,
                    "path: %s is not within the working directories: [%s]", path_out->given,
                    policy->root_list);
  const char *flaw = first_flaw(path_out->text + DRIVE_BYTES);
  if (flaw != NULL) return fail_invalid(ctx, path_out->given, flaw);
  return true;
}

bool csi_path_confine(const struct csi_path_policy *policy, struct csi_ctx *ctx, const char *path,
                      struct csi_confined_path *path_out) {
  struct csi_status *status = &ctx->status;
  size_t bytes = strlen(path);
  if (bytes > policy->max_path_bytes)
    return csi_fail(status, CSI_INVALID_ARGUMENT, "path length %zu exceeds maximum characters: %zu", bytes,
                    policy->max_path_bytes);
  if (path[0] == '\\')
    return csi_fail(status, CSI_INVALID_ARGUMENT, "invalid character \\ at beginning of path: %s", path);
  bool absolute = csi_path_is_absolute(path);
  const char *names = absolute ? path + DRIVE_BYTES : path;
  if (strpbrk(names, "\"/:?*|") != NULL || strstr(names, "..") != NULL || !csi_utf8_is_valid(path, bytes))
    return fail_invalid(ctx, path, NULL);
  if (!absolute) return csi_fail(status, CSI_INVALID_ARGUMENT, "not an absolute Windows path: %s", path);

  char *text = csi_arena_strndup(ctx->arena, path, bytes);
  if (text == NULL) return csi_fail_out_of_memory(status);
  normalise(text, false);
  *path_out = (struct csi_confined_path){.given = path, .text = text};
  return admit(policy, ctx, path_out);
}

static bool names_device_or_server(const char *path) {
  return strncmp(path, "\\\\", 2) == 0 || strncmp(path, "\\??\\", 4) == 0;
}

bool csi_path_confine_unnormalised(const struct csi_path_policy *policy, struct csi_ctx *ctx,
                                   const char *path, struct csi_confined_path *path_out) {
  struct csi_status *status = &ctx->status;
  bool has_drive = path[0] != '\\' && path[0] != '/';
  char *text = csi_arena_printf(ctx->arena, "%s%s", has_drive ? "" : "C:", path);
  if (text == NULL) return csi_fail_out_of_memory(status);
  to_backslashes(text);
  if (!has_drive && names_device_or_server(text + 2))
    return csi_fail(status, CSI_INVALID_ARGUMENT, "unsupported UNC path prefix: %s", path);
  if (!csi_path_is_absolute(text))
    return csi_fail(status, CSI_INVALID_ARGUMENT, "not an absolute Windows path: %s", path);
  if (strpbrk(text + DRIVE_BYTES, "\":?*|") != NULL || !csi_utf8_is_valid(text, strlen(text)))
    return fail_invalid(ctx, path, NULL);

  normalise(text, true);
  *path_out = (struct csi_confined_path){.given = path, .text = text};
  return admit(policy, ctx, path_out);
}

/* Copies one configured directory to normal form; NULL with a failure in status. */
static char *read_root(const char *directory, struct csi_status *status) {
  if (directory[0] == '\0') {
    csi_fail(status, CSI_INVALID_ARGUMENT, "working directory is empty");
    return NULL;
  }
  char *root = strdup(directory);
  if (root == NULL) {
    csi_fail_out_of_memory(status);
    return NULL;
  }
  to_backslashes(root);
  const char *flaw = NULL;
  if (!csi_path_is_absolute(root)) {
    flaw = "it must be an absolute local path such as C:\\var\\lib\\kubelet";
  } else {
    normalise(root, false);
    flaw = first_flaw(root + DRIVE_BYTES);
  }
  if (flaw == NULL) return root;
  csi_fail(status, CSI_INVALID_ARGUMENT, "working directory %s is not usable: %s", directory, flaw);
  free(root);
  return NULL;
}

static bool is_known(const struct csi_path_policy *policy, const char *root) {
  for (size_t i = 0; i < policy->root_count; i++)
    if (csi_utf8_equal_ignore_case(policy->roots[i], root)) return true;
  return false;
}

static char *join_roots(const struct csi_path_policy *policy) {
  size_t bytes = 0;
  for (size_t i = 0; i < policy->root_count; i++)
    bytes += strlen(policy->roots[i]) + 1;
  char *list = malloc(bytes);
  if (list == NULL) return NULL;
  char *end = list;
  for (size_t i = 0; i < policy->root_count; i++) {
    size_t length = strlen(policy->roots[i]);
    memcpy(end, policy->roots[i], length);
    end += length;
    *end++ = ' ';
  }
  end[-1] = '\0';
  return list;
}

static bool read_roots(struct csi_path_policy *policy, const char *const *directories, size_t directory_count,
                       struct csi_status *status) {
  policy->roots = calloc(directory_count, sizeof *policy->roots);
  if (policy->roots == NULL) return csi_fail_out_of_memory(status);
  for (size_t i = 0; i < directory_count; i++) {
    char *root = read_root(directories[i], status);
    if (root == NULL) return false;
    if (is_known(policy, root))
      free(root);
    else
      policy->roots[policy->root_count++] = root;
  }
  policy->root_list = join_roots(policy);
  return policy->root_list != NULL || csi_fail_out_of_memory(status);
}

struct csi_path_policy *csi_path_policy_new(const char *const *directories, size_t directory_count,
                                            size_t max_path_bytes, struct csi_status *status) {
  if (directory_count == 0 || max_path_bytes == 0) {
    csi_fail(status, CSI_INVALID_ARGUMENT,
             directory_count == 0 ? "no working directory is configured" : "the longest path has 0 bytes");
    return NULL;
  }
  struct csi_path_policy *policy = calloc(1, sizeof *policy);
  if (policy == NULL) {
    csi_fail_out_of_memory(status);
    return NULL;
  }
  policy->max_path_bytes = max_path_bytes;
  if (!read_roots(policy, directories, directory_count, status)) {
    csi_path_policy_free(policy);
    return NULL;
  }
  return policy;
}

void csi_path_policy_free(struct csi_path_policy *policy) {
  if (policy == NULL) return;
  for (size_t i = 0; i < policy->root_count; i++)
    free(policy->roots[i]);
  free(policy->roots);
  free(policy->root_list);
  free(policy);
}
