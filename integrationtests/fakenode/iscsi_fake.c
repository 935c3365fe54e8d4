/* SPDX-License-Identifier: Apache-2.0
 *
 * A kind of record beyond those of targets.h: `late-login`, one that nobody waits for any more: iqn, user,
 * auth, secret, secret-bytes, at. And `late-call`, another such call, which ends when the scene says so:
 * object.
 */
#include "iscsi_fake.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "iscsi/name.h"
#include "iscsi/portal.h"
#include "iscsi/structures.h"
#include "iscsidsc/target_words.h"
#include "iscsidsc/targets.h"
#include "storage_command.h"

enum {
  NS_PER_MS = 1000000,
  MS_PER_S = 1000,
  DISKS_MAX = 64,
  REPLY_BYTES = 512,
  LINE_BYTES = 2048,
};

#define NEVER UINT64_MAX
#define ADAPTER_UNIQUE UINT64_C(0xFFFFFA8000000000)

struct csi_fake_iscsi {
  struct csi_iscsi_host host;
  struct csi_fake_network *network;
  struct csi_fake_storage *storage;

  /* The network's lock guards these, as all records. */
  uint32_t disks[DISKS_MAX]; /* numbers of those that are attached */
  size_t disk_count;
  struct csi_fake_login last_login;

  pthread_t clock; /* does what is due later */
  pthread_mutex_t clock_lock;
  pthread_cond_t due_changed;
  uint64_t due_ms;
  bool ending;
};

static uint64_t now_ms(void) {
  return (uint64_t)(csi_now_ns() / NS_PER_MS);
}

/* ---- Disks. ---- */

static size_t find_disk(const struct csi_fake_iscsi *iscsi, uint32_t number) {
  size_t i = 0;
  while (i < iscsi->disk_count && iscsi->disks[i] != number)
    i++;
  return i;
}

static void attach(struct csi_fake_iscsi *iscsi, const struct network_record *lun) {
  char line[LINE_BYTES], reply[REPLY_BYTES];
  uint32_t number = (uint32_t)network_get_number(lun, "number", 0);
  if (iscsi->disk_count == DISKS_MAX || find_disk(iscsi, number) < iscsi->disk_count) return;
  snprintf(line, sizeof line, "disk add %s", network_get(lun, "words"));
  if (csi_fake_storage_command(iscsi->storage, line, reply, sizeof reply))
    iscsi->disks[iscsi->disk_count++] = number;
  else
    fprintf(stderr, "iscsi_fake: %s: %s\n", line, reply);
}

/* Somebody may have removed it before. */
static void detach(struct csi_fake_iscsi *iscsi, size_t index) {
  char line[64], reply[REPLY_BYTES];
  snprintf(line, sizeof line, "disk remove number=%u", (unsigned)iscsi->disks[index]);
  (void)csi_fake_storage_command(iscsi->storage, line, reply, sizeof reply);
  iscsi->disks[index] = iscsi->disks[--iscsi->disk_count];
}

/* The record of a LUN that shall be a disk with that number now; NULL when there is none. */
static const struct network_record *find_wanted(const struct network_state *state, uint32_t number,
                                                uint64_t time_ms) {
  const struct network_record *lun = network_next(state, "lun", NULL);
  while (lun != NULL &&
         !(network_get_number(lun, "number", 0) == number && targets_wants_disk(state, lun, time_ms)))
    lun = network_next(state, "lun", lun);
  return lun;
}

static void settle_disks(struct csi_fake_iscsi *iscsi, const struct network_state *state, uint64_t time_ms) {
  for (size_t i = 0; i < iscsi->disk_count;)
    if (find_wanted(state, iscsi->disks[i], time_ms) == NULL)
      detach(iscsi, i);
    else
      i++;
  for (const struct network_record *lun = network_next(state, "lun", NULL); lun != NULL;
       lun = network_next(state, "lun", lun))
    if (targets_wants_disk(state, lun, time_ms)) attach(iscsi, lun);
}

/* ---- Late logins. ---- */

