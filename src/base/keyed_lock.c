/* SPDX-License-Identifier: Apache-2.0
 *
 * Every call that holds or waits for a lock has a ticket. `held` lists those of the holders; each of them
 * carries the queue of those who wait for its key, and hands it on with the lock.
 */
#include "base/keyed_lock.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
  NS_PER_MS = 1000000,
  NS_PER_S = 1000000000,
  /* Nobody signals that a client went away: a waiting call looks by itself. */
  LOOK_MS = 50,
};

struct ticket {
  char key[CSI_LOCK_KEY_BYTES];
  const char *holder;
  struct ticket *next; /* in `held`, or in a queue */

  bool granted;
  pthread_cond_t granted_changed;

  /* While it holds the lock. */
  int64_t since_ns;
  struct ticket *first_waiting;
  uint32_t waiting;
};

struct csi_keyed_locks {
  pthread_mutex_t mutex;
  struct ticket *held;
  uint32_t max_waiting;
};

struct csi_keyed_locks *csi_keyed_locks_new(uint32_t max_waiting) {
  struct csi_keyed_locks *locks = calloc(1, sizeof *locks);
  if (locks == NULL) return NULL;
  pthread_mutex_init(&locks->mutex, NULL);
  locks->max_waiting = max_waiting;
  return locks;
}

void csi_keyed_locks_free(struct csi_keyed_locks *locks) {
  if (locks == NULL) return;
  pthread_mutex_destroy(&locks->mutex);
  free(locks);
}

/* Finds the place in `held` that points to the holder of key; to NULL when there is none. */
static struct ticket **find(struct csi_keyed_locks *locks, const char *key) {
  struct ticket **place = &locks->held;
  while (*place != NULL && strcmp((*place)->key, key) != 0)
    place = &(*place)->next;
  return place;
}

/* Puts ticket in the place of the holder. */
static void grant(struct ticket **place, struct ticket *ticket) {
  ticket->next = *place;
  ticket->since_ns = csi_now_ns();
  ticket->granted = true;
  *place = ticket;
}

static void enqueue(struct ticket *holder, struct ticket *ticket) {
  struct ticket **end = &holder->first_waiting;
  while (*end != NULL)
    end = &(*end)->next;
  *end = ticket;
  holder->waiting++;
}

static void leave_queue(struct ticket *holder, const struct ticket *ticket) {
  struct ticket **place = &holder->first_waiting;
  while (*place != ticket)
    place = &(*place)->next;
  *place = ticket->next;
  holder->waiting--;
}

static int64_t held_s(const struct ticket *holder) {
  return (csi_now_ns() - holder->since_ns) / NS_PER_S;
}

/* Sleeps until something may have changed. */
static void wait_a_moment(struct csi_keyed_locks *locks, struct csi_ctx *ctx, struct ticket *ticket) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  /* At least one: the last fraction of a millisecond is not to be spun away. */
  int64_t nanoseconds = until.tv_nsec + ((int64_t)csi_ctx_remaining_ms(ctx, LOOK_MS - 1) + 1) * NS_PER_MS;
  until.tv_sec += (time_t)(nanoseconds / NS_PER_S);
  until.tv_nsec = (long)(nanoseconds % NS_PER_S);
  pthread_cond_timedwait(&ticket->granted_changed, &locks->mutex, &until);
}

/* Waits in the queue of the key. Called and left with the mutex held. */
static bool wait_for_grant(struct csi_keyed_locks *locks, struct csi_ctx *ctx, struct ticket *ticket) {
  pthread_cond_init(&ticket->granted_changed, NULL);
  while (!ticket->granted && csi_ctx_alive(ctx))
    wait_a_moment(locks, ctx, ticket);
  pthread_cond_destroy(&ticket->granted_changed);
  if (ticket->granted) return true;
  struct ticket *holder = *find(locks, ticket->key);
  leave_queue(holder, ticket);
  return csi_explain(&ctx->status, "%s is busy with %s for %" PRId64 " s: ", ticket->key, holder->holder,
                     held_s(holder));
}

static bool take(struct csi_keyed_locks *locks, struct csi_ctx *ctx, struct ticket *ticket) {
  struct ticket **place = find(locks, ticket->key);
  struct ticket *holder = *place;
  if (holder == NULL) {
    grant(place, ticket);
    return true;
  }
  if (holder->waiting >= locks->max_waiting) {
    return csi_fail(&ctx->status, CSI_UNAVAILABLE,
                    "%s is busy with %s for %" PRId64 " s, and %" PRIu32 " calls wait for it already; try "
                    "again later",
                    ticket->key, holder->holder, held_s(holder), holder->waiting);
  }
  enqueue(holder, ticket);
  return wait_for_grant(locks, ctx, ticket);
}

bool csi_keyed_lock(struct csi_keyed_locks *locks, struct csi_ctx *ctx, const char *key, const char *holder) {
  if (!csi_ctx_alive(ctx)) return false;
  size_t key_bytes = strlen(key) + 1;
  if (key_bytes > CSI_LOCK_KEY_BYTES)
    return csi_fail(&ctx->status, CSI_INTERNAL, "the name of a lock is too long: %s", key);
  struct ticket *ticket = csi_arena_alloc(ctx->arena, sizeof *ticket);
  if (ticket == NULL) return csi_fail_out_of_memory(&ctx->status);
  memcpy(ticket->key, key, key_bytes);
  ticket->holder = holder;
  pthread_mutex_lock(&locks->mutex);
  bool taken = take(locks, ctx, ticket);
  pthread_mutex_unlock(&locks->mutex);
  return taken;
}

void csi_keyed_unlock(struct csi_keyed_locks *locks, const char *key) {
  pthread_mutex_lock(&locks->mutex);
  struct ticket **place = find(locks, key);
  struct ticket *ticket = *place;
  if (ticket != NULL) {
    struct ticket *heir = ticket->first_waiting;
    *place = ticket->next;
    if (heir != NULL) {
      heir->first_waiting = heir->next;
      heir->waiting = ticket->waiting - 1;
      grant(place, heir);
      pthread_cond_signal(&heir->granted_changed);
    }
  }
  pthread_mutex_unlock(&locks->mutex);
}

void csi_held_lock_release(struct csi_held_lock *lock) {
  if (lock->locks != NULL) csi_keyed_unlock(lock->locks, lock->key);
  lock->locks = NULL;
}

bool csi_held_lock_take(struct csi_keyed_locks *locks, struct csi_ctx *ctx, const char *holder,
                        struct csi_held_lock *lock) {
  if (!csi_keyed_lock(locks, ctx, lock->key, holder)) return false;
  lock->locks = locks;
  return true;
}
