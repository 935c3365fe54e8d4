/* SPDX-License-Identifier: Apache-2.0
 *
 * Records beyond those of shares.h: `share` has denied=1 when its root may not be looked at; `mapping` has
 * cut=1 when its session has ended.
 */
#include "smb_fake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command_line.h"
#include "network/secret.h"
#include "network/shares.h"

enum {
  REPLY_BYTES = 256,
  DIGEST_START = 0x811C9DC5,
  DIGEST_FACTOR = 0x01000193,
  SESSION_IS_GONE = 59, /* ERROR_UNEXP_NET_ERR */
};

struct csi_fake_shares {
  struct csi_smb_host host;
  struct csi_fake_network *network;
  struct csi_fake_smb_abilities abilities; /* guarded by the network's lock, as all records are */
};

static struct network_state *enter(struct csi_fake_shares *shares) {
  return csi_fake_network_open(shares->network);
}

static void leave(struct csi_fake_shares **shares) {
  csi_fake_network_close((*shares)->network);
}

/* The records, locked to the end of the scope. */
#define VISIT(shares)                                                                                        \
  __attribute__((cleanup(leave), unused)) struct csi_fake_shares *visited = (shares);                        \
  __attribute__((unused)) struct network_state *state = enter(shares)

static struct network_record *find(const struct network_state *state, const char *kind, const char *root) {
  return network_find(state, kind, "root", root);
}

static bool answer(struct csi_ctx *ctx, uint32_t error, const char *call, const char *root) {
  return error == 0 || csi_fail_system(&ctx->status, CSI_SPACE_WIN32, error, call, "%s", root);
}

static bool begin(struct csi_fake_shares *shares, struct csi_ctx *ctx, const char *call, const char *root) {
  return csi_fake_network_step(shares->network, ctx, call, CSI_SPACE_WIN32, root);
}

/* ---- The host. ---- */

static bool get_state(void *self, struct csi_ctx *ctx, const char *root, enum csi_smb_state *state_out) {
  struct csi_fake_shares *shares = self;
  if (!begin(shares, ctx, CSI_FAKE_SMB_GET_STATE, root)) return false;
  VISIT(shares);
  const struct network_record *mapping = find(state, "mapping", root);
  if (shares->abilities.hides_state)
    *state_out = CSI_SMB_UNKNOWN;
  else if (mapping == NULL)
    *state_out = shares->abilities.hides_absence ? CSI_SMB_UNKNOWN : CSI_SMB_NOT_MAPPED;
  else
    *state_out = network_share_is_broken(mapping) ? CSI_SMB_BROKEN : CSI_SMB_MAPPED;
  return true;
}

static bool copy_roots(struct csi_ctx *ctx, const struct network_state *state, const char **roots,
                       size_t *count_out) {
  const struct network_record *mapping = NULL;
  *count_out = 0;
  while ((mapping = network_next(state, "mapping", mapping)) != NULL) {
    roots[*count_out] = csi_arena_strdup(ctx->arena, network_get(mapping, "root"));
    if (roots[(*count_out)++] == NULL) return csi_fail_out_of_memory(&ctx->status);
  }
  return true;
}

static bool list(void *self, struct csi_ctx *ctx, const char ***names_out, size_t *count_out) {
  struct csi_fake_shares *shares = self;
  if (!begin(shares, ctx, CSI_FAKE_SMB_GET_STATE, "shares that are mapped")) return false;
  VISIT(shares);
  if (shares->abilities.hides_state)
    return csi_fail(&ctx->status, CSI_UNIMPLEMENTED, "this Windows does not list global mappings");
  size_t room = 1;
  for (const struct network_record *mapping = NULL;
       (mapping = network_next(state, "mapping", mapping)) != NULL;)
    room++;
  *names_out = csi_arena_alloc_array(ctx->arena, room, sizeof **names_out);
  if (*names_out == NULL) return csi_fail_out_of_memory(&ctx->status);
  return copy_roots(ctx, state, *names_out, count_out);
}

static struct network_credentials digest(const struct csi_smb_credentials *credentials,
                                         char digest_out[NETWORK_DIGEST_BYTES]) {
  network_secret_digest(credentials->password, strlen(credentials->password), digest_out);
  return (struct network_credentials){.user = credentials->username, .digest = digest_out};
}

