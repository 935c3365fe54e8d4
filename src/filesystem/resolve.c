/* SPDX-License-Identifier: Apache-2.0 */
#include "filesystem/resolve.h"

#include <string.h>

#include "filesystem/path_name.h"
#include "filesystem/walk.h"

enum {
  LINKS_MAX = 63,    /* as many as Windows itself follows */
  DRIVE_BYTES = 3,   /* `X:\` */
  VOLUME_BYTES = 49, /* `\\?\Volume{guid}\` */
};

/* Where the search stands. */
struct search {
  struct csi_ctx *ctx;
  const struct csi_filesystem_host *host;
  bool follow_last;
  bool enter_volumes; /* look whether the root of a volume is there, too */
  unsigned access;    /* CSI_ACCESS_FAR once a link was followed */
  const char *path;   /* absolute, `X:\...` or `\\?\Volume{guid}\...`; NULL when target is known */
  enum csi_target target;
};

bool csi_read_link(struct csi_ctx *ctx, const struct csi_node *node, const char *verb, const char *path,
                   struct csi_reparse *reparse_out) {
  uint8_t bytes[CSI_REPARSE_BYTES_MAX];
  size_t size_bytes = 0;
  uint32_t error = node->host->read_reparse(node->host->self, node->handle, bytes, sizeof bytes, &size_bytes);
  if (error != CSI_WIN32_OK)
    return csi_fail_system(&ctx->status, CSI_SPACE_WIN32, error, "FSCTL_GET_REPARSE_POINT", "%s %s", verb,
                           path);
  return csi_reparse_parse(ctx, bytes, size_bytes, reparse_out) ||
         csi_explain(&ctx->status, "%s %s: ", verb, path);
}

static bool settle(struct search *search, enum csi_target target) {
  search->path = NULL;
  search->target = target;
  return true;
}

static bool settle_error(struct search *search, const char *path, uint32_t error) {
  if (csi_error_is_gone(error)) return settle(search, CSI_TARGET_MISSING);
  return csi_fail_system(&search->ctx->status, CSI_SPACE_WIN32, error, "NtCreateFile",
                         "GetFileAttributesEx %s", path);
}

static size_t anchor_bytes(const char *path) {
  size_t bytes = path[0] == '\\' ? VOLUME_BYTES : DRIVE_BYTES;
  size_t length = strlen(path);
  return length < bytes ? length : bytes;
}

/* True for `\\?\Volume{guid}\` and nothing behind it. */
static bool is_volume_root(const char *path) {
  const char *rest = path + anchor_bytes(path);
  return path[0] == '\\' && rest[strspn(rest, "\\")] == '\0';
}

/* Resolves `.` and `..` behind the anchor, in place. */
static void fold_dots(char *path) {
  char *start = path + anchor_bytes(path);
  char *end = start;
  const char *rest = start;
  struct csi_path_part part;
  while (csi_path_next(&rest, &part)) {
    if (part.bytes == 1 && part.text[0] == '.') continue;
    if (part.bytes == 2 && memcmp(part.text, "..", 2) == 0) {
      while (end > start && *--end != '\\')
        continue;
      continue;
    }
    if (end > start) *end++ = '\\';
    memmove(end, part.text, part.bytes);
    end += part.bytes;
  }
  *end = '\0';
}

/* Goes on where a link leads.
 *
 * link_path: the link, link_bytes long. rest: what follows it in the path, maybe "". */
static bool follow(struct search *search, const char *link_path, size_t link_bytes,
                   const struct csi_reparse *link, const char *rest) {
  const char *target = link->target;
  size_t base_bytes = 0; /* how much of link_path comes before target */
  switch (link->kind) {
  case CSI_LINK_NONE:
  case CSI_LINK_OTHER:
    return settle(search, CSI_TARGET_MISSING);
  case CSI_LINK_UNC:
    return settle(search, CSI_TARGET_REMOTE);
  case CSI_LINK_RELATIVE:
    base_bytes = anchor_bytes(link_path);
    if (target[0] != '\\')
      for (base_bytes = link_bytes; base_bytes > 0 && link_path[base_bytes - 1] != '\\';)
        base_bytes--;
    break;
  case CSI_LINK_DRIVE:
  case CSI_LINK_VOLUME:
    break;
  }
  char *path = csi_arena_printf(search->ctx->arena, "%.*s%s\\%s", (int)base_bytes, link_path, target, rest);
  if (path == NULL) return csi_fail_out_of_memory(&search->ctx->status);
  if (link->kind == CSI_LINK_RELATIVE) fold_dots(path);
  search->access = CSI_ACCESS_FAR;
  search->path = path;
  return true;
}

