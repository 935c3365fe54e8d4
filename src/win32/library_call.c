/* SPDX-License-Identifier: Apache-2.0 */
#include "win32/library_call.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/call_timing.h"
#include "base/log.h"
#include "base/text.h"
#include "base/wipe.h"

enum {
  /* Threads that may be waiting for libraries while nobody waits for them, for each kind of object: one
   * library cannot take the others' away. */
  GIVEN_UP_MAX = 16,
  LOOK_MS = 50,    /* how soon a waiting caller notices that its client is gone */
  GRACE_MS = 1000, /* of a given-up call to return, before others on its object are refused */
  GRACE_LOOK_MS = 10,
  NS_PER_MS = 1000000,
  STACK_BYTES = 256 * 1024,
};

enum {
  RUNNING = 0,
  RETURNED,
  GIVEN_UP,
};

static SRWLOCK lock = SRWLOCK_INIT;
static struct csi_library_call *given_up; /* and still running */

void *csi_library_call_new(struct csi_ctx *ctx, size_t size_bytes, void (*run)(struct csi_library_call *call),
                           const char *name) {
  struct csi_library_call *call = calloc(1, size_bytes);
  if (call == NULL) {
    csi_fail_out_of_memory(&ctx->status);
    return NULL;
  }
  call->run = run;
  call->name = name;
  call->size_bytes = size_bytes;
  return call;
}

void csi_library_call_free(struct csi_library_call *call) {
  if (call == NULL) return;
  if (call->clean_up != NULL && call->begin_ns != 0) call->clean_up(call);
  if (call->thread != NULL) CloseHandle(call->thread);
  csi_wipe(call, call->size_bytes);
  free(call);
}

static int64_t age_s(const struct csi_library_call *call) {
  return (csi_now_ns() - call->begin_ns) / (INT64_C(1000) * NS_PER_MS);
}

/* The library has returned to nobody. */
static void end_given_up(struct csi_library_call *call) {
  AcquireSRWLockExclusive(&lock);
  *call->place = call->next;
  if (call->next != NULL) call->next->place = call->place;
  ReleaseSRWLockExclusive(&lock);
  CSI_LOG(WARNING,
          "%s on %s has returned after %" PRId64 " s with %" PRIu32 "; nobody waited for it any more",
          call->name, call->object, age_s(call), call->error);
  csi_library_call_free(call);
}

static DWORD WINAPI run(void *context) {
  struct csi_library_call *call = context;
  call->run(call);
  int expected = RUNNING;
  if (!atomic_compare_exchange_strong(&call->state, &expected, RETURNED)) end_given_up(call);
  return 0;
}

/* False when it has returned in this very moment. */
static bool give_up(struct csi_library_call *call) {
  int expected = RUNNING;
  AcquireSRWLockExclusive(&lock);
  bool running = atomic_compare_exchange_strong(&call->state, &expected, GIVEN_UP);
  if (running) {
    call->next = given_up;
    call->place = &given_up;
    if (call->next != NULL) call->next->place = &call->next;
    given_up = call;
    /* Helps where the library waits for a device or a pipe. */
    CancelSynchronousIo(call->thread);
  }
  ReleaseSRWLockExclusive(&lock);
  return running;
}

size_t csi_library_count_given_up(void) {
  size_t count = 0;
  AcquireSRWLockShared(&lock);
  for (const struct csi_library_call *call = given_up; call != NULL; call = call->next)
    count++;
  ReleaseSRWLockShared(&lock);
  return count;
}

static void copy_object(char object_out[CSI_LIBRARY_OBJECT_BYTES], const char *prefix, const char *object) {
  size_t prefix_bytes = strlen(prefix);
  size_t length_bytes = csi_utf8_cut(object, strlen(object), CSI_LIBRARY_OBJECT_BYTES - prefix_bytes - 1);
  memcpy(object_out, prefix, prefix_bytes);
  memcpy(object_out + prefix_bytes, object, length_bytes);
  object_out[prefix_bytes + length_bytes] = '\0';
}

/* Fails when more than this many calls on the object have been given up. The lock is taken. */
static bool check_object(struct csi_ctx *ctx, const char *object, unsigned tolerated) {
  unsigned count = 0;
  for (const struct csi_library_call *other = given_up; other != NULL; other = other->next)
    if (strcmp(other->object, object) == 0 && ++count > tolerated)
      return csi_fail(&ctx->status, CSI_UNAVAILABLE, "%s: %s has not returned for %" PRId64 " s", object,
                      other->name, age_s(other));
  return true;
}

