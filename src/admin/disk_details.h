/* SPDX-License-Identifier: Apache-2.0
 *
 * Everything that one disk says of itself.
 */
#ifndef CSI_ADMIN_DISK_DETAILS_H
#define CSI_ADMIN_DISK_DETAILS_H

#include "admin/texts.h"
#include "csi-proxy/admin.h"
#include "disk/identity.h"
#include "disk/target.h"

/* The details, and what stands behind them; what is not known is zero. */
struct csi_disk_facts {
  struct csi_admin_disk_details details;
  struct csi_page83 page83;
  uint32_t bus_type; /* STORAGE_BUS_TYPE */
  bool has_attributes;
  bool has_geometry;
  struct csi_disk_geometry geometry;
  bool has_layout;
  struct csi_layout layout;
  bool has_roles; /* also when there are none */
  struct csi_texts errors;
};

/* Asks an open disk everything. What it does not answer is among the errors; a disk that does not answer in
 * time is asked nothing more. Fails only when memory is short. All is in the arena of disk->ctx. */
bool csi_disk_describe(struct csi_target *disk, struct csi_disk_facts *facts_out) CSI_MUST_CHECK;

/* The same for what others know the disk by: its names and its place. */
bool csi_disk_describe_identity(struct csi_target *disk, struct csi_disk_facts *facts_out) CSI_MUST_CHECK;

/* The question after partitions and their volumes alone; facts is otherwise left as it is. */
bool csi_disk_describe_partitions(struct csi_target *disk, struct csi_disk_facts *facts) CSI_MUST_CHECK;

/* Notes the failure in ctx->status as an error of the object, "what: text", and clears it. Fails only when
 * memory is short. */
bool csi_admin_note_failure(struct csi_ctx *ctx, struct csi_texts *errors, const char *what) CSI_MUST_CHECK;

#endif