/* Follows the link that `part` of search->path is. */
static bool follow_node(struct search *search, const struct csi_node *node, const struct csi_path_part *part,
                        const char *rest) {
  const char *link_path = search->path;
  struct csi_reparse link;
  if (!csi_read_link(search->ctx, node, "readlink", link_path, &link)) return false;
  return follow(search, link_path, (size_t)(part->text + part->bytes - link_path), &link, rest);
}

static bool is_link(const struct csi_entry *entry) {
  return csi_entry_is_reparse_point(entry) &&
         (entry->tag == CSI_REPARSE_TAG_SYMLINK || entry->tag == CSI_REPARSE_TAG_MOUNT_POINT);
}

/* Walks search->path from its anchor until its end or the next link. */
static bool walk_once(struct search *search) {
  const char *path = search->path;
  if (!search->enter_volumes && is_volume_root(path)) return settle(search, CSI_TARGET_DIRECTORY);
  size_t at = anchor_bytes(path);
  const char *anchor =
      csi_arena_printf(search->ctx->arena, "%.*s%s", (int)at, path, path[at - 1] == '\\' ? "" : "\\");
  if (anchor == NULL) return csi_fail_out_of_memory(&search->ctx->status);
  CSI_SCOPED_NODE node = {0};
  uint32_t error = csi_node_open_path(search->host, anchor, search->access, &node);
  if (error != CSI_WIN32_OK) return settle_error(search, path, error);

  struct csi_entry entry = {.attributes = CSI_ATTRIBUTE_DIRECTORY};
  const char *rest = path + at;
  struct csi_path_part part;
  while (csi_path_next(&rest, &part)) {
    bool is_directory = (entry.attributes & CSI_ATTRIBUTE_DIRECTORY) != 0;
    if (!is_directory || csi_path_name_flaw(part.text, part.bytes) != NULL)
      return settle(search, CSI_TARGET_MISSING);
    struct csi_name name;
    if (!csi_walk_name(search->ctx, &part, &name)) return false;
    CSI_SCOPED_NODE child = {0};
    error = csi_node_open_child(&node, name, search->access, &child, &entry);
    if (error != CSI_WIN32_OK) return settle_error(search, path, error);
    bool is_last = rest[strspn(rest, "\\")] == '\0';
    if (is_link(&entry) && (!is_last || search->follow_last)) return follow_node(search, &child, &part, rest);
    struct csi_node done = node;
    node = child;
    child = done;
  }
  return settle(search,
                (entry.attributes & CSI_ATTRIBUTE_DIRECTORY) != 0 ? CSI_TARGET_DIRECTORY : CSI_TARGET_FILE);
}

/* Goes on until the end. links: how many were followed already. end_out: the last path looked at. */
static bool finish(struct search *search, unsigned links, const char **end_out) {
  for (; search->path != NULL; links++) {
    *end_out = search->path;
    if (!csi_ctx_alive(search->ctx)) return false;
    if (links > LINKS_MAX)
      settle(search, CSI_TARGET_MISSING);
    else if (!walk_once(search))
      return false;
  }
  return true;
}

bool csi_resolve(struct csi_ctx *ctx, const struct csi_filesystem_host *host, const char *link_path,
                 const struct csi_reparse *link, bool follow_last, enum csi_target *target_out) {
  struct search search = {.ctx = ctx, .host = host, .follow_last = follow_last, .enter_volumes = true};
  const char *end;
  if (!follow(&search, link_path, strlen(link_path), link, "") || !finish(&search, 1, &end)) return false;
  *target_out = search.target;
  return true;
}

bool csi_resolve_path(struct csi_ctx *ctx, const struct csi_filesystem_host *host, const char *path,
                      struct csi_place *place_out) {
  struct search search = {.ctx = ctx, .host = host, .follow_last = true, .path = path};
  const char *end = path;
  if (!finish(&search, 0, &end)) return false;
  *place_out = (struct csi_place){.target = search.target, .is_volume_root = is_volume_root(end)};
  place_out->root = csi_arena_strndup(ctx->arena, end, anchor_bytes(end));
  return place_out->root != NULL || csi_fail_out_of_memory(&ctx->status);
}
