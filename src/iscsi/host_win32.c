/* SPDX-License-Identifier: Apache-2.0 */
#include "iscsi/host_win32.h"

#include "iscsi/host_win32_parts.h"
#include "iscsi/listing_win32.h"

/* --- Calls that were given up */

static bool check_target(void *self, struct csi_ctx *ctx, const char *target) {
  (void)self;
  const char *object = csi_iscsi_target_object(ctx, target);
  return object != NULL && csi_library_object_is_free(ctx, object);
}

static bool check_portal(void *self, struct csi_ctx *ctx, const struct csi_iscsi_portal *portal) {
  (void)self;
  const char *object = csi_iscsi_portal_object(ctx, portal);
  return object != NULL && csi_library_object_is_free(ctx, object);
}

/* --- Portals */

/* A call about a portal. */
struct portal_call {
  struct csi_library_call call; /* first */
  const struct csi_iscsi_library *library;
  ISCSI_TARGET_PORTALW portal;
};

bool csi_win32_fill_portal(struct csi_ctx *ctx, const struct csi_iscsi_portal *portal,
                           ISCSI_TARGET_PORTALW *portal_out) {
  portal_out->Socket = portal->port;
  return csi_iscsi_library_widen(ctx, portal->address, portal_out->Address, CSI_ISCSI_TEXT_UNITS);
}

static void run_add_portal(struct csi_library_call *call) {
  struct portal_call *add = (struct portal_call *)call;
  call->error = add->library->add_portal(NULL, ISCSI_ALL_INITIATOR_PORTS, NULL, 0, &add->portal);
}

static void run_refresh_portal(struct csi_library_call *call) {
  struct portal_call *refresh = (struct portal_call *)call;
  call->error = refresh->library->refresh_portal(NULL, ISCSI_ALL_INITIATOR_PORTS, &refresh->portal);
}

static void run_remove_portal(struct csi_library_call *call) {
  struct portal_call *remove = (struct portal_call *)call;
  call->error = remove->library->remove_portal(NULL, ISCSI_ALL_INITIATOR_PORTS, &remove->portal);
}

static bool call_portal(struct csi_ctx *ctx, const struct csi_iscsi_portal *portal,
                        void (*run)(struct csi_library_call *call), const char *function) {
  const struct csi_iscsi_library *library = csi_iscsi_library(ctx);
  const char *object = csi_iscsi_portal_object(ctx, portal);
  if (library == NULL || object == NULL) return false;
  struct portal_call *call = csi_library_call_new(ctx, sizeof *call, run, function);
  if (call == NULL) return false;
  call->library = library;
  if (csi_win32_fill_portal(ctx, portal, &call->portal))
    return csi_iscsi_library_run(ctx, &call->call, object);
  csi_library_call_free(&call->call);
  return false;
}

/* UNVERIFIED ON WINDOWS: that a portal whose targets cannot be asked for is not registered. */
static bool add_portal(void *self, struct csi_ctx *ctx, const struct csi_iscsi_portal *portal) {
  (void)self;
  return call_portal(ctx, portal, run_add_portal, "AddIScsiSendTargetPortalW");
}

static bool refresh_portal(void *self, struct csi_ctx *ctx, const struct csi_iscsi_portal *portal) {
  (void)self;
  return call_portal(ctx, portal, run_refresh_portal, "RefreshIScsiSendTargetPortalW");
}

static bool remove_portal(void *self, struct csi_ctx *ctx, const struct csi_iscsi_portal *portal) {
  (void)self;
  return call_portal(ctx, portal, run_remove_portal, "RemoveIScsiSendTargetPortalW");
}

static bool list_portals(void *self, struct csi_ctx *ctx, const struct csi_iscsi_portal **portals_out,
                         size_t *count_out) {
  (void)self;
  CSI_SCOPED_ISCSI_ANSWER answer = {0};
  const struct csi_iscsi_listing listing = {.list = CSI_ISCSI_LIST_PORTALS};
  return csi_iscsi_library_list(ctx, &listing, &answer) &&
         csi_iscsi_read_portals(ctx, &answer.reply, portals_out, count_out);
}

/* --- Sessions */

static bool list_sessions(void *self, struct csi_ctx *ctx, const struct csi_iscsi_session **sessions_out,
                          size_t *count_out) {
  (void)self;
  CSI_SCOPED_ISCSI_ANSWER answer = {0};
  const struct csi_iscsi_listing listing = {.list = CSI_ISCSI_LIST_SESSIONS};
  return csi_iscsi_library_list(ctx, &listing, &answer) &&
         csi_iscsi_read_sessions(ctx, &answer.reply, sessions_out, count_out);
}

struct logout_call {
  struct csi_library_call call; /* first */
  const struct csi_iscsi_library *library;
  ISCSI_UNIQUE_SESSION_ID session;
};

