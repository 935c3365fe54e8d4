/* SPDX-License-Identifier: Apache-2.0 */
#include "disk/list.h"

#include <inttypes.h>
#include <string.h>

#include "base/log.h"
#include "disk/identity.h"
#include "disk/visit.h"

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
  struct csi_disk_visit visit = {.take = take_location, .result = &locations};
  if (!csi_disk_list_paths(ctx, host, &paths, &count)) return false;
  locations.entries = new_entries(ctx, count, sizeof *locations.entries);
  if (locations.entries == NULL || !csi_disk_visit_paths(&visit, ctx, host, paths, count)) return false;
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
    if (csi_disk_is_out_of_memory(&disk->ctx->status)) return false;
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
  struct csi_disk_visit visit = {.take = take_ids, .result = &ids};
  if (!csi_disk_list_paths(ctx, host, &paths, &count)) return false;
  ids.entries = new_entries(ctx, count, sizeof *ids.entries);
  if (ids.entries == NULL || !csi_disk_visit_paths(&visit, ctx, host, paths, count)) return false;
  response->disk_ids = ids.entries;
  response->disk_ids_count = ids.count;
  return true;
}

/* --- GetDiskNumberByName */

struct search {
  const char *name;
  uint32_t number;
  struct csi_disk_visit *visit;
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
  struct csi_disk_visit visit = {.take = take_if_named, .result = &search};
  search.visit = &visit;
  if (!csi_disk_list_paths(ctx, host, &paths, &count) ||
      !csi_disk_visit_paths(&visit, ctx, host, paths, count))
    return false;
  if (visit.done) {
    *number_out = search.number;
    return true;
  }
  csi_fail(&ctx->status, CSI_NOT_FOUND, "could not find disk with Page83 ID %s: not found", name);
  if (visit.odd_count > 0) csi_advise(&ctx->status, " (%zu disks did not answer)", visit.odd_count);
  return false;
}
