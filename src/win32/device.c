/* SPDX-License-Identifier: Apache-2.0
 *
 * Handles here are synchronous: one system call a device call. What bounds them is one thread for all, the
 * watchdog, which looks at the calls under way a few times a second while there are any.
 */
#include "win32/device.h"

#include <string.h>
#include <winioctl.h>

#include "base/call_timing.h"
#include "base/log.h"
#include "base/text.h"

enum {
  LOOK_MS = 50,
  IDLE_MS = 10 * 1000, /* then the watchdog ends */
  WATCHDOG_STACK_BYTES = 64 * 1024,
  HANG_MS = 1000, /* so long after its cancellation a call that is still there hangs */
  MAX_HANGING = 2,
  NS_PER_MS = 1000000,
  NS_PER_S = 1000000000,
};

/* -- Watchdog -------------------------------------------------------------------------------------- */

static SRWLOCK watch_lock = SRWLOCK_INIT;
static CONDITION_VARIABLE cancel_over = CONDITION_VARIABLE_INIT;
static struct csi_device_watch *watches;
static bool watchdog_runs;
static uint64_t watchdog_round;

static bool is_overdue(const struct csi_device_watch *watch) {
  return csi_now_ns() >= watch->deadline_ns ||
         (watch->client_gone != NULL && atomic_load_explicit(watch->client_gone, memory_order_relaxed));
}

/* A thread that is on its way into the call, or in a call made of several, has nothing to cancel now; the
 * next look finds it. */
static bool cancel_thread(DWORD thread_id) {
  HANDLE thread = OpenThread(THREAD_TERMINATE, FALSE, thread_id);
  if (thread == NULL) return false;
  CancelSynchronousIo(thread);
  CloseHandle(thread);
  return true;
}

/* Called and left with the lock held, but without it meanwhile: a driver may be slow to cancel, and the
 * calls on other devices must not wait for it. The mark keeps the thread in its watch: a later call of it is
 * never hit. */
static void cancel(struct csi_device_watch *watch) {
  bool first = watch->cancelled_ns == 0;
  if (first) watch->cancelled_ns = csi_now_ns();
  watch->being_cancelled = true;
  DWORD thread_id = watch->thread_id;
  ReleaseSRWLockExclusive(&watch_lock);
  bool cancelled = cancel_thread(thread_id);
  AcquireSRWLockExclusive(&watch_lock);
  if (first && !cancelled) watch->cancelled_ns = 0;
  watch->being_cancelled = false;
  WakeAllConditionVariable(&cancel_over);
}

static struct csi_device_watch *find_overdue(void) {
  struct csi_device_watch *watch = watches;
  while (watch != NULL && (watch->round == watchdog_round || !is_overdue(watch)))
    watch = watch->next;
  return watch;
}

/* Says whether there was anything to look at. The list may change during each cancellation. */
static bool look(void) {
  bool any = watches != NULL;
  watchdog_round++;
  for (struct csi_device_watch *watch; (watch = find_overdue()) != NULL;) {
    watch->round = watchdog_round;
    cancel(watch);
  }
  return any;
}

static DWORD WINAPI watchdog(void *unused) {
  (void)unused;
  int64_t last_used_ns = csi_now_ns();
  for (;;) {
    Sleep(LOOK_MS);
    AcquireSRWLockExclusive(&watch_lock);
    if (look()) last_used_ns = csi_now_ns();
    bool idle = watches == NULL && csi_now_ns() - last_used_ns > (int64_t)IDLE_MS * NS_PER_MS;
    if (idle) watchdog_runs = false;
    ReleaseSRWLockExclusive(&watch_lock);
    if (idle) return 0;
  }
}

/* The lock is held. */
static bool start_watchdog(void) {
  if (watchdog_runs) return true;
  HANDLE thread =
      CreateThread(NULL, WATCHDOG_STACK_BYTES, watchdog, NULL, STACK_SIZE_PARAM_IS_A_RESERVATION, NULL);
  if (thread == NULL) return false;
  CloseHandle(thread);
  watchdog_runs = true;
  return true;
}

/* -- Watch ----------------------------------------------------------------------------------------- */

