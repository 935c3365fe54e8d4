/* SPDX-License-Identifier: Apache-2.0
 *
 * The steps, and what a crash after each of them leaves for the next call:
 *
 *   bring online     an online disk
 *   look             the same: nothing is written before
 *   wipe             a raw disk still, whose beginning is as it was: it is looked at and wiped again
 *   create the GPT   a GPT without a data partition: it gets one, and nothing is wiped
 *   add a partition  a partition: only its volume is waited for
 *
 * A raw disk that another system may have made its own, or whose table Windows does not see, is refused
 * (disk/foreign.h). Nameless remains on it are no reason, and are lost.
 *
 * Only a raw disk is ever wiped, and only so that remains of an old file system do not come to life in the
 * new partition. Where that will begin is not known for certain before the GPT is there, since Windows may
 * put a reserved partition first; so a raw disk is wiped wherever it may begin, and after that, before the
 * partition exists, where it does begin. A crash between the two can leave remains only where Windows has
 * never yet put a partition.
 */
#include "disk/partition.h"

#include <inttypes.h>
#include <string.h>

#include "base/log.h"
#include "disk/arrival.h"
#include "disk/foreign.h"
#include "disk/state.h"

enum {
  MIB = 1 << 20,
  WIPE_BYTES = MIB, /* covers the boot sector of every file system, and the copy that NTFS has at the end */
  END_WIPE_COUNT = 2,
};

/* First partitions of Windows, in MiB: alone, or behind a reserved one of 16, 32 or 128 MiB that begins
 * right after the table or at 1 MiB. */
static const uint16_t usual_places_mib[] = {1, 16, 17, 32, 33, 128, 129};

/* zeros: WIPE_BYTES of them. */
static bool wipe(struct csi_target *target, const uint8_t *zeros, uint64_t offset_bytes) {
  return target->host->write(target->host->self, target->ctx, target->disk, offset_bytes, zeros, WIPE_BYTES);
}

/* Where the first and the last MiB of the first partition of a raw disk may come to lie. */
static bool wipe_usual_places(struct csi_target *target, const struct csi_disk_geometry *geometry,
                              const uint8_t *zeros) {
  uint64_t whole_mib = geometry->size_bytes / MIB;
  for (size_t i = 0; i < sizeof usual_places_mib / sizeof usual_places_mib[0]; i++)
    if (usual_places_mib[i] < whole_mib && !wipe(target, zeros, (uint64_t)usual_places_mib[i] * MIB))
      return false;
  for (uint64_t i = 1; i <= END_WIPE_COUNT && i < whole_mib; i++)
    if (!wipe(target, zeros, (whole_mib - i) * MIB)) return false;
  return true;
}

/* Makes a raw disk a GPT one without data partition. Windows may add a reserved partition, so that the table
 * is read again. */
static bool initialise(struct csi_target *target, const uint8_t *zeros, struct csi_layout *layout) {
  struct csi_disk_geometry geometry;
  if (!target->host->get_geometry(target->host->self, target->ctx, target->disk, &geometry) ||
      !csi_disk_refuse_foreign(target, &geometry))
    return false;
  CSI_V(2, "disk %" PRIu32 ": is raw; initialising it as GPT", target->number);
  if (!wipe_usual_places(target, &geometry, zeros) ||
      !target->host->create_gpt(target->host->self, target->ctx, target->disk) ||
      !csi_target_update_properties(target) || !csi_target_get_layout(target, layout))
    return false;
  return layout->style == CSI_PARTITION_STYLE_GPT ||
         csi_fail(&target->ctx->status, CSI_INTERNAL,
                  "it is not GPT, though Windows said that it made it so");
}

static bool fill_partition(struct csi_target *target, const struct csi_layout *layout,
                           struct csi_partition *partition_out) {
  static const char name[] = "Basic data partition";
  *partition_out = (struct csi_partition){
      .type = csi_partition_type_basic_data,
      .attributes = CSI_GPT_ATTRIBUTE_NO_DRIVE_LETTER,
  };
  for (size_t i = 0; i < sizeof name - 1; i++)
    partition_out->name_w[i] = (uint8_t)name[i];
  if (!csi_layout_largest_gap(layout, &partition_out->offset_bytes, &partition_out->length_bytes))
    return csi_fail(&target->ctx->status, CSI_FAILED_PRECONDITION,
                    "there is no free space of at least 1 MiB for a partition");
  return target->host->new_guid(target->host->self, target->ctx, &partition_out->id);
}

/* Copies layout with one partition more. */
static bool extend_layout(struct csi_ctx *ctx, const struct csi_layout *layout,
                          const struct csi_partition *partition, struct csi_layout *longer_out) {
  size_t count = layout->partition_count;
  if (count >= layout->max_partition_count || count >= CSI_LAYOUT_PARTITIONS_MAX)
    return csi_fail(&ctx->status, CSI_FAILED_PRECONDITION, "the partition table is full");
  *longer_out = *layout;
  longer_out->partitions = csi_arena_alloc_array(ctx->arena, count + 1, sizeof *longer_out->partitions);
  if (longer_out->partitions == NULL) return csi_fail_out_of_memory(&ctx->status);
  if (count > 0) memcpy(longer_out->partitions, layout->partitions, count * sizeof *layout->partitions);
  longer_out->partitions[count] = *partition;
  longer_out->partition_count = count + 1;
  return true;
}

