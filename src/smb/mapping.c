/* SPDX-License-Identifier: Apache-2.0 */
#include "smb/mapping.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "smb/failure.h"
#include "smb/remote_path.h"

enum {
  NS_PER_MS = 1000000,
  NEIGHBOURS_MAX = 8, /* that an error names */
  NEIGHBOUR_BYTES = CSI_REMOTE_ROOT_BYTES + 1,
};

/* One call's work on one share. */
struct work {
  struct csi_smb *group;
  struct csi_ctx *ctx;
  const struct csi_smb_host *host;
  const char *root;
  const struct csi_smb_credentials *credentials;
  struct csi_smb_fingerprint fingerprint;
  enum csi_smb_state state; /* before anything was done */
};

/* For steps that are taken whether somebody waits or not; with a status of its own. */
static struct csi_ctx finishing(const struct csi_ctx *ctx, uint32_t patience_ms) {
  struct csi_ctx finishing = *ctx;
  int64_t finish_ns = csi_now_ns() + (int64_t)patience_ms * NS_PER_MS;
  if (finishing.deadline_ns < finish_ns) finishing.deadline_ns = finish_ns;
  finishing.cancelled = NULL;
  csi_status_clear(&finishing.status);
  return finishing;
}

static bool is_given_up(const struct csi_status *status) {
  return status->code == CSI_DEADLINE_EXCEEDED || status->code == CSI_CANCELLED;
}

/* ---- Texts. ---- */

static bool explain_adding(const struct work *work) {
  csi_smb_advise(&work->ctx->status);
  return csi_explain(&work->ctx->status,
                     "NewSmbGlobalMapping failed. err: failed to create SMB global mapping: ");
}

/* A failure that has changed nothing. */
static bool explain_keeping(const struct work *work) {
  csi_smb_advise(&work->ctx->status);
  csi_advise(&work->ctx->status, "; the mapping that is there is kept");
  return csi_explain(&work->ctx->status, "NewSmbGlobalMapping failed. err: ");
}

/* Nothing may be done, for it is not certain that it would be done for these credentials. */
static bool fail_keeping(const struct work *work, const char *how) {
  csi_fail(&work->ctx->status, CSI_FAILED_PRECONDITION,
           "the share %s is mapped with %s, and these cannot be tried beside it; end it with "
           "RemoveSmbGlobalMapping first",
           work->root, how);
  return explain_keeping(work);
}

static bool explain_removing(struct csi_ctx *ctx, const char *root) {
  csi_smb_advise(&ctx->status);
  return csi_explain(&ctx->status, "failed to remove SMB global mapping by remote path %s: ", root);
}

static bool explain_ending(struct csi_ctx *ctx, const char *root) {
  return csi_explain(&ctx->status, "error remove smb mapping '%s'. err: ", root);
}

/* ---- Steps. ---- */

static void remember(const struct work *work) {
  csi_credential_memory_set(work->group->memory, work->root, &work->fingerprint);
}

/* What the system says of the mapping. A failing query is only a hint that is missing. told_out may be NULL.
 */
static bool look(struct csi_smb *group, struct csi_ctx *ctx, const char *root, enum csi_smb_state *state_out,
                 bool *told_out) {
  const struct csi_smb_host *host = group->hosts.shares;
  bool told = host->get_state(host->self, ctx, root, state_out);
  if (told_out != NULL) *told_out = told;
  if (told) return true;
  *state_out = CSI_SMB_UNKNOWN;
  if (ctx->status.space == CSI_SPACE_NONE || is_given_up(&ctx->status))
    return csi_explain(&ctx->status, "failed to query SMB global mapping by remote path %s: ", root);
  CSI_LOG(WARNING, "It is not known whether %s is mapped: %s", root, ctx->status.text);
  csi_status_clear(&ctx->status);
  return true;
}

static bool is_there(enum csi_smb_state state) {
  return state == CSI_SMB_MAPPED || state == CSI_SMB_BROKEN;
}

/* Maps the share, or gives its mapping these credentials if they are what it has. What becomes of a call that
 * nobody has waited for to the end, nobody knows.
 *
 * UNVERIFIED ON WINDOWS: that adding over a mapping compares credentials. */