static void set_up(struct csi_device_watch *watch, const struct csi_ctx *ctx, uint32_t limit_ms) {
  int64_t now_ns = csi_now_ns();
  *watch = (struct csi_device_watch){
      .client_gone = ctx->cancelled,
      .begin_ns = now_ns,
      .limit_ms = csi_ctx_remaining_ms(ctx, limit_ms),
      .thread_id = GetCurrentThreadId(),
  };
  watch->deadline_ns = now_ns + (int64_t)watch->limit_ms * NS_PER_MS;
}

/* The lock is held. */
static void enter(struct csi_device_watch *watch) {
  watch->next = watches;
  watch->place = &watches;
  if (watches != NULL) watches->place = &watch->next;
  watches = watch;
  if (!start_watchdog())
    CSI_LOG(WARNING, "No thread can be started: a device that hangs will not be given up");
}

static bool hangs(const struct csi_device_watch *watch, int64_t now_ns) {
  return watch->cancelled_ns != 0 && now_ns - watch->cancelled_ns >= (int64_t)HANG_MS * NS_PER_MS;
}

size_t csi_device_count_hanging(void) {
  size_t count = 0;
  int64_t now_ns = csi_now_ns();
  AcquireSRWLockExclusive(&watch_lock);
  for (const struct csi_device_watch *watch = watches; watch != NULL; watch = watch->next)
    if (hangs(watch, now_ns)) count++;
  ReleaseSRWLockExclusive(&watch_lock);
  return count;
}

/* The lock is held. */
static bool answers(struct csi_ctx *ctx, const char *object) {
  int64_t now_ns = csi_now_ns();
  const struct csi_device_watch *first = NULL;
  unsigned hanging = 0;
  for (const struct csi_device_watch *watch = watches; watch != NULL; watch = watch->next) {
    if (!hangs(watch, now_ns) || strcmp(watch->object, object) != 0) continue;
    hanging++;
    if (first == NULL || watch->begin_ns < first->begin_ns) first = watch;
  }
  return hanging < MAX_HANGING ||
         csi_fail(&ctx->status, CSI_UNAVAILABLE, "%s has not answered for %lld s (%s); %u calls hang in it",
                  object, (long long)((now_ns - first->begin_ns) / NS_PER_S), first->call, hanging);
}

bool csi_device_watch_begin_on(struct csi_ctx *ctx, struct csi_device_watch *watch, uint32_t limit_ms,
                               const char *call, const char *object) {
  set_up(watch, ctx, limit_ms);
  watch->call = call;
  memcpy(watch->object, object, strnlen(object, sizeof watch->object - 1));
  AcquireSRWLockExclusive(&watch_lock);
  bool entered = answers(ctx, watch->object);
  if (entered) enter(watch);
  ReleaseSRWLockExclusive(&watch_lock);
  return entered;
}

void csi_device_watch_begin(struct csi_ctx *ctx, struct csi_device_watch *watch, uint32_t limit_ms,
                            const char *call) {
  set_up(watch, ctx, limit_ms);
  watch->call = call;
  AcquireSRWLockExclusive(&watch_lock);
  enter(watch);
  ReleaseSRWLockExclusive(&watch_lock);
}

bool csi_device_watch_end(struct csi_device_watch *watch, bool succeeded) {
  if (watch->call != NULL) csi_call_timing_tell(watch->call, csi_now_ns() - watch->begin_ns, succeeded);
  AcquireSRWLockExclusive(&watch_lock);
  while (watch->being_cancelled)
    SleepConditionVariableSRW(&cancel_over, &watch_lock, INFINITE, 0);
  *watch->place = watch->next;
  if (watch->next != NULL) watch->next->place = watch->place;
  ReleaseSRWLockExclusive(&watch_lock);
  return watch->cancelled_ns != 0;
}

bool csi_device_fail(struct csi_ctx *ctx, const struct csi_device_watch *watch, DWORD error, const char *call,
                     const char *object) {
  if (watch->cancelled_ns == 0)
    return csi_fail_system(&ctx->status, CSI_SPACE_WIN32, error, call, "%s", object);
  if (csi_now_ns() < watch->deadline_ns)
    return csi_fail(&ctx->status, CSI_CANCELLED, "%s: %s was given up: the request was cancelled", object,
                    call);
  csi_fail(&ctx->status, CSI_DEADLINE_EXCEEDED, "%s: %s did not answer within %.3g s", object, call,
           watch->limit_ms / 1000.0);
  ctx->status.call = call;
  return false;
}

