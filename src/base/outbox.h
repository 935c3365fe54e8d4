/* SPDX-License-Identifier: Apache-2.0
 *
 * Takes messages from threads that must not wait, and delivers them on a thread of its own: to a disk, to the
 * Event Log. Bounded: what does not fit is lost, counted, and told to whoever receives.
 */
#ifndef CSI_BASE_OUTBOX_H
#define CSI_BASE_OUTBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"

struct csi_outbox;

/* All are called on the outbox's thread, one at a time, and may block. */
struct csi_outbox_receiver {
  void *context;
  void (*deliver)(void *context, const void *message, size_t length_bytes);
  /* Before the next message: so many were lost since the last time. */
  void (*lost)(void *context, uint64_t count);
  /* Everything that was there has been delivered, for now; at least once for every max_bytes. May be NULL. */
  void (*drained)(void *context);
};

struct csi_outbox_load {
  size_t messages, bytes;
};

/* Makes an outbox and its thread.
 *
 * receiver: copied.
 * max_bytes: of messages that wait; more are lost.
 * NULL when memory is short or there can be no more threads. */
struct csi_outbox *csi_outbox_open(const struct csi_outbox_receiver *receiver, size_t max_bytes,
                                   struct csi_status *status) CSI_MUST_CHECK;

/* Copies the message into the queue. False when it is lost. Holds a lock for the copy; waits for nothing
 * else. Any thread, until csi_outbox_close() begins. */
bool csi_outbox_put(struct csi_outbox *outbox, const void *message, size_t length_bytes);

/* Messages that were lost so far. Any thread. */
uint64_t csi_outbox_lost(struct csi_outbox *outbox);

/* Waits until all that waits now or comes meanwhile has been delivered; false when wait_ms is over before.
 * left_out: what has not been delivered yet, with those that are being delivered. */
bool csi_outbox_flush(struct csi_outbox *outbox, uint32_t wait_ms, struct csi_outbox_load *left_out);

/* Delivers what waits, ends the thread, and frees the outbox; NULL is accepted. When the receiver hangs for
 * longer than wait_ms, false: thread and receiver go on until all is delivered or the process ends, and the
 * receiver must stay. left_out: as of csi_outbox_flush(). */
bool csi_outbox_close(struct csi_outbox *outbox, uint32_t wait_ms, struct csi_outbox_load *left_out);

#endif