/* Fails when too many calls on objects of this kind have been given up. The lock is taken. */
static bool check_kind(struct csi_ctx *ctx, const char *object) {
  size_t kind_bytes = strcspn(object, " ") + 1; /* with the blank or the NUL behind it */
  unsigned count = 0;
  for (const struct csi_library_call *other = given_up; other != NULL; other = other->next)
    if (strncmp(other->object, object, kind_bytes) == 0) count++;
  return count < GIVEN_UP_MAX || csi_fail(&ctx->status, CSI_UNAVAILABLE,
                                          "%s: %u calls of the system have not returned", object, count);
}

/* A call whose asker's time was over in the middle of it mostly returns a moment later, and is waited for.
 *
 * runs: the object is asked for in order to run a call. */
static bool await_turn(struct csi_ctx *ctx, const char *object, unsigned tolerated, bool runs) {
  const int64_t end_ns = csi_now_ns() + GRACE_MS * INT64_C(1000000);
  for (;;) {
    AcquireSRWLockShared(&lock);
    bool allowed = check_object(ctx, object, tolerated) && (!runs || check_kind(ctx, object));
    ReleaseSRWLockShared(&lock);
    if (allowed || csi_now_ns() >= end_ns) return allowed;
    csi_status_clear(&ctx->status);
    if (!csi_pause(ctx, GRACE_LOOK_MS)) return false;
  }
}

bool csi_library_object_is_free(struct csi_ctx *ctx, const char *object) {
  char wanted[CSI_LIBRARY_OBJECT_BYTES];
  copy_object(wanted, "", object);
  return await_turn(ctx, wanted, 0, false);
}

/* False with a status when nobody waits any more. */
static bool await(struct csi_ctx *ctx, const struct csi_library_call *call, uint32_t limit_ms) {
  const int64_t end_ns = call->begin_ns + (int64_t)limit_ms * NS_PER_MS;
  for (;;) {
    uint32_t slice_ms = csi_ctx_remaining_ms(ctx, LOOK_MS);
    if (WaitForSingleObject(call->thread, slice_ms == 0 ? 1 : slice_ms) == WAIT_OBJECT_0) return true;
    if (!csi_ctx_alive(ctx)) return csi_explain(&ctx->status, "%s: %s: ", call->object, call->name);
    if (csi_now_ns() >= end_ns)
      return csi_fail(&ctx->status, CSI_DEADLINE_EXCEEDED, "%s: %s did not return within %" PRIu32 " s",
                      call->object, call->name, limit_ms / 1000);
  }
}

/* The call runs. True when it has returned to us; otherwise it is ours no longer. */
static bool finish(struct csi_ctx *ctx, struct csi_library_call *call, uint32_t limit_ms) {
  const char *name = call->name; /* a call that is given up may be freed any moment */
  const int64_t begin_ns = call->begin_ns;
  bool returned = await(ctx, call, limit_ms);
  if (!returned && give_up(call)) {
    csi_call_timing_tell(name, csi_now_ns() - begin_ns, false);
    return false;
  }
  if (!returned) {
    csi_status_clear(&ctx->status); /* it has returned after all */
    WaitForSingleObject(call->thread, INFINITE);
  }
  csi_call_timing_tell(name, csi_now_ns() - begin_ns, call->error == 0);
  return true;
}

bool csi_library_call(struct csi_ctx *ctx, struct csi_library_call *call, uint32_t limit_ms,
                      const char *object) {
  copy_object(call->object, ctx->only_looks ? "look at " : "", object);
  if (!csi_ctx_alive(ctx) || !await_turn(ctx, call->object, call->tolerated, true)) {
    csi_library_call_free(call);
    return false;
  }
  call->begin_ns = csi_now_ns();
  call->thread = CreateThread(NULL, STACK_BYTES, run, call, STACK_SIZE_PARAM_IS_A_RESERVATION, NULL);
  if (call->thread == NULL) {
    csi_fail_system(&ctx->status, CSI_SPACE_WIN32, GetLastError(), "CreateThread", "%s: %s", call->object,
                    call->name);
    call->begin_ns = 0;
    csi_library_call_free(call);
    return false;
  }
  return finish(ctx, call, limit_ms);
}