/* -- Calls ----------------------------------------------------------------------------------------- */

/* UNVERIFIED ON WINDOWS: that an open which a device keeps waiting is cancelled, as the documentation says;
 * no device in Wine can keep one waiting. */
bool csi_device_open(struct csi_ctx *ctx, const wchar_t *path_w, DWORD access, const char *object,
                     HANDLE *handle_out) {
  if (!csi_ctx_alive(ctx)) return csi_explain(&ctx->status, "%s: ", object);
  struct csi_device_watch watch;
  if (!csi_device_watch_begin_on(ctx, &watch, CSI_DEVICE_CALL_MS, "CreateFileW", object)) return false;
  HANDLE handle =
      CreateFileW(path_w, access, FILE_SHARE_READ | FILE_SHARE_WRITE, NULL, OPEN_EXISTING, 0, NULL);
  DWORD error = GetLastError();
  csi_device_watch_end(&watch, handle != INVALID_HANDLE_VALUE);
  if (handle == INVALID_HANDLE_VALUE) return csi_device_fail(ctx, &watch, error, "CreateFileW", object);
  *handle_out = handle;
  return true;
}

/* A control call, and what it needs room for. */
struct control_call {
  HANDLE device;
  struct csi_control control;
  const void *in;
  size_t in_bytes;
  void *out;
  size_t out_bytes;
  size_t *returned_bytes_out;
};

/* That there is not enough room for the answer is an answer. */
static bool is_answer(DWORD error) {
  return error == ERROR_SUCCESS || error == ERROR_MORE_DATA || error == ERROR_INSUFFICIENT_BUFFER;
}

/* The call itself. False when it was not even begun. error_out: 0 or a Win32 error, after which watch tells
 * whether it was cancelled. */
static bool control_once(struct csi_ctx *ctx, const struct control_call *call, const char *object,
                         uint32_t limit_ms, struct csi_device_watch *watch, DWORD *error_out) {
  if (!csi_ctx_alive(ctx)) return csi_explain(&ctx->status, "%s: %s: ", object, call->control.name);
  DWORD returned = 0;
  if (!csi_device_watch_begin_on(ctx, watch, limit_ms, call->control.name, object)) return false;
  BOOL done = DeviceIoControl(call->device, call->control.code, (void *)call->in, (DWORD)call->in_bytes,
                              call->out, (DWORD)call->out_bytes, &returned, NULL);
  *error_out = done ? ERROR_SUCCESS : GetLastError();
  csi_device_watch_end(watch, is_answer(*error_out));
  if (call->returned_bytes_out != NULL)
    *call->returned_bytes_out = returned < call->out_bytes ? returned : call->out_bytes;
  return true;
}

bool csi_device_control_for(struct csi_ctx *ctx, HANDLE device, struct csi_control control, const void *in,
                            size_t in_bytes, void *out, size_t out_bytes, size_t *returned_bytes_out,
                            const char *object, uint32_t limit_ms) {
  const struct control_call call = {device, control, in, in_bytes, out, out_bytes, returned_bytes_out};
  struct csi_device_watch watch;
  DWORD error = ERROR_SUCCESS;
  if (!control_once(ctx, &call, object, limit_ms, &watch, &error)) return false;
  return error == ERROR_SUCCESS || csi_device_fail(ctx, &watch, error, control.name, object);
}

bool csi_device_control(struct csi_ctx *ctx, HANDLE device, struct csi_control control, const void *in,
                        size_t in_bytes, void *out, size_t out_bytes, size_t *returned_bytes_out,
                        const char *object) {
  return csi_device_control_for(ctx, device, control, in, in_bytes, out, out_bytes, returned_bytes_out,
                                object, CSI_DEVICE_CALL_MS);
}

