/* SPDX-License-Identifier: Apache-2.0
 *
 * UNVERIFIED ON WINDOWS: that Create and Remove answer as documented; that Persistent=FALSE keeps a mapping
 * from coming back after a restart; how many copies of the credential WMI keeps, and for how long.
 */
#include "smb/mi_win32.h"

#include <windows.h>

#include <string.h>

#include "base/system_error.h"
#include "base/text.h"
#include "smb/common_win32.h"
#include "smb/credential_text.h"
#include "smb/mi_session_win32.h"
#include "smb/wql.h"
#include "win32/library_call.h"

#define NAME_SPACE L"root/Microsoft/Windows/Smb"
#define CLASS "MSFT_SmbGlobalMapping"

static const wchar_t class_w[] = L"" CLASS;

enum {
  MAPPINGS_MAX = 16, /* of one share: with letters of drives there can be several */
  STATUS_OK = 0,     /* of a mapping */
  SLACK_MS = 1000,   /* so that it is the asker who ends first */
  PROBE_MS = 30 * 1000,
};

enum step {
  STEP_PROBE,
  STEP_GET_STATE,
  STEP_ADD,
  STEP_REMOVE,
};

static const char *const step_names[] = {
    [STEP_PROBE] = CLASS,
    [STEP_GET_STATE] = CLASS ".Query",
    [STEP_ADD] = CLASS ".Create",
    [STEP_REMOVE] = CLASS ".Remove",
};

/* Texts that a call takes along, because its asker may be gone. */
enum text {
  TEXT_QUERY,
  TEXT_ROOT,
  TEXT_CREDENTIAL, /* NULL: none are sent */
  TEXT_COUNT,
};

struct mapping_call {
  struct csi_library_call call; /* first */
  enum step step;
  uint32_t timeout_ms;
  bool require_privacy;
  wchar_t *texts_w[TEXT_COUNT]; /* behind the structure */

  const char *failed; /* literal; NULL: done */
  struct csi_mi_error error;
  enum csi_smb_state state;
};

/* Mappings of a share while they are enumerated. */
struct mappings {
  struct csi_mi_session *session;
  enum csi_smb_state state;
  bool are_kept;
  MI_Instance *instances[MAPPINGS_MAX]; /* as far as they are kept */
  size_t count;
};

struct return_value {
  bool is_known;
  uint32_t value;
};

/* One that works is enough. */
static enum csi_smb_state better(enum csi_smb_state a, enum csi_smb_state b) {
  static const int rank[] = {
      [CSI_SMB_NOT_MAPPED] = 0, [CSI_SMB_BROKEN] = 1, [CSI_SMB_UNKNOWN] = 2, [CSI_SMB_MAPPED] = 3};
  return rank[a] >= rank[b] ? a : b;
}

static void take_mapping(void *context, const MI_Instance *instance) {
  struct mappings *mappings = context;
  uint32_t status;
  enum csi_smb_state state = CSI_SMB_UNKNOWN;
  if (csi_mi_read_number(instance, L"Status", &status))
    state = status == STATUS_OK ? CSI_SMB_MAPPED : CSI_SMB_BROKEN;
  mappings->state = better(mappings->state, state);
  if (!mappings->are_kept || mappings->count == MAPPINGS_MAX) return;
  MI_Instance *copy = csi_mi_clone(mappings->session, instance);
  if (copy != NULL) mappings->instances[mappings->count++] = copy;
}

static bool find_mappings(struct mapping_call *call, struct mappings *mappings) {
  mappings->state = CSI_SMB_NOT_MAPPED;
  return csi_mi_query(mappings->session, step_names[STEP_GET_STATE], call->texts_w[TEXT_QUERY], take_mapping,
                      mappings) &&
         mappings->session->failed == NULL;
}

static void free_mappings(struct mappings *mappings) {
  for (size_t i = 0; i < mappings->count; i++)
    csi_mi_delete(mappings->instances[i]);
}

static void take_return_value(void *context, const MI_Instance *instance) {
  struct return_value *returned = context;
  uint32_t value;
  if (!csi_mi_read_number(instance, L"ReturnValue", &value)) return;
  *returned = (struct return_value){true, value};
}

static bool fail(struct mapping_call *call, struct csi_mi_error error) {
  call->failed = step_names[call->step];
  call->error = error;
  return false;
}

