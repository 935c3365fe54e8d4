/* SPDX-License-Identifier: Apache-2.0 */
#include "disk/list.h"

#include <inttypes.h>
#include <string.h>

#include "base/log.h"
#include "disk/identity.h"
#include "disk/target.h"

#define NS_PER_MS INT64_C(1000000)

enum {
  DISK_LIMIT_MS = 5000, /* how long one disk may keep a list waiting */
};

struct visit {
  /* Takes in one open disk. Returns false, with disk->ctx->status filled, for a disk to be left out. */
  bool (*take)(struct csi_target *disk, void *result);
  void *result;
  bool done;      /* set by take: no more disks */
  uint32_t *seen; /* numbers of the disks so far */
  size_t count;
  size_t odd_count; /* disks that did not answer */
};

/* A disk that came back while the list was made may have two interfaces. */
static bool is_seen(const struct visit *visit, uint32_t number) {
  for (size_t i = 0; i < visit->count; i++)
    if (visit->seen[i] == number) return true;
  return false;
}

static bool visit_disk(struct visit *visit, struct csi_target *disk, const char *path) {
  const struct csi_disk_host *host = disk->host;
  if (!host->open_path(host->self, disk->ctx, path, CSI_DISK_QUERY, &disk->disk) ||
      !host->get_number(host->self, disk->ctx, disk->disk, &disk->number))
    return false;
  if (is_seen(visit, disk->number)) return true;
  visit->seen[visit->count++] = disk->number;
  return visit->take(disk, visit->result);
}

/* Gives every disk a status and a time limit of its own. */
static struct csi_ctx limited(const struct csi_ctx *ctx) {
  struct csi_ctx one = *ctx;
  int64_t limit_ns = csi_now_ns() + DISK_LIMIT_MS * NS_PER_MS;
  if (one.deadline_ns > limit_ns) one.deadline_ns = limit_ns;
  return one;
}

/* True when the disk is not to blame. */
static bool is_out_of_memory(const struct csi_status *status) {
  return status->code == CSI_RESOURCE_EXHAUSTED && status->space == CSI_SPACE_NONE;
}

static bool visit_path(struct visit *visit, struct csi_ctx *ctx, const struct csi_disk_host *host,
                       const char *path) {
  struct csi_ctx one = limited(ctx);
  CSI_SCOPED_TARGET disk = {.ctx = &one, .host = host};
  if (visit_disk(visit, &disk, path)) return true;
  if (!csi_ctx_alive(ctx)) return false;
  if (is_out_of_memory(&one.status)) return csi_fail_out_of_memory(&ctx->status);
  visit->odd_count++;
  CSI_V(2, "leaving out a disk: %s", one.status.text);
  return true;
}

static bool visit_paths(struct visit *visit, struct csi_ctx *ctx, const struct csi_disk_host *host,
                        const char *const *paths, size_t count) {
  visit->seen = csi_arena_alloc_array(ctx->arena, count > 0 ? count : 1, sizeof *visit->seen);
  if (visit->seen == NULL) return csi_fail_out_of_memory(&ctx->status);
  for (size_t i = 0; i < count && !visit->done; i++)
    if (!csi_ctx_alive(ctx) || !visit_path(visit, ctx, host, paths[i])) return false;
  return true;
}

static bool list_paths(struct csi_ctx *ctx, const struct csi_disk_host *host, const char ***paths_out,
                       size_t *count_out) {
  return host->list(host->self, ctx, paths_out, count_out) ||
         csi_explain(&ctx->status, "failed to list disks: ");
}

static void *new_entries(struct csi_ctx *ctx, size_t count, size_t entry_bytes) {
  void *entries = csi_arena_alloc_array(ctx->arena, count > 0 ? count : 1, entry_bytes);
  if (entries == NULL) csi_fail_out_of_memory(&ctx->status);
  return entries;
}

/* --- ListDiskLocations */

struct locations {
  struct csi_disk_list_disk_locations_response_disk_locations_entry *entries;
  size_t count;
};

static bool take_location(struct csi_target *disk, void *result) {
  struct locations *locations = result;
  struct csi_disk_address address;
  if (!disk->host->get_address(disk->host->self, disk->ctx, disk->disk, &address)) return false;
  struct csi_arena *arena = disk->ctx->arena;
  struct csi_disk_disk_location location = {
      .adapter = csi_arena_printf(arena, "%u", address.port),
      .bus = csi_arena_printf(arena, "%u", address.path),
      .target = csi_arena_printf(arena, "%u", address.target),
      .lunid = csi_arena_printf(arena, "%u", address.lun),
  };
  if (location.adapter == NULL || location.bus == NULL || location.target == NULL || location.lunid == NULL)
    return csi_fail_out_of_memory(&disk->ctx->status);
  locations->entries[locations->count].key = disk->number;
  locations->entries[locations->count++].value = location;
  return true;
}

