/* SPDX-License-Identifier: Apache-2.0
 *
 * What stands in the way of using a disk: its state, the guard, its partition table; and the volumes on it.
 */
#include <inttypes.h>
#include <string.h>

#include "admin/findings.h"
#include "admin/volume_details.h"
#include "disk/foreign.h"
#include "disk/visit.h"

#define OK CSI_ADMIN_FINDING_LEVEL_OK
#define NOTE CSI_ADMIN_FINDING_LEVEL_NOTE
#define PROBLEM CSI_ADMIN_FINDING_LEVEL_PROBLEM

static const char *advise_to_clear(struct csi_explanation *explanation) {
  return csi_finding_advice(
      explanation, "If nobody needs what is there, clear the disk (diskpart: select disk %" PRIu32 ", clean)",
      explanation->facts->details.number);
}

/* ---- Offline, read-only. ---- */

static bool explain_offline(struct csi_explanation *explanation) {
  const char *advice = csi_finding_advice(
      explanation,
      "PartitionDisk and SetDiskState bring it online; by hand: Set-Disk -Number %" PRIu32
      " -IsOffline $false. New disks come online by themselves under the SAN policy OnlineAll (diskpart: san "
      "policy=OnlineAll)",
      explanation->facts->details.number);
  return csi_finding_add(
      explanation, NOTE, "state", advice,
      "The disk is offline: the SAN policy of Windows has new disks so, or somebody took it "
      "offline. It has no volumes until it is online.");
}

static bool explain_read_only(struct csi_explanation *explanation) {
  const char *advice = csi_finding_advice(
      explanation,
      "PartitionDisk and SetDiskState clear the attribute; by hand: Set-Disk -Number %" PRIu32
      " -IsReadOnly $false. If it stays, the medium or the storage is write-protected",
      explanation->facts->details.number);
  return csi_finding_add(explanation, NOTE, "state", advice,
                         "The disk is read-only: nothing can be written to it.");
}

bool csi_explain_attributes(struct csi_explanation *explanation) {
  const struct csi_admin_disk_details *details = &explanation->facts->details;
  if (!explanation->facts->has_attributes) return true;
  if (details->online && !details->read_only)
    return csi_finding_add(explanation, OK, "state", "", "The disk is online and can be written to.");
  return (details->online || explain_offline(explanation)) &&
         (!details->read_only || explain_read_only(explanation));
}

/* ---- Guard. ---- */

bool csi_explain_guard(struct csi_explanation *explanation) {
  static const char subject[] = "guard";
  const struct csi_disk_facts *facts = explanation->facts;
  bool is_lifted = explanation->group->options.change_system_disks;
  const char *uses =
      csi_texts_join(explanation->ctx, facts->details.guarded_by, facts->details.guarded_by_count);
  if (uses == NULL) return false;
  if (facts->details.guarded_by_count > 0)
    return is_lifted
               ? csi_finding_add(
                     explanation, PROBLEM, subject, "Run the service without -allow-system-disks",
                     "The disk holds: %s. The flag -allow-system-disks is set, so that clients may "
                     "partition, format and take it offline all the same.",
                     uses)
               : csi_finding_add(explanation, NOTE, subject, "",
                                 "The disk holds: %s. PartitionDisk, FormatVolume, ResizeVolume and "
                                 "SetDiskState (offline) refuse it; the flag -allow-system-disks lifts this.",
                                 uses);
  if (!facts->has_roles)
    return csi_finding_add(explanation, is_lifted ? NOTE : PROBLEM, subject, "Look at the disk's errors",
                           "What Windows needs the disk for could not be found out%s.",
                           is_lifted ? "" : ", so that every change is refused");
  return csi_finding_add(explanation, OK, subject, "",
                         "Windows does not need the disk for itself: clients may change it.");
}

/* ---- Partition table. ---- */

/* Looks at a raw disk as PartitionDisk does before it writes. */
static bool explain_raw(struct csi_explanation *explanation) {
  struct csi_ctx *ctx = explanation->ctx;
  const struct csi_disk_facts *facts = explanation->facts;
  CSI_SCOPED_TARGET disk = {
      .ctx = ctx, .host = explanation->group->hosts.disks, .number = facts->details.number};
  if (!facts->has_geometry) return true;
  if (csi_target_open(&disk, CSI_DISK_READ) && csi_disk_refuse_foreign(&disk, &facts->geometry))
    return csi_finding_add(
        explanation, OK, "partition table", "",
        "The disk is raw, and nothing known is on it: PartitionDisk makes it a GPT disk with one "
        "partition.");
  struct csi_status refusal = ctx->status;
  csi_status_clear(&ctx->status);
  if (csi_disk_is_out_of_memory(&refusal)) return csi_fail_out_of_memory(&ctx->status);
  if (refusal.space == CSI_SPACE_NONE && refusal.code == CSI_FAILED_PRECONDITION)
    return csi_finding_add(explanation, PROBLEM, "partition table", advise_to_clear(explanation),
                           "PartitionDisk refuses the disk: %s.", refusal.text);
  return csi_finding_add(explanation, PROBLEM, "partition table", "",
                         "The disk is raw, and PartitionDisk would fail: %s", refusal.text);
}

