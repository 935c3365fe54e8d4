/* SPDX-License-Identifier: Apache-2.0
 *
 * The session that has brought an iSCSI disk.
 */
#include "admin/findings.h"
#include "disk/visit.h"

static bool leads_to(const uint32_t *numbers, size_t count, uint32_t number) {
  for (size_t i = 0; i < count; i++)
    if (numbers[i] == number) return true;
  return false;
}

/* Says whether the session leads to the disk; a session that has ended meanwhile does not. */
static bool is_of_session(struct csi_explanation *explanation, const struct csi_iscsi_session *session) {
  const struct csi_iscsi_host *host = explanation->group->hosts.initiator;
  const uint32_t *numbers;
  size_t count;
  if (host->list_disks(host->self, explanation->ctx, session, &numbers, &count))
    return leads_to(numbers, count, explanation->facts->details.number);
  csi_status_clear(&explanation->ctx->status);
  return false;
}

static bool explain_session(struct csi_explanation *explanation, const struct csi_iscsi_session *session) {
  return session->has_connection
             ? csi_finding_add(explanation, CSI_ADMIN_FINDING_LEVEL_OK, "iSCSI session", "",
                               "The disk belongs to a session with target %s, which has a connection.",
                               session->target)
             : csi_finding_add(
                   explanation, CSI_ADMIN_FINDING_LEVEL_PROBLEM, "iSCSI session",
                   "Check the portal and the network; the initiator restores the session by itself",
                   "The disk belongs to a session with target %s, which has lost its connection.",
                   session->target);
}

bool csi_explain_iscsi(struct csi_explanation *explanation) {
  if (explanation->facts->bus_type != CSI_BUS_ISCSI) return true;
  const struct csi_iscsi_host *host = explanation->group->hosts.initiator;
  struct csi_ctx *ctx = explanation->ctx;
  const struct csi_iscsi_session *sessions;
  size_t count, found = 0;
  if (!host->list_sessions(host->self, ctx, &sessions, &count)) {
    struct csi_status failure = ctx->status;
    csi_status_clear(&ctx->status);
    if (csi_disk_is_out_of_memory(&failure)) return csi_fail_out_of_memory(&ctx->status);
    return csi_finding_add(explanation, CSI_ADMIN_FINDING_LEVEL_NOTE, "iSCSI session", "",
                           "Which session the disk belongs to could not be found out: %s", failure.text);
  }
  for (size_t i = 0; i < count; i++) {
    if (!is_of_session(explanation, &sessions[i])) continue;
    found++;
    if (!explain_session(explanation, &sessions[i])) return false;
  }
  return found > 0 || csi_finding_add(explanation, CSI_ADMIN_FINDING_LEVEL_NOTE, "iSCSI session", "",
                                      "The disk is an iSCSI one, and none of the %zu sessions of the Windows "
                                      "initiator leads to it.",
                                      count);
}
