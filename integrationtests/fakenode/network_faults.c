/* SPDX-License-Identifier: Apache-2.0 */
#include "network_faults.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "network/faults.h"

enum {
  RESIDENTS_MAX = 4,
  WAIT_US = 1000,
  COMMAND_BYTES = 256,
  REPLY_BYTES = 64,
  NS_PER_MS = 1000000,
};

struct resident {
  void (*reset)(void *fake);
  void *fake;
};

struct csi_fake_network {
  pthread_mutex_t lock; /* guards what follows */
  struct network_state state;
  size_t struck;
  struct resident residents[RESIDENTS_MAX];
  size_t resident_count;
  csi_fake_network_hook *hook;
  void *hook_data;
};

static void impossible(const char *what, const char *name) {
  fprintf(stderr, "network_faults: %s %s\n", what, name);
  abort();
}

struct network_state *csi_fake_network_open(struct csi_fake_network *network) {
  pthread_mutex_lock(&network->lock);
  return &network->state;
}

void csi_fake_network_close(struct csi_fake_network *network) {
  if (network->state.is_broken) impossible("no memory, or too much of everything", "");
  pthread_mutex_unlock(&network->lock);
}

static struct csi_fake_network *enter(struct csi_fake_network *network) {
  csi_fake_network_open(network);
  return network;
}

static void leave(struct csi_fake_network **network) {
  csi_fake_network_close(*network);
}

/* Holds the lock to the end of the scope. */
#define VISIT(network)                                                                                       \
  __attribute__((cleanup(leave), unused)) struct csi_fake_network *visited = enter(network)

struct csi_fake_network *csi_fake_network_new(void) {
  struct csi_fake_network *network = calloc(1, sizeof *network);
  if (network == NULL) abort();
  pthread_mutex_init(&network->lock, NULL);
  return network;
}

void csi_fake_network_free(struct csi_fake_network *network) {
  if (network == NULL) return;
  network_state_clear(&network->state);
  pthread_mutex_destroy(&network->lock);
  free(network);
}

void csi_fake_network_on_reset(struct csi_fake_network *network, void (*reset)(void *fake), void *fake) {
  VISIT(network);
  if (network->resident_count == RESIDENTS_MAX) impossible("too many fakes", "");
  network->residents[network->resident_count++] = (struct resident){.reset = reset, .fake = fake};
}

/* ---- Steps. ---- */

static uint64_t clearings(struct csi_fake_network *network) {
  VISIT(network);
  return network_faults_clearings(&network->state);
}

static bool wait(struct csi_fake_network *network, struct csi_ctx *ctx, const char *call,
                 const struct network_fault *fault, uint64_t clearings_before) {
  int64_t end_ns = fault->hangs ? INT64_MAX : csi_now_ns() + (int64_t)fault->delay_ms * NS_PER_MS;
  while (csi_now_ns() < end_ns && clearings(network) == clearings_before) {
    if (!csi_ctx_alive(ctx)) return csi_explain(&ctx->status, "%s: ", call);
    usleep(WAIT_US);
  }
  return true;
}

static void call_hook(struct csi_fake_network *network, const char *call) {
  csi_fake_network_hook *hook;
  void *data;
  {
    VISIT(network);
    hook = network->hook;
    data = network->hook_data;
  }
  if (hook != NULL) hook(network, call, data);
}

bool csi_fake_network_step(struct csi_fake_network *network, struct csi_ctx *ctx, const char *call,
                           enum csi_error_space space, const char *object) {
  if (!csi_ctx_alive(ctx)) return false;
  call_hook(network, call);
  struct network_fault fault;
  uint64_t clearings_before;
  {
    VISIT(network);
    fault = network_faults_take(&network->state, call);
    clearings_before = network_faults_clearings(&network->state);
    if (fault.error != 0 || fault.delay_ms != 0 || fault.hangs) network->struck++;
  }
  if ((fault.hangs || fault.delay_ms != 0) && !wait(network, ctx, call, &fault, clearings_before))
    return false;
  return fault.error == 0 || csi_fail_system(&ctx->status, space, fault.error, call, "%s", object);
}

/* ---- Faults. ---- */

/* `network` and the line. */
static void command(struct csi_fake_network *network, const char *line) {
  char copy[COMMAND_BYTES], reply[REPLY_BYTES];
  struct vdisk_words words;
  struct vdisk_text text;
  const char *problem = "too long:";
  vdisk_text_init(&text, reply, sizeof reply);
  if (snprintf(copy, sizeof copy, "%s", line) >= (int)sizeof copy || !vdisk_words_split(&words, copy) ||
      !network_command(&network->state, &words, &text, &problem))
    impossible(problem, line);
}

void csi_fake_network_add_fault(struct csi_fake_network *network,
                                const struct csi_fake_network_fault *fault) {
  char line[COMMAND_BYTES];
  snprintf(line, sizeof line, "fault add call=%.*s nth=%u count=%u error=%u delay=%u%s",
           CSI_FAKE_NETWORK_CALL_BYTES, fault->call == NULL ? "any" : fault->call,
           fault->nth == 0 ? 1 : fault->nth, fault->count, (unsigned)fault->error, (unsigned)fault->delay_ms,
           fault->hang ? " hang" : "");
  VISIT(network);
  command(network, line);
}

void csi_fake_network_clear_faults(struct csi_fake_network *network) {
  VISIT(network);
  command(network, "fault clear");
  network->struck = 0;
}

size_t csi_fake_network_struck(struct csi_fake_network *network) {
  VISIT(network);
  return network->struck;
}

void csi_fake_network_set_hook(struct csi_fake_network *network, csi_fake_network_hook *hook, void *data) {
  VISIT(network);
  network->hook = hook;
  network->hook_data = data;
}

/* ---- What happened. ---- */

size_t csi_fake_network_count(struct csi_fake_network *network, const char *call) {
  VISIT(network);
  size_t sum = 0;
  const struct network_record *counter = NULL;
  while ((counter = network_next(&network->state, "counter", counter)) != NULL)
    if (call == NULL || network_has(counter, "call", call)) sum += network_get_number(counter, "count", 0);
  return sum;
}

void csi_fake_network_reset_counts(struct csi_fake_network *network) {
  VISIT(network);
  network_remove_all(&network->state, "counter");
}

void csi_fake_network_reset(struct csi_fake_network *network) {
  struct resident residents[RESIDENTS_MAX];
  size_t resident_count;
  {
    VISIT(network);
    command(network, "reset");
    network->struck = 0;
    memcpy(residents, network->residents, sizeof residents);
    resident_count = network->resident_count;
  }
  for (size_t i = 0; i < resident_count; i++)
    residents[i].reset(residents[i].fake);
}