bool csi_device_control_grow(struct csi_ctx *ctx, HANDLE device, struct csi_control control, const void *in,
                             size_t in_bytes, size_t first_bytes, size_t max_bytes, const uint8_t **out,
                             size_t *returned_bytes_out, const char *object) {
  for (size_t bytes = first_bytes;; bytes = bytes < max_bytes / 2 ? bytes * 2 : max_bytes) {
    uint8_t *buffer = csi_arena_alloc(ctx->arena, bytes);
    if (buffer == NULL) return csi_fail_out_of_memory(&ctx->status);
    const struct control_call call = {device, control, in, in_bytes, buffer, bytes, returned_bytes_out};
    struct csi_device_watch watch;
    DWORD error = ERROR_SUCCESS;
    if (!control_once(ctx, &call, object, CSI_DEVICE_CALL_MS, &watch, &error)) return false;
    if (error == ERROR_SUCCESS) {
      *out = buffer;
      return true;
    }
    if (!is_answer(error) || bytes >= max_bytes)
      return csi_device_fail(ctx, &watch, error, control.name, object);
  }
}

static OVERLAPPED at_offset(uint64_t offset_bytes) {
  return (OVERLAPPED){.Offset = (DWORD)offset_bytes, .OffsetHigh = (DWORD)(offset_bytes >> 32)};
}

/* What a synchronous handle moved of a transfer; less than asked for only beyond the end. */
static bool check_transfer(struct csi_ctx *ctx, const char *call, uint64_t offset_bytes, size_t size_bytes,
                           DWORD moved_bytes, const char *object) {
  return moved_bytes == size_bytes ||
         csi_fail(&ctx->status, CSI_DATA_LOSS, "%s: %s at %llu moved %lu of %zu bytes", object, call,
                  (unsigned long long)offset_bytes, moved_bytes, size_bytes);
}

bool csi_device_read(struct csi_ctx *ctx, HANDLE device, uint64_t offset_bytes, void *out, size_t size_bytes,
                     const char *object) {
  if (!csi_ctx_alive(ctx)) return csi_explain(&ctx->status, "%s: ", object);
  OVERLAPPED at = at_offset(offset_bytes);
  DWORD moved_bytes = 0;
  struct csi_device_watch watch;
  if (!csi_device_watch_begin_on(ctx, &watch, CSI_DEVICE_CALL_MS, "ReadFile", object)) return false;
  BOOL done = ReadFile(device, out, (DWORD)size_bytes, &moved_bytes, &at);
  DWORD error = done ? ERROR_SUCCESS : GetLastError();
  csi_device_watch_end(&watch, done);
  if (!done) return csi_device_fail(ctx, &watch, error, "ReadFile", object);
  return check_transfer(ctx, "ReadFile", offset_bytes, size_bytes, moved_bytes, object);
}

bool csi_device_write(struct csi_ctx *ctx, HANDLE device, uint64_t offset_bytes, const void *in,
                      size_t size_bytes, const char *object) {
  if (!csi_ctx_alive(ctx)) return csi_explain(&ctx->status, "%s: ", object);
  OVERLAPPED at = at_offset(offset_bytes);
  DWORD moved_bytes = 0;
  struct csi_device_watch watch;
  if (!csi_device_watch_begin_on(ctx, &watch, CSI_DEVICE_CALL_MS, "WriteFile", object)) return false;
  BOOL done = WriteFile(device, in, (DWORD)size_bytes, &moved_bytes, &at);
  DWORD error = done ? ERROR_SUCCESS : GetLastError();
  csi_device_watch_end(&watch, done);
  if (!done) return csi_device_fail(ctx, &watch, error, "WriteFile", object);
  return check_transfer(ctx, "WriteFile", offset_bytes, size_bytes, moved_bytes, object);
}

bool csi_device_flush(struct csi_ctx *ctx, HANDLE device, const char *object) {
  if (!csi_ctx_alive(ctx)) return csi_explain(&ctx->status, "%s: ", object);
  struct csi_device_watch watch;
  if (!csi_device_watch_begin_on(ctx, &watch, CSI_DEVICE_FLUSH_MS, "FlushFileBuffers", object)) return false;
  BOOL done = FlushFileBuffers(device);
  DWORD error = done ? ERROR_SUCCESS : GetLastError();
  csi_device_watch_end(&watch, done);
  return done || csi_device_fail(ctx, &watch, error, "FlushFileBuffers", object);
}