static bool wipe_ends(struct csi_target *target, const uint8_t *zeros,
                      const struct csi_partition *partition) {
  return wipe(target, zeros, partition->offset_bytes) &&
         wipe(target, zeros, partition->offset_bytes + partition->length_bytes - WIPE_BYTES);
}

/* Adds a basic partition over the largest gap. zeros: NULL = its ends are not wiped. layout becomes what
 * Windows makes of it. */
static bool add_partition(struct csi_target *target, const uint8_t *zeros, struct csi_layout *layout) {
  struct csi_partition partition;
  struct csi_layout longer;
  if (!fill_partition(target, layout, &partition) || !extend_layout(target->ctx, layout, &partition, &longer))
    return false;
  if (zeros != NULL && !wipe_ends(target, zeros, &partition)) return false;
  CSI_V(2, "disk %" PRIu32 ": adding a partition of %" PRIu64 " bytes at %" PRIu64, target->number,
        partition.length_bytes, partition.offset_bytes);
  return target->host->set_layout(target->host->self, target->ctx, target->disk, &longer) &&
         csi_target_update_properties(target) && csi_target_get_layout(target, layout);
}

/* The numbers of the partitions that have volumes. */
static bool list_volumes(struct csi_ctx *ctx, const struct csi_layout *layout, uint32_t **numbers_out,
                         size_t *count_out) {
  size_t room = layout->partition_count > 0 ? layout->partition_count : 1;
  uint32_t *numbers = csi_arena_alloc_array(ctx->arena, room, sizeof *numbers);
  if (numbers == NULL) return csi_fail_out_of_memory(&ctx->status);
  size_t count = 0;
  for (size_t i = 0; i < layout->partition_count; i++) {
    const struct csi_partition *partition = &layout->partitions[i];
    if (csi_partition_has_volume(layout, partition)) numbers[count++] = partition->number;
  }
  *numbers_out = numbers;
  *count_out = count;
  return true;
}

static bool has_data_partition(const struct csi_layout *layout) {
  for (size_t i = 0; i < layout->partition_count; i++)
    if (csi_partition_is_basic(layout, &layout->partitions[i])) return true;
  return false;
}

/* Reads the table and brings the disk online, unless Windows needs it. The table of an offline disk may be
 * unreadable until it is online. */
static bool prepare(struct csi_target *target, struct csi_layout *layout, bool *changed_out) {
  uint64_t attributes;
  if (!csi_target_get_attributes(target, &attributes)) return false;
  bool readable = csi_target_get_layout(target, layout);
  if (!readable) {
    if ((attributes & CSI_DISK_ATTRIBUTE_OFFLINE) == 0 || !csi_ctx_alive(target->ctx)) return false;
    csi_status_clear(&target->ctx->status);
  }
  *changed_out = (attributes & (CSI_DISK_ATTRIBUTE_OFFLINE | CSI_DISK_ATTRIBUTE_READ_ONLY)) != 0;
  if (!*changed_out) return true;
  return csi_target_check_guard(target, readable ? layout : NULL) && csi_disk_bring_online(target) &&
         csi_target_get_layout(target, layout);
}

static bool check_writing(struct csi_target *target, const struct csi_layout *layout) {
  return csi_target_check_guard(target, layout) && csi_disk_require_writable(target);
}

/* Gives a disk without data partition one. */
static bool make_partition(struct csi_target *target, struct csi_layout *layout) {
  struct csi_status *status = &target->ctx->status;
  bool was_raw = layout->style == CSI_PARTITION_STYLE_RAW;
  if (layout->style == CSI_PARTITION_STYLE_MBR)
    return csi_fail(status, CSI_FAILED_PRECONDITION,
                    "error creating partition on disk %" PRIu32 ". err: its partition table is an empty MBR; "
                    "only raw and GPT disks are given a partition",
                    target->number);
  const uint8_t *zeros = NULL; /* a raw disk is wiped */
  if (was_raw && (zeros = csi_sectors_alloc(target->ctx, WIPE_BYTES)) == NULL) return false;
  if (was_raw && !initialise(target, zeros, layout))
    return csi_explain(status, "failed to initializing disk %" PRIu32 ": error: ", target->number);
  if (has_data_partition(layout)) return true;
  return add_partition(target, zeros, layout) ||
         csi_explain(status, "error creating partition on disk %" PRIu32 ". err: ", target->number);
}

bool csi_partition_disk(struct csi_target *target) {
  struct csi_status *status = &target->ctx->status;
  struct csi_layout layout;
  bool changed;
  if (!prepare(target, &layout, &changed) ||
      (!has_data_partition(&layout) && !check_writing(target, &layout)))
    return csi_explain(status, "error checking initialized status of disk %" PRIu32 ": ", target->number);
  bool had_partition = has_data_partition(&layout);
  if (!had_partition && !make_partition(target, &layout)) return false;
  uint32_t *numbers = NULL;
  size_t count = 0;
  if (!list_volumes(target->ctx, &layout, &numbers, &count)) return false;
  if (!had_partition && count == 0)
    return csi_fail(status, CSI_INTERNAL,
                    "failed to create basic partition on disk %" PRIu32 ": Windows does not show it",
                    target->number);
  return csi_await_volumes(target, numbers, count, changed || !had_partition);
}