/* The digest stands in the record; "" when there is none. */
static void end_late_login(struct network_state *state, struct network_record *late, uint64_t time_ms) {
  struct csi_iscsi_portal any = {.port = 0};
  struct targets_login login = {
      .iqn = network_get(late, "iqn"),
      .portal = &any,
      .authentication = (enum csi_iscsi_authentication)network_get_number(late, "auth", 0),
      .user = network_get(late, "user"),
      .secret_bytes = (size_t)network_get_number(late, "secret-bytes", 0),
  };
  const char *secret = network_get(late, "secret");
  if (secret != NULL) snprintf(login.secret, sizeof login.secret, "%s", secret);
  uint64_t id;
  (void)targets_log_in(state, &login, time_ms, &id);
  network_remove(state, late);
}

static void settle_late_logins(struct network_state *state, uint64_t time_ms) {
  for (struct network_record *late = network_next(state, "late-login", NULL), *next; late != NULL;
       late = next) {
    next = network_next(state, "late-login", late);
    if (network_get_number(late, "at", 0) <= time_ms) end_late_login(state, late, time_ms);
  }
}

static void add_late_login(struct network_state *state, const struct targets_login *login, uint64_t at_ms) {
  struct network_record *late = network_add(state, "late-login");
  network_set(state, late, "iqn", login->iqn);
  network_set(state, late, "user", login->user);
  network_set_number(state, late, "auth", (uint64_t)login->authentication);
  network_set(state, late, "secret", login->secret[0] == '\0' ? NULL : login->secret);
  network_set_number(state, late, "secret-bytes", login->secret_bytes);
  network_set_number(state, late, "at", at_ms);
}

/* ---- Time. ---- */

static uint64_t earliest(const struct network_state *state, const char *kind, const char *key,
                         uint64_t time_ms) {
  uint64_t due_ms = NEVER;
  for (const struct network_record *record = network_next(state, kind, NULL); record != NULL;
       record = network_next(state, kind, record)) {
    uint64_t at_ms = network_get_number(record, key, 0);
    if (at_ms > time_ms && at_ms < due_ms) due_ms = at_ms;
  }
  return due_ms;
}

/* Does what is due. The records are open. Returns when there is more to do. */
static uint64_t settle(struct csi_fake_iscsi *iscsi, struct network_state *state) {
  uint64_t time_ms = now_ms();
  settle_late_logins(state, time_ms);
  settle_disks(iscsi, state, time_ms);
  uint64_t login_ms = earliest(state, "late-login", "at", time_ms);
  uint64_t disk_ms = earliest(state, "session", "disks-at", time_ms);
  return login_ms < disk_ms ? login_ms : disk_ms;
}

static void set_clock(struct csi_fake_iscsi *iscsi, uint64_t due_ms) {
  pthread_mutex_lock(&iscsi->clock_lock);
  iscsi->due_ms = due_ms;
  pthread_cond_signal(&iscsi->due_changed);
  pthread_mutex_unlock(&iscsi->clock_lock);
}

static struct network_state *enter(struct csi_fake_iscsi *iscsi) {
  struct network_state *state = csi_fake_network_open(iscsi->network);
  (void)settle(iscsi, state);
  return state;
}

struct visit {
  struct csi_fake_iscsi *iscsi;
  struct network_state *state;
};

static void leave(struct visit *visit) {
  set_clock(visit->iscsi, settle(visit->iscsi, visit->state)); /* nobody else's time comes between */
  csi_fake_network_close(visit->iscsi->network);
}

/* The records, locked and settled to the end of the scope. */
#define VISIT(iscsi_)                                                                                        \
  __attribute__((cleanup(leave), unused)) struct visit visit = {.iscsi = (iscsi_), .state = enter(iscsi_)};  \
  __attribute__((unused)) struct network_state *state = visit.state

/* Waits until something is due, or the end. */
static bool await_due(struct csi_fake_iscsi *iscsi) {
  pthread_mutex_lock(&iscsi->clock_lock);
  while (!iscsi->ending && iscsi->due_ms > now_ms()) {
    uint64_t left_ms = iscsi->due_ms - now_ms();
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    uint64_t slice_ms = left_ms < MS_PER_S ? left_ms + 1 : MS_PER_S;
    uint64_t ns = (uint64_t)until.tv_nsec + slice_ms * NS_PER_MS;
    until.tv_sec += (time_t)(ns / (MS_PER_S * (uint64_t)NS_PER_MS));
    until.tv_nsec = (long)(ns % (MS_PER_S * (uint64_t)NS_PER_MS));
    if (iscsi->due_ms == NEVER)
      pthread_cond_wait(&iscsi->due_changed, &iscsi->clock_lock);
    else
      pthread_cond_timedwait(&iscsi->due_changed, &iscsi->clock_lock, &until);
  }
  bool goes_on = !iscsi->ending;
  iscsi->due_ms = NEVER;
  pthread_mutex_unlock(&iscsi->clock_lock);
  return goes_on;
}