static void run_logout(struct csi_library_call *call) {
  struct logout_call *logout = (struct logout_call *)call;
  call->error = logout->library->logout(&logout->session);
}

static bool logout(void *self, struct csi_ctx *ctx, const struct csi_iscsi_session *session) {
  (void)self;
  const struct csi_iscsi_library *library = csi_iscsi_library(ctx);
  const char *object = csi_iscsi_target_object(ctx, session->target);
  if (library == NULL || object == NULL) return false;
  struct logout_call *call = csi_library_call_new(ctx, sizeof *call, run_logout, "LogoutIScsiTarget");
  if (call == NULL) return false;
  call->library = library;
  call->session = (ISCSI_UNIQUE_SESSION_ID){.AdapterUnique = session->id.adapter_unique,
                                            .AdapterSpecific = session->id.adapter_specific};
  return csi_iscsi_library_run(ctx, &call->call, object);
}

static bool list_disks(void *self, struct csi_ctx *ctx, const struct csi_iscsi_session *session,
                       const uint32_t **numbers_out, size_t *count_out) {
  (void)self;
  CSI_SCOPED_ISCSI_ANSWER answer = {0};
  const struct csi_iscsi_listing listing = {
      .list = CSI_ISCSI_LIST_DEVICES, .target = session->target, .session = &session->id};
  return csi_iscsi_library_list(ctx, &listing, &answer) &&
         csi_iscsi_read_disks(ctx, &answer.reply, numbers_out, count_out);
}

/* --- Persistent logins */

static bool list_persistent_logins(void *self, struct csi_ctx *ctx,
                                   const struct csi_iscsi_persistent_login **logins_out, size_t *count_out) {
  (void)self;
  CSI_SCOPED_ISCSI_ANSWER answer = {0};
  const struct csi_iscsi_listing listing = {.list = CSI_ISCSI_LIST_PERSISTENT_LOGINS};
  return csi_iscsi_library_list(ctx, &listing, &answer) &&
         csi_iscsi_read_persistent_logins(ctx, &answer.reply, logins_out, count_out);
}

struct persistent_call {
  struct csi_library_call call; /* first */
  const struct csi_iscsi_library *library;
  wchar_t target_w[CSI_ISCSI_NAME_UNITS];
  wchar_t initiator_w[CSI_ISCSI_TEXT_UNITS];
  ULONG initiator_port;
  ISCSI_TARGET_PORTALW portal;
};

static void run_remove_persistent_login(struct csi_library_call *call) {
  struct persistent_call *remove = (struct persistent_call *)call;
  call->error = remove->library->remove_persistent_login(remove->initiator_w, remove->initiator_port,
                                                         remove->target_w, &remove->portal);
}

static bool fill_persistent_call(struct csi_ctx *ctx, const struct csi_iscsi_persistent_login *login,
                                 struct persistent_call *call) {
  call->initiator_port = login->initiator_port;
  return csi_iscsi_library_widen(ctx, login->target, call->target_w, CSI_ISCSI_NAME_UNITS) &&
         csi_iscsi_library_widen(ctx, login->initiator, call->initiator_w, CSI_ISCSI_TEXT_UNITS) &&
         csi_iscsi_library_widen(ctx, login->portal_name, call->portal.SymbolicName, CSI_ISCSI_TEXT_UNITS) &&
         csi_win32_fill_portal(ctx, &login->portal, &call->portal);
}

static bool remove_persistent_login(void *self, struct csi_ctx *ctx,
                                    const struct csi_iscsi_persistent_login *login) {
  (void)self;
  const struct csi_iscsi_library *library = csi_iscsi_library(ctx);
  const char *object = csi_iscsi_target_object(ctx, login->target);
  if (library == NULL || object == NULL) return false;
  struct persistent_call *call =
      csi_library_call_new(ctx, sizeof *call, run_remove_persistent_login, "RemoveIScsiPersistentTargetW");
  if (call == NULL) return false;
  call->library = library;
  if (fill_persistent_call(ctx, login, call)) return csi_iscsi_library_run(ctx, &call->call, object);
  csi_library_call_free(&call->call);
  return false;
}

const struct csi_iscsi_host *csi_iscsi_host_win32(void) {
  static const struct csi_iscsi_host host = {
      .check_target = check_target,
      .check_portal = check_portal,
      .list_portals = list_portals,
      .add_portal = add_portal,
      .refresh_portal = refresh_portal,
      .remove_portal = remove_portal,
      .list_targets = csi_win32_list_targets,
      .list_sessions = list_sessions,
      .login = csi_win32_login,
      .logout = logout,
      .list_persistent_logins = list_persistent_logins,
      .remove_persistent_login = remove_persistent_login,
      .list_disks = list_disks,
      .set_chap_secret = csi_win32_set_chap_secret,
  };
  return &host;
}
