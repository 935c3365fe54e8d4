/* SPDX-License-Identifier: Apache-2.0 */
#include "disk/guard.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LIFTED_BY "(the flag -allow-system-disks lifts this)"

enum {
  USES_TEXT_BYTES = 256,
};

static const struct {
  unsigned role;
  const char *what;
} uses[] = {
    {CSI_DISK_HOLDS_WINDOWS, "Windows"},
    {CSI_DISK_HOLDS_BOOT_FILES, "the files that Windows starts from"},
    {CSI_DISK_HOLDS_PAGE_FILE, "a page file"},
    {CSI_DISK_HOLDS_CRASH_DUMP, "the crash dump"},
};

static void name_uses(unsigned roles, char text_out[USES_TEXT_BYTES]) {
  size_t length = 0;
  text_out[0] = '\0';
  for (size_t i = 0; i < sizeof uses / sizeof uses[0]; i++) {
    if ((roles & uses[i].role) == 0) continue;
    snprintf(text_out + length, USES_TEXT_BYTES - length, "%s%s", length > 0 ? ", " : "", uses[i].what);
    length = strlen(text_out);
  }
}

static bool has_efi_system_partition(const struct csi_layout *layout) {
  for (size_t i = 0; layout != NULL && i < layout->partition_count; i++)
    if (csi_partition_is_efi_system(layout, &layout->partitions[i])) return true;
  return false;
}

static bool fail_unknown_roles(struct csi_ctx *ctx, uint32_t disk_number) {
  if (ctx->status.code != CSI_DEADLINE_EXCEEDED && ctx->status.code != CSI_CANCELLED)
    ctx->status.code = CSI_FAILED_PRECONDITION;
  return csi_explain(&ctx->status,
                     "disk %" PRIu32 " must not be changed, because it cannot be found out whether Windows "
                     "needs it " LIFTED_BY ": ",
                     disk_number);
}

bool csi_disk_guard_check(const struct csi_disk_host *host, struct csi_ctx *ctx, uint32_t disk_number,
                          const struct csi_layout *layout) {
  if (has_efi_system_partition(layout))
    return csi_fail(&ctx->status, CSI_FAILED_PRECONDITION,
                    "disk %" PRIu32 " has an EFI system partition and must not be changed " LIFTED_BY,
                    disk_number);
  unsigned roles;
  if (!host->get_roles(host->self, ctx, disk_number, &roles)) return fail_unknown_roles(ctx, disk_number);
  if (roles == 0) return true;
  char text[USES_TEXT_BYTES];
  name_uses(roles, text);
  return csi_fail(&ctx->status, CSI_FAILED_PRECONDITION,
                  "disk %" PRIu32 " holds %s and must not be changed " LIFTED_BY, disk_number, text);
}