static void *run_clock(void *data) {
  struct csi_fake_iscsi *iscsi = data;
  while (await_due(iscsi)) {
    VISIT(iscsi);
  }
  return NULL;
}

/* ---- The host: what every call begins and ends with. ---- */

static bool answer(struct csi_ctx *ctx, uint32_t error, const char *call, const char *object) {
  return error == 0 || csi_fail_system(&ctx->status, csi_iscsi_error_space(error), error, call, "%s", object);
}

static bool begin(struct csi_fake_iscsi *iscsi, struct csi_ctx *ctx, const char *call, const char *object) {
  if (!csi_fake_network_step(iscsi->network, ctx, call, CSI_SPACE_ISDSC, object)) return false;
  VISIT(iscsi);
  return answer(ctx, targets_service(state), call, object);
}

/* ---- The host: calls that were given up. ---- */

static bool fail_late(struct csi_ctx *ctx, const char *object) {
  return csi_fail(&ctx->status, CSI_UNAVAILABLE, "%s: a call that was given up has not returned", object);
}

static bool check_target(void *self, struct csi_ctx *ctx, const char *target) {
  VISIT(self);
  return (network_find(state, "late-login", "iqn", target) == NULL &&
          network_find(state, "late-call", "object", target) == NULL) ||
         fail_late(ctx, target);
}

static bool check_portal(void *self, struct csi_ctx *ctx, const struct csi_iscsi_portal *portal) {
  char key[CSI_ISCSI_PORTAL_KEY_BYTES];
  csi_iscsi_portal_key(portal, key);
  VISIT(self);
  return network_find(state, "late-call", "object", key) == NULL || fail_late(ctx, key);
}

/* Room in the arena for an item for each record of the kind; NULL and the status when there is none. */
static void *make_room(struct csi_ctx *ctx, const struct network_state *state, const char *kind,
                       size_t item_bytes) {
  void *items = csi_arena_alloc_array(ctx->arena, network_count(state, kind) + 1, item_bytes);
  if (items == NULL) csi_fail_out_of_memory(&ctx->status);
  return items;
}

/* ---- The host: portals. ---- */

static bool list_portals(void *self, struct csi_ctx *ctx, const struct csi_iscsi_portal **portals_out,
                         size_t *count_out) {
  struct csi_fake_iscsi *iscsi = self;
  if (!begin(iscsi, ctx, CSI_FAKE_ISCSI_LIST_PORTALS, "portals")) return false;
  VISIT(iscsi);
  struct csi_iscsi_portal *portals = make_room(ctx, state, "send-targets", sizeof *portals);
  size_t count = 0;
  if (portals == NULL) return false;
  for (const struct network_record *record = network_next(state, "send-targets", NULL); record != NULL;
       record = network_next(state, "send-targets", record)) {
    struct csi_iscsi_portal *portal = &portals[count++];
    snprintf(portal->address, sizeof portal->address, "%s", network_get(record, "address"));
    portal->port = (uint16_t)network_get_number(record, "port", 0);
  }
  *portals_out = portals;
  *count_out = count;
  return true;
}

/* What is done to a portal. */
static bool change_portal(struct csi_fake_iscsi *iscsi, struct csi_ctx *ctx,
                          const struct csi_iscsi_portal *portal, const char *call,
                          uint32_t (*change)(struct network_state *state,
                                             const struct csi_iscsi_portal *portal)) {
  if (!begin(iscsi, ctx, call, portal->address)) return false;
  VISIT(iscsi);
  return answer(ctx, change(state, portal), call, portal->address);
}

static bool add_portal(void *self, struct csi_ctx *ctx, const struct csi_iscsi_portal *portal) {
  return change_portal(self, ctx, portal, CSI_FAKE_ISCSI_ADD_PORTAL, targets_add_portal);
}

static bool refresh_portal(void *self, struct csi_ctx *ctx, const struct csi_iscsi_portal *portal) {
  return change_portal(self, ctx, portal, CSI_FAKE_ISCSI_REFRESH_PORTAL, targets_refresh_portal);
}