static bool add(const struct work *work, struct csi_ctx *ctx) {
  if (!csi_ctx_alive(ctx)) return false;
  bool added =
      work->host->add(work->host->self, ctx, work->root, work->credentials, work->group->require_privacy);
  if (!added && is_given_up(&ctx->status)) csi_credential_memory_forget(work->group->memory, work->root);
  return added;
}

/* The same, where there is no mapping: it is the server that takes the credentials. */
static bool add_new(const struct work *work, struct csi_ctx *ctx) {
  bool added = add(work, ctx);
  if (added) remember(work);
  return added;
}

/* Ends the mapping, if there is one.
 *
 * UNVERIFIED ON WINDOWS: that 2250 means that there is none, and not that a mapping of the whole node is none
 * of this session's connections. */
static bool end_mapping(struct csi_smb *group, struct csi_ctx *ctx, const char *root, bool *was_there_out) {
  const struct csi_smb_host *host = group->hosts.shares;
  if (!csi_ctx_alive(ctx)) return false;
  bool was_known = csi_credential_memory_knows(group->memory, root);
  csi_credential_memory_forget(group->memory, root);
  *was_there_out = host->remove(host->self, ctx, root);
  if (*was_there_out) return true;
  if (!csi_smb_failed_with(&ctx->status, CSI_SMB_NOT_CONNECTED)) return explain_removing(ctx, root);
  if (was_known)
    CSI_LOG(WARNING, "%s was mapped by this service, and there is no mapping to end: %s", root,
            ctx->status.text);
  csi_status_clear(&ctx->status);
  return true;
}

static bool explain_renewing(const struct work *work, bool was_there) {
  struct csi_status *status = &work->ctx->status;
  explain_adding(work);
  if (!was_there) return false;
  CSI_LOG(WARNING, "%s is not mapped any more: %s", work->root, status->text);
  return csi_advise(status, "; the mapping that was there has been ended for this: %s is not mapped now",
                    work->root);
}

/* Makes the mapping anew. From the end of the old one on, nothing but a failure keeps the new one from being
 * made. */
static bool renew(const struct work *work) {
  struct csi_ctx *ctx = work->ctx;
  if (!csi_ctx_alive(ctx)) return explain_keeping(work);
  struct csi_ctx ending = finishing(ctx, work->group->patience_ms);
  bool was_there = false;
  if (!end_mapping(work->group, &ending, work->root, &was_there)) {
    ctx->status = ending.status;
    if (is_given_up(&ctx->status)) csi_advise(&ctx->status, "; the mapping may still go");
    return explain_ending(ctx, work->root);
  }
  struct csi_ctx making = finishing(ctx, work->group->renewal_patience_ms);
  bool renewed = add_new(work, &making);
  ctx->status = making.status;
  return renewed || explain_renewing(work, was_there);
}

/* Looks whether the share can be reached through its mapping. Fails with why not. */
static bool check(const struct work *work) {
  struct csi_ctx *ctx = work->ctx;
  if (!csi_ctx_alive(ctx)) return false;
  if (work->host->check(work->host->self, ctx, work->root)) return true;
  bool excused = csi_smb_failed_with(&ctx->status, CSI_SMB_ACCESS_DENIED) &&
                 csi_credential_memory_is_excused(work->group->memory, work->root);
  if (excused) csi_status_clear(&ctx->status);
  return excused;
}

/* What the server says to the credentials. */
enum answer {
  ANSWER_UNASKED,
  ANSWER_REFUSED, /* or none: with a status */
  ANSWER_TAKEN,
  ANSWER_TAKEN_BELOW_ROOT, /* they are good, and do not let one look at the root */
  ANSWER_IMPOSSIBLE,       /* this system cannot ask, or there is nothing to ask with */
};

/* Asks, before a mapping that others use is ended for the credentials. */
static enum answer ask(const struct work *work) {
  struct csi_ctx *ctx = work->ctx;
  bool may_look = true;
  if (!csi_ctx_alive(ctx)) return ANSWER_REFUSED;
  if (work->host->try_credentials(work->host->self, ctx, work->root, work->credentials,
                                  work->group->require_privacy, &may_look))
    return may_look ? ANSWER_TAKEN : ANSWER_TAKEN_BELOW_ROOT;
  if (ctx->status.code != CSI_UNIMPLEMENTED) return ANSWER_REFUSED;
  CSI_LOG(WARNING, "%s: the credentials are not tried beside the mapping: %s", work->root, ctx->status.text);
  csi_status_clear(&ctx->status);
  return ANSWER_IMPOSSIBLE;
}

