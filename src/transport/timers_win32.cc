/* SPDX-License-Identifier: Apache-2.0
 *
 * gRPC's timers (deadlines of calls, keep-alive) on the I/O engine's time-outs. gRPC's own need one to
 * two threads, which are woken whenever an earlier deadline comes.
 */
#include <grpc/support/port_platform.h>

#include <windows.h>
#include <winsock2.h>

#include <algorithm>

#include "src/core/lib/iomgr/closure.h"
#include "src/core/lib/iomgr/exec_ctx.h"
#include "src/core/lib/iomgr/timer.h"
#include "src/core/lib/iomgr/timer_manager.h"

#include "transport/io_engine_win32.h"
#include "transport/pipe_win32.h"

namespace {

/* What stands behind a pending grpc_timer, in its custom_timer. */
struct PendingTimer {
  csi_io_deadline deadline;
  grpc_timer *timer;
};

/* Keeps `pending` and `custom_timer` of all timers: a timer may be cancelled while it expires, and must
 * not be touched any more once its closure was scheduled. */
SRWLOCK timers_lock = SRWLOCK_INIT;

void TimerExpired(csi_io_deadline *deadline) {
  grpc_core::ApplicationCallbackExecCtx callback_exec_ctx;
  grpc_core::ExecCtx exec_ctx;
  auto *pending = static_cast<PendingTimer *>(deadline->context);
  AcquireSRWLockExclusive(&timers_lock);
  grpc_closure *closure = pending->timer->closure;
  pending->timer->pending = false;
  ReleaseSRWLockExclusive(&timers_lock);
  delete pending;
  grpc_core::ExecCtx::Run(DEBUG_LOCATION, closure, absl::OkStatus());
}

void TimerInit(grpc_timer *timer, grpc_core::Timestamp deadline, grpc_closure *closure) {
  const int64_t left_ms = (deadline - grpc_core::Timestamp::Now()).millis();
  timer->closure = closure;
  if (left_ms <= 0) {
    timer->pending = false;
    grpc_core::ExecCtx::Run(DEBUG_LOCATION, closure, absl::OkStatus());
    return;
  }
  auto *pending = new PendingTimer{{}, timer};
  pending->deadline.expired = TimerExpired;
  pending->deadline.context = pending;
  timer->pending = true;
  timer->custom_timer = pending;
  csi_io_deadline_arm(&pending->deadline, static_cast<uint32_t>(std::min<int64_t>(left_ms, INT32_MAX)));
}

void TimerCancel(grpc_timer *timer) {
  AcquireSRWLockExclusive(&timers_lock);
  auto *pending = timer->pending ? static_cast<PendingTimer *>(timer->custom_timer) : nullptr;
  /* One that expires just now runs its closure itself. */
  const bool cancelled = pending != nullptr && csi_io_deadline_disarm(&pending->deadline);
  if (cancelled) timer->pending = false;
  ReleaseSRWLockExclusive(&timers_lock);
  if (!cancelled) return;
  delete pending;
  grpc_core::ExecCtx::Run(DEBUG_LOCATION, timer->closure, absl::CancelledError());
}

grpc_timer_check_result NothingToCheck(grpc_core::Timestamp * /*next*/) {
  return GRPC_TIMERS_CHECKED_AND_EMPTY;
}

void Nothing() {
}

grpc_timer_vtable timers = {TimerInit, TimerCancel, NothingToCheck, Nothing, Nothing, Nothing};

} // namespace

void csi_timers_install(void) {
  grpc_core::ExecCtx exec_ctx;
  grpc_timer_manager_set_threading(false);
  grpc_set_timer_impl(&timers);
}
