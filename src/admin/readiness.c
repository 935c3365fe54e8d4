/* SPDX-License-Identifier: Apache-2.0 */
#include "admin/readiness.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/timed_wait.h"

#define NS_PER_MS INT64_C(1000000)
#define NS_PER_S INT64_C(1000000000)

enum {
  ARENA_BYTES = 1 << 20,
  LOOK_MARGIN = 8, /* a look is to end that part of its time earlier than those who wait for it give up */
};

struct csi_readiness {
  struct csi_parts_hosts hosts;
  struct csi_parts_options options;
  struct csi_arena *own; /* the copy of the options */
  int64_t fresh_ns, look_ns;
  atomic_bool is_stopping;
  atomic_bool is_closed;    /* ends a look that heeds its deadline */
  _Atomic(const char *) at; /* the part that is being looked at */

  pthread_mutex_t lock; /* guards what follows; held for a short copy only */
  pthread_cond_t looked;
  pthread_t looker;
  bool has_looker; /* to be joined */
  bool is_being_looked_at;
  bool is_abandoned;       /* the look frees what it was made for */
  int64_t begin_ns;        /* of the last look */
  struct csi_arena *arena; /* what was seen; NULL = nothing yet */
  struct csi_group_parts groups[CSI_PARTS_GROUPS];
  int64_t seen_ns;
};

static bool copy_options(struct csi_readiness *readiness, const struct csi_parts_options *options) {
  const char **dirs = csi_arena_alloc_array(readiness->own, options->working_dir_count + 1, sizeof *dirs);
  if (dirs == NULL) return false;
  for (size_t i = 0; i < options->working_dir_count; i++)
    if ((dirs[i] = csi_arena_strdup(readiness->own, options->working_dirs[i])) == NULL) return false;
  readiness->options = *options;
  readiness->options.working_dirs = dirs;
  atomic_init(&readiness->at, "the first part");
  return true;
}

struct csi_readiness *csi_readiness_new(const struct csi_parts_options *options,
                                        const struct csi_parts_hosts *hosts, struct csi_status *status) {
  struct csi_readiness *readiness = calloc(1, sizeof *readiness);
  if (readiness == NULL) {
    csi_fail_out_of_memory(status);
    return NULL;
  }
  pthread_mutex_init(&readiness->lock, NULL);
  csi_timed_wait_init(&readiness->looked);
  readiness->hosts = *hosts;
  readiness->fresh_ns = (options->fresh_ms != 0 ? options->fresh_ms : CSI_READINESS_FRESH_MS) * NS_PER_MS;
  readiness->look_ns = (options->look_ms != 0 ? options->look_ms : CSI_READINESS_LOOK_MS) * NS_PER_MS;
  readiness->own = csi_arena_new(ARENA_BYTES);
  if (readiness->own != NULL && copy_options(readiness, options)) return readiness;
  csi_fail_out_of_memory(status);
  csi_readiness_free(readiness);
  return NULL;
}

static void destroy(struct csi_readiness *readiness) {
  csi_arena_free(readiness->arena);
  csi_arena_free(readiness->own);
  pthread_cond_destroy(&readiness->looked);
  pthread_mutex_destroy(&readiness->lock);
  free(readiness);
}

void csi_readiness_set_stopping(struct csi_readiness *readiness) {
  atomic_store(&readiness->is_stopping, true);
}

bool csi_readiness_is_stopping(const struct csi_readiness *readiness) {
  return atomic_load(&readiness->is_stopping);
}

/* ---- Looking. ---- */

/* A thread of its own, so that a part which does not answer keeps nobody else's. Looks without the lock, and
 * keeps what is seen. Memory that is short leaves what was seen before. */
static void *look(void *argument) {
  struct csi_readiness *readiness = argument;
  struct csi_group_parts groups[CSI_PARTS_GROUPS];
  struct csi_ctx ctx = {.arena = csi_arena_new(ARENA_BYTES),
                        .deadline_ns = csi_now_ns() + readiness->look_ns - readiness->look_ns / LOOK_MARGIN,
                        .stopping = &readiness->is_closed,
                        .only_looks = true};
  bool seen = ctx.arena != NULL &&
              csi_parts_look(&ctx, &readiness->hosts, &readiness->options, &readiness->at, groups);
  pthread_mutex_lock(&readiness->lock);
  if (seen) {
    struct csi_arena *old = readiness->arena;
    readiness->arena = ctx.arena;
    ctx.arena = old;
    memcpy(readiness->groups, groups, sizeof groups);
    readiness->seen_ns = csi_now_ns();
  }
  readiness->is_being_looked_at = false;
  bool is_abandoned = readiness->is_abandoned;
  pthread_cond_broadcast(&readiness->looked);
  pthread_mutex_unlock(&readiness->lock);
  csi_arena_free(ctx.arena);
  if (is_abandoned) destroy(readiness);
  return NULL;
}

/* The lock is held, and nobody looks. Without a thread, nothing new is seen. */
static void start_look(struct csi_readiness *readiness) {
  if (readiness->has_looker) pthread_join(readiness->looker, NULL); /* has let go of the lock for good */
  readiness->begin_ns = csi_now_ns();
  readiness->has_looker = pthread_create(&readiness->looker, NULL, look, readiness) == 0;
  readiness->is_being_looked_at = readiness->has_looker;
}

/* Waits for the look until end_ns. The lock is held. */
static void await_look(struct csi_readiness *readiness, int64_t end_ns) {
  while (readiness->is_being_looked_at && csi_timed_wait(&readiness->looked, &readiness->lock, end_ns))
    continue;
}