/* ---- Other shares of the server. ---- */

/* True when another share of the server is mapped with other credentials: Windows has one user for all of
 * them, so that this one could be ended, and not be made again. names_out: which. */
static bool has_neighbours(const struct work *work, char *names_out, size_t names_bytes) {
  char roots[NEIGHBOURS_MAX][NEIGHBOUR_BYTES];
  size_t count = csi_credential_memory_list_neighbours(work->group->memory, work->root, &work->fingerprint,
                                                       roots[0], NEIGHBOUR_BYTES, NEIGHBOURS_MAX);
  struct csi_ctx asking = *work->ctx; /* with a status of its own */
  size_t length = 0;
  names_out[0] = '\0';
  for (size_t i = 0; i < count; i++) {
    enum csi_smb_state state = CSI_SMB_UNKNOWN;
    csi_status_clear(&asking.status);
    bool told = work->host->get_state(work->host->self, &asking, roots[i], &state);
    /* Where this share is listed, others would be as well. */
    bool has_gone =
        told && (state == CSI_SMB_NOT_MAPPED || (state == CSI_SMB_UNKNOWN && is_there(work->state)));
    if (has_gone || length + strlen(roots[i]) + sizeof ", " > names_bytes) continue;
    length +=
        (size_t)snprintf(names_out + length, names_bytes - length, "%s%s", length == 0 ? "" : ", ", roots[i]);
  }
  return length > 0;
}

enum { NAMES_BYTES = NEIGHBOURS_MAX * NEIGHBOUR_BYTES };

static bool fail_for_neighbours(const struct work *work, const char *names) {
  csi_status_clear(&work->ctx->status);
  csi_fail(&work->ctx->status, CSI_FAILED_PRECONDITION,
           "the session of %s is refused, and Windows makes no new one while other shares of the server are "
           "mapped with other credentials: end these with RemoveSmbGlobalMapping first: %s",
           work->root, names);
  return explain_keeping(work);
}

/* Nothing is known of a mapping of this share, and the server has one user already. */
static bool is_conflict_with_neighbours(const struct work *work) {
  char names[NAMES_BYTES];
  if (!csi_smb_failed_with(&work->ctx->status, CSI_SMB_SESSION_CREDENTIAL_CONFLICT) ||
      is_there(work->state) || csi_credential_memory_knows(work->group->memory, work->root) ||
      !has_neighbours(work, names, sizeof names))
    return false;
  explain_adding(work);
  csi_advise(&work->ctx->status, "; mapped as another user: %s", names);
  return true;
}

static bool renew_alone(const struct work *work) {
  char names[NAMES_BYTES];
  if (has_neighbours(work, names, sizeof names)) return fail_for_neighbours(work, names);
  return renew(work);
}

/* ---- What becomes of a mapping that is there. ---- */

/* A user who may not look at the root of a share, but below it, is refused by the new mapping as by the old.
 */
static bool excuse_if_refused_again(const struct work *work) {
  if (!check(work)) {
    if (csi_smb_failed_with(&work->ctx->status, CSI_SMB_ACCESS_DENIED))
      csi_credential_memory_excuse(work->group->memory, work->root);
    csi_status_clear(&work->ctx->status);
  }
  return true;
}

/* The share is mapped with these credentials: that is kept if it is of any use. One that Windows itself calls
 * broken is not waited for when the server answers.
 *
 * answer: what the server has just said to the credentials. */
static bool keep_or_renew(const struct work *work, enum answer answer) {
  struct csi_ctx *ctx = work->ctx;
  if (check(work)) return true;
  bool refused = csi_smb_is_refusal(&ctx->status);
  bool denied = csi_smb_failed_with(&ctx->status, CSI_SMB_ACCESS_DENIED);
  if (!refused && work->state != CSI_SMB_BROKEN) return explain_keeping(work);
  const struct csi_status failure = ctx->status;
  csi_status_clear(&ctx->status);
  if (answer == ANSWER_UNASKED) answer = ask(work);
  if (answer == ANSWER_REFUSED) return explain_keeping(work);
  if (answer == ANSWER_IMPOSSIBLE && !refused) {
    ctx->status = failure;
    return explain_keeping(work);
  }
  if (denied && answer == ANSWER_TAKEN_BELOW_ROOT) {
    csi_credential_memory_excuse(work->group->memory, work->root);
    return true;
  }
  CSI_LOG(INFO, "The mapping of %s is of no use, and made anew: %s", work->root, failure.text);
  return renew_alone(work) && (!denied || excuse_if_refused_again(work));
}