bool csi_list_disk_locations(struct csi_ctx *ctx, const struct csi_disk_host *host,
                             struct csi_disk_list_disk_locations_response *response) {
  const char **paths;
  size_t count;
  struct locations locations = {0};
  struct visit visit = {.take = take_location, .result = &locations};
  if (!list_paths(ctx, host, &paths, &count)) return false;
  locations.entries = new_entries(ctx, count, sizeof *locations.entries);
  if (locations.entries == NULL || !visit_paths(&visit, ctx, host, paths, count)) return false;
  response->disk_locations = locations.entries;
  response->disk_locations_count = locations.count;
  return true;
}

/* --- ListDiskIDs */

typedef bool query_function(void *self, struct csi_ctx *ctx, struct csi_open_disk *disk,
                            struct csi_bytes *bytes_out);
typedef const char *parse_function(struct csi_arena *arena, const uint8_t *bytes, size_t size_bytes);

/* Many devices do not know these queries: then the text is empty. */
static bool ask(struct csi_target *disk, const char *what, query_function *query, parse_function *parse,
                const char **text_out) {
  struct csi_bytes bytes;
  if (!query(disk->host->self, disk->ctx, disk->disk, &bytes)) {
    if (is_out_of_memory(&disk->ctx->status)) return false;
    CSI_V(2, "disk %" PRIu32 " has no %s: %s", disk->number, what, disk->ctx->status.text);
    csi_status_clear(&disk->ctx->status);
    *text_out = "";
    return true;
  }
  *text_out = parse(disk->ctx->arena, bytes.data, bytes.size_bytes);
  return *text_out != NULL || csi_fail_out_of_memory(&disk->ctx->status);
}

static bool get_page83(struct csi_target *disk, const char **text_out) {
  return ask(disk, "page 83 identifier", disk->host->get_identifiers, csi_page83_choose, text_out);
}

struct ids {
  struct csi_disk_list_disk_ids_response_disk_ids_entry *entries;
  size_t count;
};

static bool take_ids(struct csi_target *disk, void *result) {
  struct ids *ids = result;
  struct csi_disk_disk_ids value;
  if (!get_page83(disk, &value.page83) ||
      !ask(disk, "serial number", disk->host->get_descriptor, csi_serial_number, &value.serial_number))
    return false;
  ids->entries[ids->count].key = disk->number;
  ids->entries[ids->count++].value = value;
  return true;
}

bool csi_list_disk_ids(struct csi_ctx *ctx, const struct csi_disk_host *host,
                       struct csi_disk_list_disk_ids_response *response) {
  const char **paths;
  size_t count;
  struct ids ids = {0};
  struct visit visit = {.take = take_ids, .result = &ids};
  if (!list_paths(ctx, host, &paths, &count)) return false;
  ids.entries = new_entries(ctx, count, sizeof *ids.entries);
  if (ids.entries == NULL || !visit_paths(&visit, ctx, host, paths, count)) return false;
  response->disk_ids = ids.entries;
  response->disk_ids_count = ids.count;
  return true;
}

/* --- GetDiskNumberByName */

struct search {
  const char *name;
  uint32_t number;
  struct visit *visit;
};

static bool take_if_named(struct csi_target *disk, void *result) {
  struct search *search = result;
  const char *page83;
  if (!get_page83(disk, &page83) || !csi_ctx_alive(disk->ctx)) return false;
  if (strcmp(page83, search->name) != 0) return true;
  search->number = disk->number;
  search->visit->done = true;
  return true;
}

bool csi_find_disk_by_page83(struct csi_ctx *ctx, const struct csi_disk_host *host, const char *name,
                             uint32_t *number_out) {
  const char **paths;
  size_t count;
  struct search search = {.name = name};
  struct visit visit = {.take = take_if_named, .result = &search};
  search.visit = &visit;
  if (!list_paths(ctx, host, &paths, &count) || !visit_paths(&visit, ctx, host, paths, count)) return false;
  if (visit.done) {
    *number_out = search.number;
    return true;
  }
  csi_fail(&ctx->status, CSI_NOT_FOUND, "could not find disk with Page83 ID %s: not found", name);
  if (visit.odd_count > 0) csi_advise(&ctx->status, " (%zu disks did not answer)", visit.odd_count);
  return false;
}