static bool add(void *self, struct csi_ctx *ctx, const char *root,
                const struct csi_smb_credentials *credentials, bool require_privacy) {
  struct csi_fake_shares *shares = self;
  char password[NETWORK_DIGEST_BYTES];
  const struct network_credentials given = digest(credentials, password);
  if (!begin(shares, ctx, CSI_FAKE_SMB_ADD, root)) return false;
  VISIT(shares);
  if (shares->abilities.adds_anything && find(state, "mapping", root) != NULL) return true;
  uint32_t error = CSI_SMB_ALREADY_ASSIGNED;
  if (!shares->abilities.cannot_compare || find(state, "mapping", root) == NULL)
    error = network_share_map(state, root, &given, require_privacy);
  return answer(ctx, error, CSI_FAKE_SMB_ADD, root);
}

static bool remove_mapping(void *self, struct csi_ctx *ctx, const char *root) {
  struct csi_fake_shares *shares = self;
  if (!begin(shares, ctx, CSI_FAKE_SMB_REMOVE, root)) return false;
  VISIT(shares);
  if (shares->abilities.keeps_what_it_ended) return true;
  return answer(ctx, network_share_unmap(state, root), CSI_FAKE_SMB_REMOVE, root);
}

/* What the server says to whoever comes through the mapping. */
static uint32_t use(const struct network_state *state, const char *root) {
  static const struct network_credentials nobody = {.user = "", .digest = ""};
  const struct network_record *mapping = find(state, "mapping", root), *share = find(state, "share", root);
  if (mapping == NULL) return CSI_SMB_NOT_CONNECTED;
  uint32_t error = network_share_try(state, root, &nobody, false);
  if (error == CSI_SMB_BAD_NETPATH || error == CSI_SMB_BAD_NET_NAME) return error;
  if (network_share_is_broken(mapping)) return SESSION_IS_GONE;
  if (network_get_number(share, "denied", 0) != 0) return CSI_SMB_ACCESS_DENIED;
  if (network_get_number(mapping, "cut", 0) == 0) return 0;
  const struct network_credentials made_with = {.user = network_get(mapping, "user"),
                                                .digest = network_get(mapping, "password")};
  return network_share_try(state, root, &made_with, network_get_number(mapping, "privacy", 0) != 0);
}

static bool check(void *self, struct csi_ctx *ctx, const char *root) {
  struct csi_fake_shares *shares = self;
  if (!begin(shares, ctx, CSI_FAKE_SMB_CHECK, root)) return false;
  VISIT(shares);
  return answer(ctx, use(state, root), CSI_FAKE_SMB_CHECK, root);
}

static bool try_credentials(void *self, struct csi_ctx *ctx, const char *root,
                            const struct csi_smb_credentials *credentials, bool require_privacy,
                            bool *may_look_out) {
  struct csi_fake_shares *shares = self;
  char password[NETWORK_DIGEST_BYTES];
  const struct network_credentials given = digest(credentials, password);
  if (!begin(shares, ctx, CSI_FAKE_SMB_TRY, root)) return false;
  VISIT(shares);
  if (shares->abilities.cannot_try || credentials->username[0] == '\0')
    return csi_fail(&ctx->status, CSI_UNIMPLEMENTED, "this node cannot try credentials");
  const struct network_record *share = find(state, "share", root);
  *may_look_out = share == NULL || network_get_number(share, "denied", 0) == 0;
  return answer(ctx, network_share_try(state, root, &given, require_privacy), CSI_FAKE_SMB_TRY, root);
}

/* FNV-1a, with its NUL. */
static uint32_t add_text(uint32_t sum, const char *text) {
  for (;; text++) {
    sum = (sum ^ (uint8_t)*text) * (uint32_t)DIGEST_FACTOR;
    if (*text == '\0') return sum;
  }
}

static bool fingerprint(void *self, struct csi_ctx *ctx, const char *root,
                        const struct csi_smb_credentials *credentials,
                        struct csi_smb_fingerprint *fingerprint_out) {
  struct csi_fake_shares *shares = self;
  if (!begin(shares, ctx, CSI_FAKE_SMB_FINGERPRINT, root)) return false;
  uint32_t sum =
      add_text(add_text(add_text(DIGEST_START, root), credentials->username), credentials->password);
  memset(fingerprint_out, 0, sizeof *fingerprint_out);
  memcpy(fingerprint_out->bytes, &sum, sizeof sum);
  return true;
}