/* Nobody can say whether the server takes the credentials: a mapping that works is not ended for them.
 *
 * is_other: the mapping has others. */
static bool keep_untried(const struct work *work, bool is_other) {
  if (check(work)) {
    if (is_other) return fail_keeping(work, "other credentials");
    return work->credentials->username[0] != '\0' || fail_keeping(work, "unknown credentials");
  }
  if (!csi_smb_is_refusal(&work->ctx->status)) return explain_keeping(work);
  csi_status_clear(&work->ctx->status);
  return renew_alone(work);
}

/* The credentials have been rotated. Beside other shares of the server, which still have the old ones, a
 * mapping that works is all that can be had. */
static bool rotate(const struct work *work) {
  char names[NAMES_BYTES];
  if (!has_neighbours(work, names, sizeof names)) {
    CSI_LOG(INFO, "The credentials of %s have changed; it is mapped anew", work->root);
    return renew(work);
  }
  if (check(work)) {
    CSI_LOG(WARNING,
            "The credentials of %s have changed; its mapping keeps the old ones, which other shares of the "
            "server have as well: %s",
            work->root, names);
    return true;
  }
  if (!csi_smb_is_refusal(&work->ctx->status)) return explain_keeping(work);
  return fail_for_neighbours(work, names);
}

/* The mapping that is there cannot be given the credentials.
 *
 * is_other: because it has others. */
static bool take_over(const struct work *work, bool is_other) {
  enum answer answer = ask(work);
  if (answer == ANSWER_REFUSED) return explain_keeping(work);
  if (answer == ANSWER_IMPOSSIBLE) return keep_untried(work, is_other);
  if (is_other) return rotate(work);
  remember(work); /* the server takes them; should the mapping have others, it will be refused one day */
  return keep_or_renew(work, answer);
}

/* Some systems tell only what is mapped. What was not among it, and is now, this call has made. Asked before
 * anything else can have connected to the share. */
static bool has_appeared(const struct work *work) {
  enum csi_smb_state state = CSI_SMB_UNKNOWN;
  bool told = work->host->get_state(work->host->self, work->ctx, work->root, &state);
  csi_status_clear(&work->ctx->status);
  return told && is_there(state);
}

/* There is a mapping, or there may be one.
 *
 * told: the system has answered. */
static bool ensure_over(const struct work *work, bool told, enum csi_mapping_origin *origin_out) {
  struct csi_status *status = &work->ctx->status;
  enum csi_remembered remembered =
      csi_credential_memory_compare(work->group->memory, work->root, &work->fingerprint);
  if (work->state == CSI_SMB_MAPPED && remembered == CSI_CREDENTIALS_SAME)
    return keep_or_renew(work, ANSWER_UNASKED);
  if (is_there(work->state) && remembered == CSI_CREDENTIALS_OTHER) return take_over(work, true);
  if (!add(work, work->ctx)) {
    /* That there is a mapping, CSI_SMB_ALREADY_ASSIGNED, does not say that it has others. */
    if (!csi_smb_is_conflict(status)) return explain_adding(work);
    if (is_conflict_with_neighbours(work)) return false;
    bool is_other = remembered == CSI_CREDENTIALS_OTHER ||
                    csi_smb_failed_with(status, CSI_SMB_SESSION_CREDENTIAL_CONFLICT);
    csi_status_clear(status);
    return take_over(work, is_other);
  }
  enum answer answer = ANSWER_UNASKED;
  if (work->state == CSI_SMB_UNKNOWN) {
    *origin_out = told && has_appeared(work) ? CSI_MAPPING_MADE : CSI_MAPPING_UNTOLD;
  } else if (remembered == CSI_CREDENTIALS_UNKNOWN) {
    answer = ask(work);
    if (answer == ANSWER_REFUSED) return explain_keeping(work);
  }
  remember(work);
  return *origin_out == CSI_MAPPING_MADE || keep_or_renew(work, answer);
}

