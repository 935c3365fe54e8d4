/* SPDX-License-Identifier: Apache-2.0
 *
 * Other disks that are called the same, or are at the same place, so that drivers may take one for the other.
 */
#include <inttypes.h>
#include <string.h>

#include "admin/findings.h"
#include "disk/visit.h"

struct doubles {
  const struct csi_disk_facts *facts;
  struct csi_texts page83, serial_number, lun; /* numbers of the disks, as text */
};

static bool is_same(const char *left, const char *right) {
  return left[0] != '\0' && strcmp(left, right) == 0;
}

/* Only where drivers go by the LUN. */
static bool has_same_lun(const struct csi_admin_disk_details *left,
                         const struct csi_admin_disk_details *right) {
  return csi_is_azure_disk(left) && left->has_location && right->has_location && left->lun == right->lun;
}

static bool compare(struct csi_target *disk, void *result) {
  struct doubles *doubles = result;
  const struct csi_admin_disk_details *own = &doubles->facts->details;
  struct csi_disk_facts other;
  if (disk->number == own->number) return true;
  if (!csi_disk_describe_identity(disk, &other)) return false;
  const char *number = csi_arena_printf(disk->ctx->arena, "%" PRIu32, disk->number);
  if (number == NULL) return csi_fail_out_of_memory(&disk->ctx->status);
  return (!is_same(own->page83, other.details.page83) ||
          csi_texts_add(disk->ctx, &doubles->page83, number)) &&
         (!is_same(own->serial_number, other.details.serial_number) ||
          csi_texts_add(disk->ctx, &doubles->serial_number, number)) &&
         (!has_same_lun(own, &other.details) || csi_texts_add(disk->ctx, &doubles->lun, number));
}

static bool report(struct csi_explanation *explanation, const struct csi_texts *numbers,
                   enum csi_admin_finding_level level, const char *subject, const char *advice,
                   const char *consequence) {
  if (numbers->count == 0) return true;
  const char *list = csi_texts_join(explanation->ctx, numbers->items, numbers->count);
  return list != NULL && csi_finding_add(explanation, level, subject, advice, "The same as of disk%s %s: %s",
                                         numbers->count == 1 ? "" : "s", list, consequence);
}

/* Disks that do not answer are passed over: they are found by nobody. */
bool csi_explain_doubles(struct csi_explanation *explanation) {
  const struct csi_disk_host *host = explanation->group->hosts.disks;
  struct csi_ctx *ctx = explanation->ctx;
  struct doubles doubles = {.facts = explanation->facts};
  struct csi_disk_visit visit = {.take = compare, .result = &doubles, .share_time = true};
  const char **paths;
  size_t count;
  if (!csi_disk_list_paths(ctx, host, &paths, &count) ||
      !csi_disk_visit_paths(&visit, ctx, host, paths, count)) {
    if (csi_disk_is_out_of_memory(&ctx->status)) return false;
    struct csi_status failure = ctx->status;
    csi_status_clear(&ctx->status);
    return csi_finding_add(explanation, CSI_ADMIN_FINDING_LEVEL_NOTE, "other disks", "",
                           "Whether other disks are called the same could not be found out: %s",
                           failure.text);
  }
  return report(explanation, &doubles.page83, CSI_ADMIN_FINDING_LEVEL_PROBLEM,
                "page 83 identifier, other disks",
                "If it is one disk behind several paths, install MPIO and claim it (mpclaim); if it is a "
                "copy, detach "
                "one of them",
                "drivers take whichever comes first, and so does GetDiskNumberByName.") &&
         report(explanation, &doubles.serial_number, CSI_ADMIN_FINDING_LEVEL_NOTE,
                "serial number, other disks", "",
                "drivers that search by serial number take whichever comes first.") &&
         report(
             explanation, &doubles.lun, CSI_ADMIN_FINDING_LEVEL_NOTE, "location, other disks", "",
             "the LUN alone does not tell them apart; adapter and target do. Temporary disks of Azure are an "
             "example.");
}
