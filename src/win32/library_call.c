/* SPDX-License-Identifier: Apache-2.0 */
#include "win32/library_call.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "base/wipe.h"

enum {
  GIVEN_UP_MAX = 32, /* threads that may be waiting for libraries while nobody waits for them */
  LOOK_MS = 50,      /* how soon a waiting caller notices that its client is gone */
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
static unsigned given_up_count;

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
  given_up_count--;
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
    given_up_count++;
    /* Helps where the library waits for a device or a pipe. */
    CancelSynchronousIo(call->thread);
  }
  ReleaseSRWLockExclusive(&lock);
  return running;
}

static bool is_allowed(struct csi_ctx *ctx, const struct csi_library_call *call) {
  bool allowed = true;
  AcquireSRWLockShared(&lock);
  for (const struct csi_library_call *other = given_up; other != NULL && allowed; other = other->next)
    if (strcmp(other->object, call->object) == 0)
      allowed = csi_fail(&ctx->status, CSI_UNAVAILABLE, "%s: %s has not returned for %" PRId64 " s",
                         call->object, other->name, age_s(other));
  if (allowed && given_up_count >= GIVEN_UP_MAX)
    allowed = csi_fail(&ctx->status, CSI_UNAVAILABLE, "%s: %u calls of the system have not returned",
                       call->object, given_up_count);
  ReleaseSRWLockShared(&lock);
  return allowed;
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

bool csi_library_call(struct csi_ctx *ctx, struct csi_library_call *call, uint32_t limit_ms,
                      const char *object) {
  size_t length_bytes = csi_utf8_cut(object, strlen(object), sizeof call->object - 1);
  memcpy(call->object, object, length_bytes);
  call->object[length_bytes] = '\0';
  if (!csi_ctx_alive(ctx) || !is_allowed(ctx, call)) {
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
  if (await(ctx, call, limit_ms) || give_up(call)) return csi_status_ok(&ctx->status);
  csi_status_clear(&ctx->status); /* it has returned after all */
  WaitForSingleObject(call->thread, INFINITE);
  return true;
}