static void reset(void *fake) {
  struct csi_fake_shares *shares = fake;
  csi_fake_shares_set_abilities(shares, &(struct csi_fake_smb_abilities){0});
}

struct csi_fake_shares *csi_fake_shares_new(struct csi_fake_network *network) {
  struct csi_fake_shares *shares = calloc(1, sizeof *shares);
  if (shares == NULL) abort();
  shares->network = network;
  shares->host = (struct csi_smb_host){.self = shares,
                                       .get_state = get_state,
                                       .list = list,
                                       .add = add,
                                       .remove = remove_mapping,
                                       .check = check,
                                       .try_credentials = try_credentials,
                                       .fingerprint = fingerprint};
  csi_fake_network_on_reset(network, reset, shares);
  return shares;
}

void csi_fake_shares_free(struct csi_fake_shares *shares) {
  free(shares);
}

const struct csi_smb_host *csi_fake_smb_host(struct csi_fake_shares *shares) {
  return &shares->host;
}

/* ---- Scene. ---- */

static bool run(struct csi_fake_command *command) {
  struct csi_fake_shares *shares = command->fake;
  const char *problem = "";
  VISIT(shares);
  return network_share_command(state, &command->words, &command->reply, &problem) ||
         csi_fake_command_fail(command, "%s", problem);
}

bool csi_fake_smb_command(struct csi_fake_shares *shares, const char *line, char *reply, size_t reply_bytes,
                          bool *done_out) {
  static const struct csi_fake_verb verbs[] = {{"share", NULL, run}, {NULL, NULL, NULL}};
  return csi_fake_command_run(verbs, shares, line, reply, reply_bytes, done_out);
}

void csi_fake_shares_do(struct csi_fake_shares *shares, const char *words) {
  char line[CSI_FAKE_COMMAND_BYTES], reply[REPLY_BYTES] = "too long";
  bool done = false;
  if (snprintf(line, sizeof line, "share %s", words) < (int)sizeof line &&
      csi_fake_smb_command(shares, line, reply, sizeof reply, &done) && done)
    return;
  fprintf(stderr, "smb_fake: %s: %s\n", words, reply);
  abort();
}

void csi_fake_shares_cut_sessions(struct csi_fake_shares *shares) {
  VISIT(shares);
  struct network_record *mapping = NULL;
  while ((mapping = network_next(state, "mapping", mapping)) != NULL)
    network_set_number(state, mapping, "cut", 1);
}

void csi_fake_shares_deny_root(struct csi_fake_shares *shares, const char *root) {
  VISIT(shares);
  struct network_record *share = find(state, "share", root);
  if (share == NULL) abort();
  network_set_number(state, share, "denied", 1);
}

void csi_fake_shares_set_abilities(struct csi_fake_shares *shares,
                                   const struct csi_fake_smb_abilities *abilities) {
  VISIT(shares);
  shares->abilities = *abilities;
}

/* ---- What is there now. ---- */

bool csi_fake_shares_is_mapped(struct csi_fake_shares *shares, const char *root) {
  VISIT(shares);
  return find(state, "mapping", root) != NULL;
}

bool csi_fake_shares_is_mapped_with(struct csi_fake_shares *shares, const char *root, const char *user,
                                    const char *password) {
  char sum[NETWORK_DIGEST_BYTES];
  network_secret_digest(password, strlen(password), sum);
  VISIT(shares);
  const struct network_record *mapping = find(state, "mapping", root);
  return mapping != NULL && network_has(mapping, "user", user) && network_has(mapping, "password", sum);
}

bool csi_fake_shares_is_private(struct csi_fake_shares *shares, const char *root) {
  VISIT(shares);
  const struct network_record *mapping = find(state, "mapping", root);
  return mapping != NULL && network_get_number(mapping, "privacy", 0) != 0;
}

size_t csi_fake_shares_count(struct csi_fake_shares *shares) {
  VISIT(shares);
  size_t count = 0;
  const struct network_record *mapping = NULL;
  while ((mapping = network_next(state, "mapping", mapping)) != NULL)
    count++;
  return count;
}