static bool remove_portal(void *self, struct csi_ctx *ctx, const struct csi_iscsi_portal *portal) {
  return change_portal(self, ctx, portal, CSI_FAKE_ISCSI_REMOVE_PORTAL, targets_remove_portal);
}

static bool list_targets(void *self, struct csi_ctx *ctx, const struct csi_iscsi_portal *portal,
                         const char ***names_out, size_t *count_out) {
  struct csi_fake_iscsi *iscsi = self;
  char key[CSI_ISCSI_PORTAL_KEY_BYTES];
  csi_iscsi_portal_key(portal, key);
  if (!begin(iscsi, ctx, CSI_FAKE_ISCSI_LIST_TARGETS, portal->address)) return false;
  VISIT(iscsi);
  const char **names = make_room(ctx, state, "discovered", sizeof *names);
  size_t count = 0;
  if (names == NULL) return false;
  for (const struct network_record *record = network_next(state, "discovered", NULL); record != NULL;
       record = network_next(state, "discovered", record)) {
    if (!network_has(record, "portal", key)) continue;
    names[count] = csi_arena_strdup(ctx->arena, network_get(record, "iqn"));
    if (names[count++] == NULL) return csi_fail_out_of_memory(&ctx->status);
  }
  *names_out = names;
  *count_out = count;
  return true;
}

/* ---- The host: sessions. ---- */

static bool list_sessions(void *self, struct csi_ctx *ctx, const struct csi_iscsi_session **sessions_out,
                          size_t *count_out) {
  struct csi_fake_iscsi *iscsi = self;
  if (!begin(iscsi, ctx, CSI_FAKE_ISCSI_LIST_SESSIONS, "sessions")) return false;
  VISIT(iscsi);
  struct csi_iscsi_session *sessions = make_room(ctx, state, "session", sizeof *sessions);
  size_t count = 0;
  if (sessions == NULL) return false;
  for (const struct network_record *record = network_next(state, "session", NULL); record != NULL;
       record = network_next(state, "session", record)) {
    struct csi_iscsi_session *session = &sessions[count++];
    session->id.adapter_unique = ADAPTER_UNIQUE;
    session->has_connection = network_get_number(record, "lost", 0) == 0;
    session->id.adapter_specific = network_get_number(record, "id", 0);
    snprintf(session->target, sizeof session->target, "%s", network_get(record, "iqn"));
  }
  *sessions_out = sessions;
  *count_out = count;
  return true;
}

static struct targets_login to_targets_login(const struct csi_iscsi_login *login) {
  struct targets_login result = {
      .iqn = login->target,
      .portal = login->portal,
      .authentication = login->authentication,
      .user = login->username[0] == '\0' ? NULL : login->username,
      .secret_bytes = strlen(login->secret),
  };
  if (login->secret[0] != '\0') network_secret_digest(login->secret, result.secret_bytes, result.secret);
  return result;
}

/* Notes what the login brought, and how long it takes. */
static void note_login(struct csi_fake_iscsi *iscsi, const struct csi_iscsi_login *login,
                       uint32_t *delay_ms_out) {
  VISIT(iscsi);
  iscsi->last_login = (struct csi_fake_login){.authentication = (int)login->authentication,
                                              .portal = *login->portal,
                                              .has_user = login->username[0] != '\0',
                                              .has_secret = login->secret[0] != '\0'};
  snprintf(iscsi->last_login.target, sizeof iscsi->last_login.target, "%s", login->target);
  *delay_ms_out = targets_login_delay_ms(state, login->target);
}

static bool give_up(struct csi_fake_iscsi *iscsi, struct csi_ctx *ctx, const struct targets_login *login,
                    uint64_t end_ms) {
  VISIT(iscsi);
  add_late_login(state, login, end_ms);
  return csi_explain(&ctx->status, "target %s: %s: ", login->iqn, CSI_FAKE_ISCSI_LOGIN);
}

static bool log_in(void *self, struct csi_ctx *ctx, const struct csi_iscsi_login *login) {
  struct csi_fake_iscsi *iscsi = self;
  const struct targets_login given = to_targets_login(login);
  uint32_t delay_ms;
  uint64_t id;
  if (!begin(iscsi, ctx, CSI_FAKE_ISCSI_LOGIN, login->target) || !check_target(iscsi, ctx, login->target))
    return false;
  note_login(iscsi, login, &delay_ms);
  uint64_t end_ms = now_ms() + delay_ms;
  if (delay_ms > 0 && !csi_pause(ctx, delay_ms)) return give_up(iscsi, ctx, &given, end_ms);
  VISIT(iscsi);
  return answer(ctx, targets_log_in(state, &given, now_ms(), &id), CSI_FAKE_ISCSI_LOGIN, login->target);
}