/* Invokes the method the step is named after. */
static bool invoke(struct mapping_call *call, struct csi_mi_session *session, const wchar_t *method_w,
                   const MI_Instance *instance, const MI_Instance *parameters) {
  struct return_value returned = {false, 0};
  /* One or the other: an instance brings its class along. */
  if (!csi_mi_invoke(session, step_names[call->step], instance == NULL ? class_w : NULL, method_w, instance,
                     parameters, take_return_value, &returned))
    return false;
  if (!returned.is_known) /* must not pass for a success */
    return fail(call, csi_mi_error_of_failure(&(struct csi_mi_failure){.result = MI_RESULT_TYPE_MISMATCH}));
  return returned.value == 0 || fail(call, csi_mi_error_of_return_value(returned.value));
}

static bool set_create_parameters(struct mapping_call *call, struct csi_mi_session *session,
                                  MI_Instance *parameters) {
  wchar_t *credential_w = call->texts_w[TEXT_CREDENTIAL];
  return csi_mi_set_text(session, parameters, L"RemotePath", call->texts_w[TEXT_ROOT]) &&
         (credential_w == NULL || csi_mi_set_text(session, parameters, L"Credential", credential_w)) &&
         /* Not every Windows knows it; FALSE is what it does without. */
         (!call->require_privacy || csi_mi_set_boolean(session, parameters, L"RequirePrivacy", true)) &&
         /* A mapping that comes back by itself does so with credentials that nobody has checked. */
         csi_mi_set_boolean(session, parameters, L"Persistent", false);
}

static bool add(struct mapping_call *call, struct csi_mi_session *session) {
  struct mappings mappings = {.session = session};
  if (!find_mappings(call, &mappings)) return false;
  if (mappings.state != CSI_SMB_NOT_MAPPED)
    return fail(call, (struct csi_mi_error){CSI_SPACE_WIN32, CSI_SMB_ALREADY_ASSIGNED});
  MI_Instance *parameters = csi_mi_new_parameters(session);
  bool done = parameters != NULL && set_create_parameters(call, session, parameters) &&
              invoke(call, session, L"Create", NULL, parameters);
  csi_mi_delete(parameters);
  return done;
}

static bool remove_all(struct mapping_call *call, struct csi_mi_session *session) {
  struct mappings mappings = {.session = session, .are_kept = true};
  MI_Instance *parameters = csi_mi_new_parameters(session);
  bool done = parameters != NULL && csi_mi_set_boolean(session, parameters, L"Force", true) &&
              find_mappings(call, &mappings);
  if (done && mappings.count == 0)
    done = fail(call, (struct csi_mi_error){CSI_SPACE_WIN32, CSI_SMB_NOT_CONNECTED});
  for (size_t i = 0; done && i < mappings.count; i++)
    done = invoke(call, session, L"Remove", mappings.instances[i], parameters);
  free_mappings(&mappings);
  csi_mi_delete(parameters);
  return done;
}

static bool get_state(struct mapping_call *call, struct csi_mi_session *session) {
  struct mappings mappings = {.session = session};
  if (!find_mappings(call, &mappings)) return false;
  call->state = mappings.state;
  return true;
}

static bool perform(struct mapping_call *call, struct csi_mi_session *session) {
  switch (call->step) {
  case STEP_GET_STATE:
    return get_state(call, session);
  case STEP_ADD:
    return add(call, session);
  case STEP_REMOVE:
    return remove_all(call, session);
  default:
    return csi_mi_get_class(session, step_names[STEP_PROBE], class_w);
  }
}

static void run(struct csi_library_call *library_call) {
  struct mapping_call *call = (struct mapping_call *)library_call;
  struct csi_mi_session session;
  bool done = csi_mi_open(&session, NAME_SPACE, call->timeout_ms) && perform(call, &session);
  if (!done && session.failed != NULL) {
    call->failed = session.failed;
    call->error = csi_mi_error_of_failure(&session.failure);
  }
  csi_mi_close(&session);
  if (call->step == STEP_ADD) call->error = csi_mi_error_of_create(call->error);
  if (call->step == STEP_REMOVE) call->error = csi_mi_error_of_remove(call->error);
  call->call.error = call->error.number;
}

/* Makes a call with room for the texts behind it; one that is NULL stays so. */
static struct mapping_call *new_call(struct csi_ctx *ctx, enum step step,
                                     const char *const texts[TEXT_COUNT]) {
  const uint16_t *converted_w[TEXT_COUNT] = {NULL};
  size_t units[TEXT_COUNT] = {0}, size_bytes = sizeof(struct mapping_call);
  for (size_t i = 0; i < TEXT_COUNT; i++) {
    if (texts[i] == NULL) continue;
    converted_w[i] = csi_utf16_from_utf8(ctx->arena, texts[i], strlen(texts[i]), &units[i], &ctx->status);
    if (converted_w[i] == NULL) return NULL;
    size_bytes += (units[i] + 1) * sizeof(wchar_t);
  }
  struct mapping_call *call = csi_library_call_new(ctx, size_bytes, run, step_names[step]);
  if (call == NULL) return NULL;
  wchar_t *end_w = (wchar_t *)(call + 1);
  for (size_t i = 0; i < TEXT_COUNT; i++) {
    if (converted_w[i] == NULL) continue;
    call->texts_w[i] = memcpy(end_w, converted_w[i], (units[i] + 1) * sizeof(wchar_t));
    end_w += units[i] + 1;
  }
  call->step = step;
  return call;
}

