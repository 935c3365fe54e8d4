/* SPDX-License-Identifier: Apache-2.0
 *
 * A list of findings, and what ExplainDisk makes them from. Each function of explain_*.c looks at one subject
 * and appends what is worth knowing; all fail only when memory is short.
 */
#ifndef CSI_ADMIN_FINDINGS_H
#define CSI_ADMIN_FINDINGS_H

#include "admin/disk_details.h"
#include "admin/state.h"

struct csi_findings {
  struct csi_admin_finding *items; /* in the arena */
  size_t count;
  size_t capacity;
};

/* What is explained. */
struct csi_explanation {
  struct csi_ctx *ctx;
  struct csi_admin *group;
  const struct csi_disk_facts *facts;
  struct csi_findings findings;
};

/* Appends a finding. subject is a literal; advice one, or in the arena; "" = none; NULL = memory is short. */
bool csi_finding_add(struct csi_explanation *explanation, enum csi_admin_finding_level level,
                     const char *subject, const char *advice, const char *format, ...)
    CSI_PRINTF(5, 6) CSI_MUST_CHECK;

/* Formats an advice that is no literal. NULL, and a status, when memory is short. */
const char *csi_finding_advice(struct csi_explanation *explanation, const char *format, ...) CSI_PRINTF(2, 3);

/* True for a disk that may be one of Azure, where drivers go by the LUN. */
bool csi_is_azure_disk(const struct csi_admin_disk_details *details);

/* explain_identity.c: what drivers recognise a disk by. */
bool csi_explain_page83(struct csi_explanation *explanation) CSI_MUST_CHECK;
bool csi_explain_serial_number(struct csi_explanation *explanation) CSI_MUST_CHECK;
bool csi_explain_location(struct csi_explanation *explanation) CSI_MUST_CHECK;
bool csi_explain_doubles(struct csi_explanation *explanation) CSI_MUST_CHECK;
bool csi_explain_iscsi(struct csi_explanation *explanation) CSI_MUST_CHECK;

/* explain_state.c: what stands in the way of using it. */
bool csi_explain_attributes(struct csi_explanation *explanation) CSI_MUST_CHECK;
bool csi_explain_guard(struct csi_explanation *explanation) CSI_MUST_CHECK;
bool csi_explain_partition_table(struct csi_explanation *explanation) CSI_MUST_CHECK;
bool csi_explain_volumes(struct csi_explanation *explanation) CSI_MUST_CHECK;

#endif
