/* SPDX-License-Identifier: Apache-2.0
 *
 * gRPC's background work on the I/O engine: tasks and timers, through the public EventEngine
 * interface. Sockets and name resolution are not offered; nothing asks for them where only pipes are.
 */
#include <winsock2.h>

#include <windows.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include <grpc/event_engine/event_engine.h>

#include "transport/io_engine_win32.h"
#include "transport/pipe_win32.h"

namespace {

using grpc_event_engine::experimental::EventEngine;

class PipeEventEngine final : public EventEngine {
public:
  void Run(Closure *closure) override {
    Run([closure] { closure->Run(); });
  }

  void Run(absl::AnyInvocable<void()> closure) override {
    auto *task = new Task{{{}, RunTask}, std::move(closure)};
    if (!csi_io_post(&task->io, 0)) RunTask(&task->io, ERROR_SUCCESS, 0);
  }

  TaskHandle RunAfter(Duration when, Closure *closure) override {
    return RunAfter(when, [closure] { closure->Run(); });
  }

  TaskHandle RunAfter(Duration when, absl::AnyInvocable<void()> closure) override {
    auto *timer = new Timer{{}, this, 0, std::move(closure)};
    timer->deadline.expired = TimerExpired;
    timer->deadline.context = timer;
    std::lock_guard<std::mutex> lock(mutex_);
    timer->id = ++last_id_;
    timers_[timer->id] = timer;
    const int64_t milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(when).count();
    csi_io_deadline_arm(&timer->deadline,
                        static_cast<uint32_t>(std::clamp<int64_t>(milliseconds, 0, INT32_MAX)));
    return {{timer->id, 0}};
  }

  bool Cancel(TaskHandle handle) override {
    std::unique_ptr<Timer> timer;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      auto found = timers_.find(handle.keys[0]);
      if (found == timers_.end() || !csi_io_deadline_disarm(&found->second->deadline)) return false;
      timer.reset(found->second);
      timers_.erase(found);
    }
    return true;
  }

  bool IsWorkerThread() override {
    return csi_io_engine_is_this_thread();
  }

  absl::StatusOr<std::unique_ptr<Listener>>
  CreateListener(Listener::AcceptCallback, absl::AnyInvocable<void(absl::Status)>,
                 const grpc_event_engine::experimental::EndpointConfig &,
                 std::unique_ptr<grpc_event_engine::experimental::MemoryAllocatorFactory>) override {
    return absl::UnimplementedError("only pipes are supported");
  }

  ConnectionHandle Connect(OnConnectCallback on_connect, const ResolvedAddress &,
                           const grpc_event_engine::experimental::EndpointConfig &,
                           grpc_event_engine::experimental::MemoryAllocator, Duration) override {
    on_connect(absl::UnimplementedError("only pipes are supported"));
    return {{0, 0}};
  }

  bool CancelConnect(ConnectionHandle) override {
    return false;
  }

  std::unique_ptr<DNSResolver> GetDNSResolver(const DNSResolver::ResolverOptions &) override {
    return nullptr;
  }

private:
  struct Task {
    csi_io io; // first member
    absl::AnyInvocable<void()> closure;
  };

  struct Timer {
    csi_io_deadline deadline;
    PipeEventEngine *engine;
    intptr_t id;
    absl::AnyInvocable<void()> closure;
  };

  static void RunTask(csi_io *io, DWORD, DWORD) {
    std::unique_ptr<Task> task(reinterpret_cast<Task *>(io));
    task->closure();
  }

  static void TimerExpired(csi_io_deadline *deadline) {
    std::unique_ptr<Timer> timer(static_cast<Timer *>(deadline->context));
    {
      std::lock_guard<std::mutex> lock(timer->engine->mutex_);
      timer->engine->timers_.erase(timer->id);
    }
    timer->closure();
  }

  std::mutex mutex_;
  std::map<intptr_t, Timer *> timers_;
  intptr_t last_id_ = 0;
};

} // namespace

void csi_event_engine_install(void) {
  csi_status status = {};
  /* Without the engine no pipe opens either, and that failure is reported. */
  if (!csi_io_engine_start(&status)) return;
  grpc_event_engine::experimental::SetEventEngineFactory([] { return std::make_unique<PipeEventEngine>(); });
}