/* Runs the call. True when it is to be freed by the caller: done, or failed with a status. */
static bool run_call(struct csi_ctx *ctx, struct mapping_call *call, uint32_t limit_ms, const char *object) {
  call->timeout_ms = csi_ctx_remaining_ms(ctx, limit_ms) + SLACK_MS;
  if (!csi_library_call(ctx, &call->call, limit_ms, object)) return false;
  if (call->failed != NULL)
    csi_fail_system(&ctx->status, call->error.space, call->error.number, call->failed, "%s", object);
  return true;
}

/* One step on a share. state_out may be NULL. */
static bool run_step(struct csi_ctx *ctx, enum step step, const char *root, const char *credential,
                     bool require_privacy, enum csi_smb_state *state_out) {
  if (!csi_mi_load(&ctx->status)) return false;
  const char *object = csi_smb_object(ctx, root);
  if (object == NULL) return false;
  const char *query = csi_wql_select(ctx->arena, CLASS, "RemotePath", root);
  if (query == NULL) return csi_fail_out_of_memory(&ctx->status);
  struct mapping_call *call = new_call(ctx, step, (const char *const[TEXT_COUNT]){query, root, credential});
  if (call == NULL) return false;
  call->require_privacy = require_privacy;
  if (!run_call(ctx, call, CSI_LIBRARY_CALL_MS, object)) return false;
  bool done = call->failed == NULL;
  if (state_out != NULL) *state_out = call->state;
  csi_library_call_free(&call->call);
  return done;
}

static bool mi_get_state(void *self, struct csi_ctx *ctx, const char *root, enum csi_smb_state *state_out) {
  (void)self;
  return run_step(ctx, STEP_GET_STATE, root, NULL, false, state_out);
}

static bool mi_add(void *self, struct csi_ctx *ctx, const char *root,
                   const struct csi_smb_credentials *credentials, bool require_privacy) {
  (void)self;
  const char *credential = NULL;
  if (credentials->username[0] != '\0') {
    credential = csi_smb_credential_text(ctx->arena, credentials->username, credentials->password);
    if (credential == NULL) return csi_fail_out_of_memory(&ctx->status);
  }
  if (run_step(ctx, STEP_ADD, root, credential, require_privacy, NULL)) return true;
  bool is_parameter =
      csi_win32_of_system_error(ctx->status.space, ctx->status.number) == ERROR_INVALID_PARAMETER;
  if (require_privacy && ctx->status.space != CSI_SPACE_NONE && is_parameter)
    csi_advise(&ctx->status, "; this Windows may not know RequirePrivacy: start this service with "
                             "-require-privacy=false");
  return false;
}

static bool mi_remove(void *self, struct csi_ctx *ctx, const char *root) {
  (void)self;
  return run_step(ctx, STEP_REMOVE, root, NULL, false, NULL);
}

static bool mi_list(void *self, struct csi_ctx *ctx, const char ***names_out, size_t *count_out) {
  (void)self, (void)names_out, (void)count_out;
  return csi_fail(&ctx->status, CSI_UNIMPLEMENTED, "mappings of others are listed through mpr.dll only");
}

static const struct csi_smb_host mi_host = {
    .get_state = mi_get_state,
    .list = mi_list,
    .add = mi_add,
    .remove = mi_remove,
    .check = csi_smb_check_root,
    .try_credentials = csi_smb_try_credentials,
    .fingerprint = csi_smb_fingerprint,
};

const struct csi_smb_host *csi_smb_mi_host(void) {
  return &mi_host;
}

bool csi_smb_mi_probe(struct csi_ctx *ctx) {
  if (!csi_mi_load(&ctx->status)) return false;
  struct mapping_call *call = new_call(ctx, STEP_PROBE, (const char *const[TEXT_COUNT]){NULL});
  if (call == NULL || !run_call(ctx, call, PROBE_MS, "class " CLASS)) return false;
  if (csi_mi_error_is_missing(call->error)) ctx->status.code = CSI_UNIMPLEMENTED;
  csi_library_call_free(&call->call);
  return csi_status_ok(&ctx->status);
}