static bool log_out(void *self, struct csi_ctx *ctx, const struct csi_iscsi_session *session) {
  struct csi_fake_iscsi *iscsi = self;
  if (!begin(iscsi, ctx, CSI_FAKE_ISCSI_LOGOUT, session->target)) return false;
  VISIT(iscsi);
  return answer(ctx, targets_log_out(state, session->id.adapter_specific), CSI_FAKE_ISCSI_LOGOUT,
                session->target);
}

static bool list_persistent_logins(void *self, struct csi_ctx *ctx,
                                   const struct csi_iscsi_persistent_login **logins_out, size_t *count_out) {
  struct csi_fake_iscsi *iscsi = self;
  if (!begin(iscsi, ctx, CSI_FAKE_ISCSI_LIST_PERSISTENT, "persistent logins")) return false;
  VISIT(iscsi);
  struct csi_iscsi_persistent_login *logins = make_room(ctx, state, "persistent-login", sizeof *logins);
  size_t count = 0;
  if (logins == NULL) return false;
  for (const struct network_record *record = network_next(state, "persistent-login", NULL); record != NULL;
       record = network_next(state, "persistent-login", record)) {
    struct csi_iscsi_persistent_login *login = &logins[count++];
    snprintf(login->target, sizeof login->target, "%s", network_get(record, "iqn"));
    snprintf(login->initiator, sizeof login->initiator, "%s", TARGETS_ADAPTER);
    snprintf(login->portal_name, sizeof login->portal_name, "%s", TARGETS_PORTAL_NAME);
    login->initiator_port = UINT32_MAX;
    login->portal = targets_portal_of_key(network_get(record, "portal"));
  }
  *logins_out = logins;
  *count_out = count;
  return true;
}

static bool remove_persistent_login(void *self, struct csi_ctx *ctx,
                                    const struct csi_iscsi_persistent_login *login) {
  struct csi_fake_iscsi *iscsi = self;
  if (!begin(iscsi, ctx, CSI_FAKE_ISCSI_REMOVE_PERSISTENT, login->target)) return false;
  VISIT(iscsi);
  return answer(ctx, targets_forget_login(state, login->target, &login->portal),
                CSI_FAKE_ISCSI_REMOVE_PERSISTENT, login->target);
}

static bool list_disks(void *self, struct csi_ctx *ctx, const struct csi_iscsi_session *session,
                       const uint32_t **numbers_out, size_t *count_out) {
  struct csi_fake_iscsi *iscsi = self;
  if (!begin(iscsi, ctx, CSI_FAKE_ISCSI_LIST_DISKS, session->target)) return false;
  VISIT(iscsi);
  if (targets_find_session(state, session->id.adapter_specific) == NULL)
    return answer(ctx, CSI_ISDSC_INVALID_SESSION_ID, CSI_FAKE_ISCSI_LIST_DISKS, session->target);
  uint32_t *numbers = make_room(ctx, state, "lun", sizeof *numbers);
  size_t count = 0;
  if (numbers == NULL) return false;
  for (const struct network_record *lun = network_next(state, "lun", NULL); lun != NULL;
       lun = network_next(state, "lun", lun)) {
    uint32_t number = (uint32_t)network_get_number(lun, "number", 0);
    if (network_has(lun, "iqn", session->target) && find_disk(iscsi, number) < iscsi->disk_count)
      numbers[count++] = number;
  }
  *numbers_out = numbers;
  *count_out = count;
  return true;
}

static bool set_chap_secret(void *self, struct csi_ctx *ctx, const char *secret) {
  struct csi_fake_iscsi *iscsi = self;
  if (!begin(iscsi, ctx, CSI_FAKE_ISCSI_SET_SECRET, "mutual CHAP secret")) return false;
  VISIT(iscsi);
  return answer(ctx, targets_set_mutual_secret(state, (const uint8_t *)secret, strlen(secret)),
                CSI_FAKE_ISCSI_SET_SECRET, "mutual CHAP secret");
}

