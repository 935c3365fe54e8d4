/* SPDX-License-Identifier: Apache-2.0
 *
 * Locks with names: calls on one disk, share or target follow one another, calls on different ones never
 * meet. First come, first served. Thread-safe.
 *
 * Who needs several takes them in this order: disk, volume, path.
 */
#ifndef CSI_BASE_KEYED_LOCK_H
#define CSI_BASE_KEYED_LOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/ctx.h"

enum {
  CSI_LOCK_KEY_BYTES = 384, /* longest key, NUL included */
};

struct csi_keyed_locks;

/* max_waiting: how many calls may wait for one key; more are refused, so that a device that hangs cannot
 * use up the workers. NULL when memory is short. */
struct csi_keyed_locks *csi_keyed_locks_new(uint32_t max_waiting);

/* Nobody may hold or wait for a lock any more. NULL is accepted. */
void csi_keyed_locks_free(struct csi_keyed_locks *locks);

/* Waits until nobody holds key, at most until the call's deadline, and takes it.
 *
 * key: `disk 3`, `share \\host\share`; at most CSI_LOCK_KEY_BYTES - 1 bytes; copied.
 * holder: what others are told they wait for, such as "FormatVolume"; a literal.
 * Keeps its memory in ctx->arena, which must live until the lock is given back.
 * Fails with DEADLINE_EXCEEDED or CANCELLED when the time is over, UNAVAILABLE when max_waiting calls wait
 * already; the text tells who holds it and for how long. Not recursive. */
bool csi_keyed_lock(struct csi_keyed_locks *locks, struct csi_ctx *ctx, const char *key,
                    const char *holder) CSI_MUST_CHECK;

/* Gives back what csi_keyed_lock() took. */
void csi_keyed_unlock(struct csi_keyed_locks *locks, const char *key);

/* A lock that is given back at the end of its scope. All zero when it is not held. */
struct csi_held_lock {
  struct csi_keyed_locks *locks;
  char key[CSI_LOCK_KEY_BYTES];
};
void csi_held_lock_release(struct csi_held_lock *lock);
#define CSI_SCOPED_LOCK __attribute__((cleanup(csi_held_lock_release))) struct csi_held_lock

/* As csi_keyed_lock(), for the key that stands in lock already. */
bool csi_held_lock_take(struct csi_keyed_locks *locks, struct csi_ctx *ctx, const char *holder,
                        struct csi_held_lock *lock) CSI_MUST_CHECK;

#endif