static size_t count_data_partitions(const struct csi_layout *layout) {
  size_t count = 0;
  for (size_t i = 0; i < layout->partition_count; i++)
    count += csi_partition_is_basic(layout, &layout->partitions[i]);
  return count;
}

static bool explain_without_data(struct csi_explanation *explanation, const struct csi_layout *layout) {
  uint64_t offset_bytes, length_bytes;
  if (layout->style == CSI_PARTITION_STYLE_MBR)
    return csi_finding_add(
        explanation, PROBLEM, "partition table", advise_to_clear(explanation),
        "The disk has an MBR without partitions: PartitionDisk refuses it, as it makes GPT disks "
        "only.");
  if (!csi_layout_largest_gap(layout, &offset_bytes, &length_bytes))
    return csi_finding_add(
        explanation, PROBLEM, "partition table", "",
        "The disk has a GPT without data partition and without room for one: PartitionDisk "
        "fails.");
  return csi_finding_add(explanation, OK, "partition table", "",
                         "The disk has a GPT without data partition: PartitionDisk adds one of %" PRIu64
                         " bytes.",
                         length_bytes);
}

bool csi_explain_partition_table(struct csi_explanation *explanation) {
  const struct csi_disk_facts *facts = explanation->facts;
  if (!facts->has_layout) return true;
  if (facts->layout.style == CSI_PARTITION_STYLE_RAW) return explain_raw(explanation);
  size_t count = count_data_partitions(&facts->layout);
  if (count == 0) return explain_without_data(explanation, &facts->layout);
  if (!csi_finding_add(explanation, count == 1 ? OK : NOTE, "partition table", "",
                       "The disk has %s %s with %zu data partition%s: PartitionDisk leaves it as it is%s.",
                       facts->layout.style == CSI_PARTITION_STYLE_GPT ? "a" : "an",
                       facts->details.partition_style, count, count == 1 ? "" : "s",
                       count == 1 ? "" : ", and drivers take the volume of the first"))
    return false;
  return facts->layout.style == CSI_PARTITION_STYLE_GPT ||
         csi_finding_add(explanation, NOTE, "partition table", "",
                         "With an MBR, no partition can be resized beyond 2 TiB.");
}

/* ---- Volumes. ---- */

static bool explain_missing_volume(struct csi_explanation *explanation,
                                   const struct csi_partition *partition) {
  const struct csi_disk_facts *facts = explanation->facts;
  if (!csi_partition_has_volume(&facts->layout, partition) || !facts->details.online) return true;
  return csi_finding_add(
      explanation, PROBLEM, "volume",
      "PartitionDisk brings it online; check that automatic mounting is on (mountvol /E), and the "
      "system event log",
      "Partition %" PRIu32 " has no volume, or not yet: ListVolumesOnDisk fails.", partition->number);
}

static bool explain_volume(struct csi_explanation *explanation, const struct csi_admin_partition *partition) {
  struct csi_ctx *ctx = explanation->ctx;
  struct csi_admin_volume_details volume;
  if (!csi_volume_describe(explanation->group->hosts.volumes, ctx, explanation->facts->details.number,
                           partition, &volume))
    return false;
  bool is_mounted = volume.mount_points_count > 0;
  const char *places = csi_texts_join(ctx, volume.mount_points, volume.mount_points_count);
  if (places == NULL) return false;
  for (size_t i = 0; i < volume.errors_count; i++)
    if (!csi_finding_add(explanation, PROBLEM, "volume", "", "%s does not tell everything: %s",
                         partition->volume_id, volume.errors[i]))
      return false;
  if (volume.file_system[0] == '\0')
    return csi_finding_add(
        explanation, NOTE, "volume", "", "Partition %" PRIu32 " is volume %s, without a file system%s%s.",
        partition->number, partition->volume_id, is_mounted ? ", mounted on " : "", places);
  return csi_finding_add(explanation, OK, "volume", "",
                         "Partition %" PRIu32 " is volume %s, %s, %" PRIu64 " of %" PRIu64
                         " bytes free, %s%s.",
                         partition->number, partition->volume_id, volume.file_system, volume.free_bytes,
                         volume.total_bytes, is_mounted ? "mounted on " : "not mounted", places);
}

static const struct csi_admin_partition *find_details(const struct csi_disk_facts *facts, uint32_t number) {
  for (size_t i = 0; i < facts->details.partitions_count; i++)
    if (facts->details.partitions[i].number == number) return &facts->details.partitions[i];
  return NULL;
}

bool csi_explain_volumes(struct csi_explanation *explanation) {
  const struct csi_disk_facts *facts = explanation->facts;
  for (size_t i = 0; facts->has_layout && i < facts->layout.partition_count; i++) {
    const struct csi_partition *partition = &facts->layout.partitions[i];
    const struct csi_admin_partition *details = find_details(facts, partition->number);
    if (details == NULL) continue;
    bool has_volume = details->volume_id[0] != '\0';
    if (!(has_volume ? explain_volume(explanation, details) : explain_missing_volume(explanation, partition)))
      return false;
  }
  return true;
}