/* ---- The fake. ---- */

static void reset(void *fake) {
  struct csi_fake_iscsi *iscsi = fake;
  VISIT(iscsi);
  iscsi->last_login = (struct csi_fake_login){.authentication = -1};
}

struct csi_fake_iscsi *csi_fake_iscsi_new(struct csi_fake_network *network,
                                          struct csi_fake_storage *storage) {
  struct csi_fake_iscsi *iscsi = calloc(1, sizeof *iscsi);
  if (iscsi == NULL) abort();
  iscsi->network = network;
  iscsi->storage = storage;
  iscsi->last_login.authentication = -1;
  iscsi->due_ms = NEVER;
  iscsi->host = (struct csi_iscsi_host){
      .self = iscsi,
      .check_target = check_target,
      .check_portal = check_portal,
      .list_portals = list_portals,
      .add_portal = add_portal,
      .refresh_portal = refresh_portal,
      .remove_portal = remove_portal,
      .list_targets = list_targets,
      .list_sessions = list_sessions,
      .login = log_in,
      .logout = log_out,
      .list_persistent_logins = list_persistent_logins,
      .remove_persistent_login = remove_persistent_login,
      .list_disks = list_disks,
      .set_chap_secret = set_chap_secret,
  };
  pthread_mutex_init(&iscsi->clock_lock, NULL);
  pthread_cond_init(&iscsi->due_changed, NULL);
  if (pthread_create(&iscsi->clock, NULL, run_clock, iscsi) != 0) abort();
  csi_fake_network_on_reset(network, reset, iscsi);
  return iscsi;
}

void csi_fake_iscsi_free(struct csi_fake_iscsi *iscsi) {
  if (iscsi == NULL) return;
  pthread_mutex_lock(&iscsi->clock_lock);
  iscsi->ending = true;
  pthread_cond_signal(&iscsi->due_changed);
  pthread_mutex_unlock(&iscsi->clock_lock);
  pthread_join(iscsi->clock, NULL);
  pthread_cond_destroy(&iscsi->due_changed);
  pthread_mutex_destroy(&iscsi->clock_lock);
  free(iscsi);
}

const struct csi_iscsi_host *csi_fake_iscsi_host(struct csi_fake_iscsi *iscsi) {
  return &iscsi->host;
}

/* ---- Scene. ---- */

bool csi_fake_iscsi_execute(struct csi_fake_iscsi *iscsi, const char *noun, struct vdisk_words *words,
                            struct vdisk_text *reply, const char **problem_out) {
  VISIT(iscsi);
  return targets_command(state, noun, words, now_ms(), reply, problem_out);
}

void csi_fake_iscsi_register(struct csi_fake_iscsi *iscsi, const char *address, uint16_t port) {
  struct csi_iscsi_portal portal = {.port = port};
  char key[CSI_ISCSI_PORTAL_KEY_BYTES];
  snprintf(portal.address, sizeof portal.address, "%s", address);
  csi_iscsi_portal_key(&portal, key);
  VISIT(iscsi);
  struct network_record *record = network_add(state, "send-targets");
  network_set(state, record, "portal", key);
  network_set(state, record, "address", address);
  network_set_number(state, record, "port", port);
}

void csi_fake_iscsi_begin_late_call(struct csi_fake_iscsi *iscsi, const char *object) {
  VISIT(iscsi);
  network_set(state, network_add(state, "late-call"), "object", object);
}

void csi_fake_iscsi_end_late_calls(struct csi_fake_iscsi *iscsi) {
  VISIT(iscsi);
  network_remove_all(state, "late-call");
  for (struct network_record *late; (late = network_next(state, "late-login", NULL)) != NULL;)
    end_late_login(state, late, now_ms());
}

/* ---- What happened. ---- */

size_t csi_fake_iscsi_count(struct csi_fake_iscsi *iscsi, const char *kind, const char *iqn) {
  VISIT(iscsi);
  size_t count = 0;
  for (const struct network_record *record = network_next(state, kind, NULL); record != NULL;
       record = network_next(state, kind, record))
    count += iqn == NULL || network_has(record, "iqn", iqn);
  return count;
}

struct csi_fake_login csi_fake_iscsi_last_login(struct csi_fake_iscsi *iscsi) {
  VISIT(iscsi);
  return iscsi->last_login;
}
