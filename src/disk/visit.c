/* SPDX-License-Identifier: Apache-2.0 */
#include "disk/visit.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/log.h"

#define NS_PER_MS INT64_C(1000000)

enum {
  NUMBER_TEXT_BYTES = 24,
};

/* A disk that came back while the list was made may have two interfaces. */
static bool is_seen(const struct csi_disk_visit *visit, uint32_t number) {
  for (size_t i = 0; i < visit->count; i++)
    if (visit->seen[i] == number) return true;
  return false;
}

/* is_known_out: whether the disk's number could be found out. */
static bool visit_disk(struct csi_disk_visit *visit, struct csi_target *disk, const char *path,
                       bool *is_known_out) {
  const struct csi_disk_host *host = disk->host;
  if (!host->open_path(host->self, disk->ctx, path, CSI_DISK_QUERY, &disk->disk) ||
      !host->get_number(host->self, disk->ctx, disk->disk, &disk->number))
    return false;
  *is_known_out = true;
  if (is_seen(visit, disk->number)) return true;
  visit->seen[visit->count++] = disk->number;
  return visit->take(disk, visit->result);
}

static struct csi_ctx limited(const struct csi_ctx *ctx, uint32_t limit_ms) {
  struct csi_ctx one = *ctx;
  csi_status_clear(&one.status);
  int64_t limit_ns = csi_now_ns() + limit_ms * NS_PER_MS;
  if (one.deadline_ns > limit_ns) one.deadline_ns = limit_ns;
  return one;
}

struct csi_ctx csi_disk_share_time(const struct csi_ctx *ctx) {
  return limited(ctx, csi_ctx_remaining_ms(ctx, 2 * CSI_DISK_VISIT_MS) / 2);
}

bool csi_disk_is_out_of_memory(const struct csi_status *status) {
  return status->code == CSI_RESOURCE_EXHAUSTED && status->space == CSI_SPACE_NONE;
}

static void leave_out(struct csi_disk_visit *visit, const struct csi_target *disk, const char *path,
                      bool is_known) {
  char number[NUMBER_TEXT_BYTES];
  snprintf(number, sizeof number, "disk %" PRIu32, disk->number);
  visit->odd_count++;
  CSI_V(2, "leaving out a disk: %s", disk->ctx->status.text);
  if (visit->leave_out != NULL) visit->leave_out(visit->result, is_known ? number : path, &disk->ctx->status);
}

static bool visit_path(struct csi_disk_visit *visit, struct csi_ctx *ctx, const struct csi_disk_host *host,
                       const char *path) {
  struct csi_ctx one = visit->share_time ? csi_disk_share_time(ctx) : limited(ctx, CSI_DISK_VISIT_MS);
  CSI_SCOPED_TARGET disk = {.ctx = &one, .host = host};
  bool is_known = false;
  if (visit_disk(visit, &disk, path, &is_known)) return true;
  if (!csi_ctx_alive(ctx)) return false;
  if (csi_disk_is_out_of_memory(&one.status)) return csi_fail_out_of_memory(&ctx->status);
  leave_out(visit, &disk, path, is_known);
  return true;
}

bool csi_disk_visit_paths(struct csi_disk_visit *visit, struct csi_ctx *ctx, const struct csi_disk_host *host,
                          const char *const *paths, size_t count) {
  visit->seen = csi_arena_alloc_array(ctx->arena, count > 0 ? count : 1, sizeof *visit->seen);
  if (visit->seen == NULL) return csi_fail_out_of_memory(&ctx->status);
  for (size_t i = 0; i < count && !visit->done; i++)
    if (!csi_ctx_alive(ctx) || !visit_path(visit, ctx, host, paths[i])) return false;
  return true;
}

bool csi_disk_list_paths(struct csi_ctx *ctx, const struct csi_disk_host *host, const char ***paths_out,
                         size_t *count_out) {
  return host->list(host->self, ctx, paths_out, count_out) ||
         csi_explain(&ctx->status, "failed to list disks: ");
}
