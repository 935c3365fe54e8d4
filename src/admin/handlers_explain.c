/* SPDX-License-Identifier: Apache-2.0
 *
 * ExplainDisk.
 */
#include <stdarg.h>

#include "admin/findings.h"
#include "disk/visit.h"

bool csi_finding_add(struct csi_explanation *explanation, enum csi_admin_finding_level level,
                     const char *subject, const char *advice, const char *format, ...) {
  struct csi_ctx *ctx = explanation->ctx;
  struct csi_findings *findings = &explanation->findings;
  va_list arguments;
  va_start(arguments, format);
  const char *text = csi_arena_vprintf(ctx->arena, format, arguments);
  va_end(arguments);
  if (text == NULL || advice == NULL) return csi_fail_out_of_memory(&ctx->status);
  struct csi_admin_finding *items =
      csi_list_grow(ctx, findings->items, findings->count, &findings->capacity, sizeof *items);
  if (items == NULL) return false;
  findings->items = items;
  items[findings->count++] =
      (struct csi_admin_finding){.level = level, .subject = subject, .text = text, .advice = advice};
  return true;
}

const char *csi_finding_advice(struct csi_explanation *explanation, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const char *advice = csi_arena_vprintf(explanation->ctx->arena, format, arguments);
  va_end(arguments);
  return advice;
}

/* What could not be found out is a finding as well. */
static bool explain_errors(struct csi_explanation *explanation) {
  const struct csi_texts *errors = &explanation->facts->errors;
  for (size_t i = 0; i < errors->count; i++)
    if (!csi_finding_add(explanation, CSI_ADMIN_FINDING_LEVEL_PROBLEM, "errors",
                         "Check the driver of the storage controller and the system event log",
                         "The disk does not tell everything: %s", errors->items[i]))
      return false;
  return true;
}

/* Subjects follow one another from recognising the disk to using it. One that takes long leaves time to the
 * others. */
static bool explain(struct csi_ctx *ctx, struct csi_explanation *explanation) {
  static bool (*const subjects[])(struct csi_explanation *) = {
      explain_errors,      csi_explain_page83,     csi_explain_serial_number, csi_explain_location,
      csi_explain_iscsi,   csi_explain_attributes, csi_explain_guard,         csi_explain_partition_table,
      csi_explain_volumes, csi_explain_doubles,
  };
  for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++) {
    struct csi_ctx one = csi_disk_share_time(ctx);
    explanation->ctx = &one;
    if (subjects[i](explanation)) continue;
    ctx->status = one.status;
    return false;
  }
  return csi_ctx_alive(ctx);
}

static bool describe(struct csi_ctx *ctx, struct csi_admin *group, uint32_t number,
                     struct csi_disk_facts *facts) {
  struct csi_ctx one = csi_disk_share_time(ctx);
  CSI_SCOPED_TARGET disk = {.ctx = &one, .host = group->hosts.disks, .number = number};
  if (csi_target_open(&disk, CSI_DISK_QUERY) && csi_disk_describe(&disk, facts)) return true;
  ctx->status = one.status;
  return false;
}

bool csi_admin_serve_explain_disk(struct csi_ctx *ctx, struct csi_admin *group,
                                  const struct csi_admin_explain_disk_request *request,
                                  struct csi_admin_explain_disk_response *response) {
  struct csi_disk_facts *facts = csi_arena_alloc(ctx->arena, sizeof *facts);
  ctx->only_looks = true;
  if (facts == NULL) return csi_fail_out_of_memory(&ctx->status);
  struct csi_explanation explanation = {.group = group, .facts = facts};
  if (!describe(ctx, group, request->disk_number, facts) || !explain(ctx, &explanation)) return false;
  response->disk = &facts->details;
  response->findings = explanation.findings.items;
  response->findings_count = explanation.findings.count;
  return true;
}
