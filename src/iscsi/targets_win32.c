/* SPDX-License-Identifier: Apache-2.0
 *
 * Which of the targets that the initiator knows a portal has. It lists all of them together, and tells for
 * each one how it was discovered.
 */
#include "base/log.h"
#include "iscsi/host_win32_parts.h"
#include "iscsi/listing_win32.h"

/* An answer that is a list of texts. */
static bool list_texts(struct csi_ctx *ctx, const struct csi_iscsi_listing *listing, const char ***texts_out,
                       size_t *count_out) {
  CSI_SCOPED_ISCSI_ANSWER answer = {0};
  return csi_iscsi_library_list(ctx, listing, &answer) &&
         csi_iscsi_read_texts(ctx, (const uint16_t *)(const void *)answer.reply.bytes,
                              answer.reply.size_bytes / sizeof(uint16_t), texts_out, count_out);
}

/* What is known of a target's discovery; nothing when the initiator does not tell: one odd target keeps
 * nobody from the others. */
static bool list_mechanisms(struct csi_ctx *ctx, const char *target, const char ***texts_out,
                            size_t *count_out, bool *is_gone_out) {
  const struct csi_iscsi_listing listing = {.list = CSI_ISCSI_LIST_MECHANISMS, .target = target};
  *count_out = 0;
  *is_gone_out = false;
  if (list_texts(ctx, &listing, texts_out, count_out)) return true;
  uint32_t number = ctx->status.space == CSI_SPACE_ISDSC ? ctx->status.number : 0;
  if (number == 0 || number == CSI_ISDSC_SERVICE_NOT_RUNNING) return false;
  *is_gone_out = number == CSI_ISDSC_TARGET_NOT_FOUND;
  if (!*is_gone_out) CSI_LOG(WARNING, "how it was discovered is unknown: %s", ctx->status.text);
  csi_status_clear(&ctx->status);
  return true;
}

/* A target of which nothing is known is taken for one of the portal: logging in to it says whether it is.
 *
 * UNVERIFIED ON WINDOWS: the texts, see csi_iscsi_mechanism_is_portal(); and that a portal that was given as
 * a host name appears as one. */
static bool is_of_portal(struct csi_ctx *ctx, const char *target, const struct csi_iscsi_portal *portal,
                         bool *result_out) {
  const char **mechanisms;
  size_t count;
  bool is_gone;
  if (!list_mechanisms(ctx, target, &mechanisms, &count, &is_gone)) return false;
  *result_out = count == 0 && !is_gone;
  for (size_t i = 0; i < count && !*result_out; i++)
    *result_out = csi_iscsi_mechanism_is_portal(mechanisms[i], portal);
  return true;
}

bool csi_win32_list_targets(void *self, struct csi_ctx *ctx, const struct csi_iscsi_portal *portal,
                            const char ***names_out, size_t *count_out) {
  (void)self;
  const struct csi_iscsi_listing listing = {.list = CSI_ISCSI_LIST_TARGETS};
  const char **names;
  size_t count, kept = 0;
  if (!list_texts(ctx, &listing, &names, &count)) return false;
  for (size_t i = 0; i < count; i++) {
    bool is_one;
    if (!is_of_portal(ctx, names[i], portal, &is_one)) return false;
    if (is_one) names[kept++] = names[i];
  }
  *names_out = names;
  *count_out = kept;
  return true;
}