static bool was_seen_within(const struct csi_readiness *readiness, int64_t age_ns) {
  return readiness->arena != NULL && readiness->seen_ns > csi_now_ns() - age_ns;
}

/* Sees to it that there is something to tell, and that it is fresh unless somebody is at it. Returns with the
 * lock held; false when there is nothing to tell. */
static bool begin(struct csi_readiness *readiness, int64_t deadline_ns) {
  const int64_t oldest_ns = readiness->fresh_ns + readiness->look_ns;
  pthread_mutex_lock(&readiness->lock);
  bool starts = !readiness->is_being_looked_at && !was_seen_within(readiness, readiness->fresh_ns);
  if (starts) start_look(readiness);
  if (starts || !was_seen_within(readiness, oldest_ns)) {
    int64_t end_ns = readiness->begin_ns + readiness->look_ns;
    await_look(readiness, deadline_ns < end_ns ? deadline_ns : end_ns);
  }
  return was_seen_within(readiness, oldest_ns);
}

void csi_readiness_free(struct csi_readiness *readiness) {
  if (readiness == NULL) return;
  atomic_store(&readiness->is_closed, true);
  pthread_mutex_lock(&readiness->lock);
  await_look(readiness, csi_now_ns() + readiness->look_ns);
  bool is_abandoned = readiness->is_abandoned = readiness->is_being_looked_at;
  if (is_abandoned) pthread_detach(readiness->looker);
  pthread_mutex_unlock(&readiness->lock);
  if (is_abandoned) return;
  if (readiness->has_looker) pthread_join(readiness->looker, NULL);
  destroy(readiness);
}

/* The lock is held, and something has been seen. */
static bool find_ready(const struct csi_readiness *readiness, const char *group) {
  for (size_t i = 0; i < CSI_PARTS_GROUPS; i++)
    if (strcmp(readiness->groups[i].group, group) == 0) return readiness->groups[i].is_ready;
  return false;
}

bool csi_readiness_group_is_ready(struct csi_readiness *readiness, const char *group, int64_t deadline_ns) {
  if (csi_readiness_is_stopping(readiness)) return false;
  bool is_ready = begin(readiness, deadline_ns) && find_ready(readiness, group);
  pthread_mutex_unlock(&readiness->lock);
  return is_ready;
}

bool csi_readiness_group_was_ready(struct csi_readiness *readiness, const char *group, bool *is_ready_out) {
  pthread_mutex_lock(&readiness->lock);
  if (!readiness->is_being_looked_at && !was_seen_within(readiness, readiness->fresh_ns))
    start_look(readiness);
  bool is_overdue = readiness->is_being_looked_at && csi_now_ns() > readiness->begin_ns + readiness->look_ns;
  bool was_seen = readiness->arena != NULL;
  *is_ready_out =
      was_seen && !is_overdue && !csi_readiness_is_stopping(readiness) && find_ready(readiness, group);
  pthread_mutex_unlock(&readiness->lock);
  return was_seen;
}

bool csi_readiness_is_ready(struct csi_readiness *readiness, int64_t deadline_ns) {
  if (csi_readiness_is_stopping(readiness)) return false;
  bool is_ready = begin(readiness, deadline_ns);
  for (size_t i = 0; is_ready && i < CSI_PARTS_GROUPS; i++)
    is_ready = readiness->groups[i].is_ready || !readiness->groups[i].is_required;
  pthread_mutex_unlock(&readiness->lock);
  return is_ready;
}

/* ---- Copies. ---- */

/* Names of groups are literals. */
static bool copy_group(struct csi_arena *arena, const struct csi_group_parts *from,
                       struct csi_group_parts *to) {
  *to = *from;
  to->parts = csi_arena_alloc_array(arena, from->count + 1, sizeof *to->parts);
  if (to->parts == NULL) return false;
  for (size_t i = 0; i < from->count; i++) {
    to->parts[i] = from->parts[i];
    to->parts[i].name = csi_arena_strdup(arena, from->parts[i].name);
    to->parts[i].detail = csi_arena_strdup(arena, from->parts[i].detail);
    if (to->parts[i].name == NULL || to->parts[i].detail == NULL) return false;
  }
  return true;
}

/* What to tell while a look does not end. The lock is held. */
static bool copy_unknown(const struct csi_readiness *readiness, struct csi_ctx *ctx,
                         struct csi_group_parts *groups) {
  const char *why = csi_arena_printf(
      ctx->arena, "%s has not answered for %" PRId64 " s; until it does, nothing is known of the others",
      atomic_load(&readiness->at), (csi_now_ns() - readiness->begin_ns) / NS_PER_S);
  return why != NULL && csi_parts_unknown(ctx, why, groups);
}

bool csi_readiness_copy(struct csi_readiness *readiness, struct csi_ctx *ctx,
                        struct csi_group_parts **groups_out) {
  struct csi_group_parts *groups = csi_arena_alloc_array(ctx->arena, CSI_PARTS_GROUPS, sizeof *groups);
  if (groups == NULL) return csi_fail_out_of_memory(&ctx->status);
  bool is_known = begin(readiness, ctx->deadline_ns), copied = is_known;
  for (size_t i = 0; copied && i < CSI_PARTS_GROUPS; i++)
    copied = copy_group(ctx->arena, &readiness->groups[i], &groups[i]);
  if (!is_known && readiness->is_being_looked_at) copied = copy_unknown(readiness, ctx, groups);
  pthread_mutex_unlock(&readiness->lock);
  *groups_out = groups;
  return copied || csi_fail_out_of_memory(&ctx->status);
}
