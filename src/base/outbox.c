/* SPDX-License-Identifier: Apache-2.0 */
#include "base/outbox.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/timed_wait.h"

struct message {
  struct message *next;
  size_t length_bytes;
  char bytes[];
};

struct csi_outbox {
  struct csi_outbox_receiver receiver;
  size_t max_bytes;
  atomic_uint users;    /* the opener and the thread; the last one frees it, when it has let go of the lock */
  pthread_mutex_t lock; /* all below */
  pthread_cond_t changed;
  struct message *first, **end;
  struct csi_outbox_load waiting; /* with those that are being delivered */
  uint64_t lost_count, told_count;
  bool closing;
  bool ended; /* the thread delivers nothing more */
};

static void let_go(struct csi_outbox *outbox) {
  if (atomic_fetch_sub(&outbox->users, 1) > 1) return;
  (void)pthread_mutex_destroy(&outbox->lock);
  (void)pthread_cond_destroy(&outbox->changed);
  free(outbox);
}

/* Takes all that waits. Blocks until there is something; NULL when there will be nothing more. */
static struct message *take_all(struct csi_outbox *outbox, struct csi_outbox_load *load_out,
                                uint64_t *lost_out) {
  (void)pthread_mutex_lock(&outbox->lock);
  while (!outbox->first && !outbox->closing && outbox->lost_count == outbox->told_count)
    (void)pthread_cond_wait(&outbox->changed, &outbox->lock);
  struct message *messages = outbox->first;
  outbox->first = NULL;
  outbox->end = &outbox->first;
  *load_out = outbox->waiting;
  *lost_out = outbox->lost_count - outbox->told_count;
  outbox->told_count = outbox->lost_count;
  (void)pthread_mutex_unlock(&outbox->lock);
  return messages;
}

static void deliver_all(struct csi_outbox *outbox, struct message *message) {
  while (message) {
    struct message *next = message->next;
    outbox->receiver.deliver(outbox->receiver.context, message->bytes, message->length_bytes);
    free(message);
    message = next;
  }
}

static void *run(void *data) {
  struct csi_outbox *outbox = data;
  for (;;) {
    struct csi_outbox_load load;
    uint64_t lost;
    struct message *messages = take_all(outbox, &load, &lost);
    if (!messages && lost == 0) break;
    deliver_all(outbox, messages);
    if (lost > 0) outbox->receiver.lost(outbox->receiver.context, lost);
    if (outbox->receiver.drained) outbox->receiver.drained(outbox->receiver.context);
    (void)pthread_mutex_lock(&outbox->lock);
    outbox->waiting.messages -= load.messages;
    outbox->waiting.bytes -= load.bytes;
    (void)pthread_cond_broadcast(&outbox->changed);
    (void)pthread_mutex_unlock(&outbox->lock);
  }
  (void)pthread_mutex_lock(&outbox->lock);
  outbox->ended = true;
  (void)pthread_cond_broadcast(&outbox->changed);
  (void)pthread_mutex_unlock(&outbox->lock);
  let_go(outbox);
  return NULL;
}

static bool start_thread(struct csi_outbox *outbox) {
  pthread_attr_t attributes;
  pthread_t thread;
  (void)pthread_attr_init(&attributes);
  (void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  const bool started = pthread_create(&thread, &attributes, run, outbox) == 0;
  (void)pthread_attr_destroy(&attributes);
  return started;
}

struct csi_outbox *csi_outbox_open(const struct csi_outbox_receiver *receiver, size_t max_bytes,
                                   struct csi_status *status) {
  struct csi_outbox *outbox = calloc(1, sizeof *outbox);
  if (!outbox) {
    csi_fail_out_of_memory(status);
    return NULL;
  }
  outbox->receiver = *receiver;
  outbox->max_bytes = max_bytes;
  outbox->end = &outbox->first;
  (void)pthread_mutex_init(&outbox->lock, NULL);
  csi_timed_wait_init(&outbox->changed);
  atomic_init(&outbox->users, 2);
  if (start_thread(outbox)) return outbox;
  csi_fail(status, CSI_RESOURCE_EXHAUSTED, "pthread_create: no more threads");
  atomic_store(&outbox->users, 1);
  let_go(outbox);
  return NULL;
}

static struct message *copy_of(const void *bytes, size_t length_bytes) {
  struct message *message = malloc(sizeof *message + length_bytes);
  if (!message) return NULL;
  message->next = NULL;
  message->length_bytes = length_bytes;
  memcpy(message->bytes, bytes, length_bytes);
  return message;
}

bool csi_outbox_put(struct csi_outbox *outbox, const void *bytes, size_t length_bytes) {
  struct message *message = copy_of(bytes, length_bytes);
  (void)pthread_mutex_lock(&outbox->lock);
  const bool taken = message && !outbox->closing && length_bytes <= outbox->max_bytes - outbox->waiting.bytes;
  if (taken) {
    *outbox->end = message;
    outbox->end = &message->next;
    outbox->waiting.messages++;
    outbox->waiting.bytes += length_bytes;
  } else {
    outbox->lost_count++;
  }
  (void)pthread_cond_broadcast(&outbox->changed);
  (void)pthread_mutex_unlock(&outbox->lock);
  if (!taken) free(message);
  return taken;
}

uint64_t csi_outbox_lost(struct csi_outbox *outbox) {
  (void)pthread_mutex_lock(&outbox->lock);
  const uint64_t count = outbox->lost_count;
  (void)pthread_mutex_unlock(&outbox->lock);
  return count;
}

static int64_t after_ms(uint32_t wait_ms) {
  return csi_now_ns() + (int64_t)wait_ms * 1000000;
}

bool csi_outbox_flush(struct csi_outbox *outbox, uint32_t wait_ms, struct csi_outbox_load *left_out) {
  const int64_t until_ns = after_ms(wait_ms);
  (void)pthread_mutex_lock(&outbox->lock);
  while (outbox->waiting.messages > 0 && csi_timed_wait(&outbox->changed, &outbox->lock, until_ns)) {
  }
  *left_out = outbox->waiting;
  (void)pthread_mutex_unlock(&outbox->lock);
  return left_out->messages == 0;
}

bool csi_outbox_close(struct csi_outbox *outbox, uint32_t wait_ms, struct csi_outbox_load *left_out) {
  *left_out = (struct csi_outbox_load){0};
  if (!outbox) return true;
  const int64_t until_ns = after_ms(wait_ms);
  (void)pthread_mutex_lock(&outbox->lock);
  outbox->closing = true;
  (void)pthread_cond_broadcast(&outbox->changed);
  while (!outbox->ended && csi_timed_wait(&outbox->changed, &outbox->lock, until_ns)) {
  }
  const bool ended = outbox->ended;
  *left_out = outbox->waiting;
  (void)pthread_mutex_unlock(&outbox->lock);
  let_go(outbox);
  return ended;
}
