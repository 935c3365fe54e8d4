/* SPDX-License-Identifier: Apache-2.0 */
#include "disk/arrival.h"

#include <inttypes.h>

#include "base/log.h"

enum {
  FIRST_PAUSE_MS = 5,
  LONGEST_PAUSE_MS = 500,
};

bool csi_await_arrival(struct csi_target *target) {
  struct csi_status *status = &target->ctx->status;
  if (target->host->wait_for_volumes(target->host->self, target->ctx, target->disk)) return true;
  if (status->code != CSI_UNIMPLEMENTED)
    return csi_explain(status, "the volumes of disk %" PRIu32 " have not arrived: ", target->number);
  CSI_V(2, "disk %" PRIu32 ": cannot wait for its volumes: %s", target->number, status->text);
  csi_status_clear(status);
  return true;
}

/* missing_out: the partitions without a volume that has a name, missing_count_out of count. */
static bool look_for_volumes(struct csi_target *target, const uint32_t *partition_numbers, size_t count,
                             uint32_t *missing_out, size_t *missing_count_out) {
  struct csi_ctx *ctx = target->ctx;
  *missing_count_out = 0;
  for (size_t i = 0; i < count; i++) {
    char volume_id[CSI_VOLUME_ID_BYTES];
    if (target->host->find_volume(target->host->self, ctx, target->number, partition_numbers[i], volume_id)) {
      CSI_V(2, "disk %" PRIu32 ": partition %" PRIu32 " is %s", target->number, partition_numbers[i],
            volume_id);
      continue;
    }
    if (ctx->status.code != CSI_NOT_FOUND) return false;
    csi_status_clear(&ctx->status);
    missing_out[(*missing_count_out)++] = partition_numbers[i];
  }
  return true;
}

/* Failure is nothing yet: the volume may be on its way, or about to be replaced. */
static void bring_volumes_online(struct csi_target *target, const uint32_t *partition_numbers, size_t count) {
  struct csi_ctx *ctx = target->ctx;
  for (size_t i = 0; i < count; i++) {
    if (target->host->online_volume(target->host->self, ctx, target->number, partition_numbers[i])) continue;
    CSI_V(2, "disk %" PRIu32 ": partition %" PRIu32 " cannot be brought online: %s", target->number,
          partition_numbers[i], ctx->status.text);
    csi_status_clear(&ctx->status);
  }
}

/* Whether the disk is still there; else nothing will ever arrive. */
static bool is_present(struct csi_target *target) {
  uint32_t number;
  return target->host->get_number(target->host->self, target->ctx, target->disk, &number);
}

static bool explain_missing(struct csi_target *target, uint32_t partition_number) {
  return csi_explain(&target->ctx->status,
                     "the volume of partition %" PRIu32 " on disk %" PRIu32 " has not arrived: ",
                     partition_number, target->number);
}

bool csi_await_volumes(struct csi_target *target, const uint32_t *partition_numbers, size_t count,
                       bool changed) {
  if (count == 0) return true;
  struct csi_ctx *ctx = target->ctx;
  size_t missing_count;
  uint32_t *missing = csi_arena_alloc_array(ctx->arena, count, sizeof *missing);
  if (missing == NULL) return csi_fail_out_of_memory(&ctx->status);
  if (!changed) {
    if (!look_for_volumes(target, partition_numbers, count, missing, &missing_count))
      return explain_missing(target, partition_numbers[0]);
    if (missing_count < count) return true;
  }
  if (!csi_await_arrival(target)) return false;
  for (uint32_t pause_ms = FIRST_PAUSE_MS;; pause_ms *= 2) {
    if (!look_for_volumes(target, partition_numbers, count, missing, &missing_count))
      return explain_missing(target, partition_numbers[0]);
    if (missing_count == 0 || (!changed && missing_count < count)) return true;
    bring_volumes_online(target, missing, missing_count);
    if (pause_ms > LONGEST_PAUSE_MS) pause_ms = LONGEST_PAUSE_MS;
    if (!is_present(target) || !csi_pause(ctx, pause_ms)) return explain_missing(target, missing[0]);
  }
}