/* A name has no case for Windows. */
static const char *fold_case(struct csi_ctx *ctx, const char *name) {
  size_t units;
  uint16_t *name_w = csi_utf16_from_utf8(ctx->arena, name, strlen(name), &units, &ctx->status);
  if (name_w == NULL) return NULL;
  for (size_t i = 0; i < units; i++)
    name_w[i] = csi_utf16_upcase(name_w[i]);
  const char *folded = csi_utf8_from_utf16(ctx->arena, name_w, units);
  if (folded == NULL) csi_fail_out_of_memory(&ctx->status);
  return folded;
}

/* Of the host, not of the share: shares of one host are compared. */
static bool make_fingerprint(struct work *work) {
  const char *host = csi_arena_printf(work->ctx->arena, "%.*s",
                                      (int)csi_credential_memory_host_bytes(work->root), work->root);
  if (host == NULL) return csi_fail_out_of_memory(&work->ctx->status);
  const struct csi_smb_credentials folded = {.username = fold_case(work->ctx, work->credentials->username),
                                             .password = work->credentials->password};
  return folded.username != NULL &&
         work->host->fingerprint(work->host->self, work->ctx, host, &folded, &work->fingerprint);
}

bool csi_mapping_ensure(struct csi_smb *group, struct csi_ctx *ctx, const char *root,
                        const struct csi_smb_credentials *credentials, enum csi_mapping_origin *origin_out) {
  struct work work = {
      .group = group, .ctx = ctx, .host = group->hosts.shares, .root = root, .credentials = credentials};
  bool told;
  if (!make_fingerprint(&work) || !look(group, ctx, root, &work.state, &told))
    return csi_explain(&ctx->status, "NewSmbGlobalMapping failed. err: ");
  if (work.state == CSI_SMB_NOT_MAPPED) {
    csi_credential_memory_forget(group->memory, root);
    *origin_out = CSI_MAPPING_MADE;
    return add_new(&work, ctx) || explain_adding(&work);
  }
  *origin_out = CSI_MAPPING_FOUND;
  return ensure_over(&work, told, origin_out);
}

void csi_mapping_take_back(struct csi_smb *group, struct csi_ctx *ctx, const char *root,
                           enum csi_mapping_origin origin) {
  if (origin == CSI_MAPPING_FOUND) return;
  if (origin == CSI_MAPPING_UNTOLD) {
    csi_advise(&ctx->status, " (and %s stays mapped, for it is not known whether it was so before)", root);
    return;
  }
  struct csi_ctx to_the_end = finishing(ctx, group->patience_ms);
  bool was_there;
  if (end_mapping(group, &to_the_end, root, &was_there)) return;
  CSI_LOG(WARNING, "A mapping is left over: %s", to_the_end.status.text);
  csi_advise(&ctx->status, " (and %s, which this call has mapped, is left mapped: %s)", root,
             to_the_end.status.text);
}

/* Not every mapping goes that Windows says it has ended. */
static bool is_gone(struct csi_smb *group, struct csi_ctx *ctx, const char *root) {
  const struct csi_smb_host *host = group->hosts.shares;
  enum csi_smb_state state;
  if (!host->get_state(host->self, ctx, root, &state)) {
    CSI_V(2, "It is not known whether the mapping of %s has gone: %s", root, ctx->status.text);
    csi_status_clear(&ctx->status);
    return true;
  }
  if (!is_there(state)) return true;
  csi_fail(&ctx->status, CSI_INTERNAL, "the system says that it has been ended, and that it is still there");
  return explain_removing(ctx, root);
}

bool csi_mapping_end(struct csi_smb *group, struct csi_ctx *ctx, const char *root) {
  enum csi_smb_state state;
  if (!look(group, ctx, root, &state, NULL)) return explain_ending(ctx, root);
  if (state == CSI_SMB_NOT_MAPPED) {
    csi_credential_memory_forget(group->memory, root);
    return true;
  }
  bool was_there;
  return (end_mapping(group, ctx, root, &was_there) && is_gone(group, ctx, root)) ||
         explain_ending(ctx, root);
}
