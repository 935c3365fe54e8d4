/* SPDX-License-Identifier: Apache-2.0
 *
 * gRPC's HTTP/2 over an overlapped pipe handle: an endpoint of C core. C++, because the endpoint
 * interface of gRPC 1.51 is internal to it.
 */
#include <grpc/support/port_platform.h>

#include <windows.h>
#include <winsock2.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>

#include <grpc/grpc.h>
#include <grpc/grpc_security.h>
#include <grpc/slice_buffer.h>
#include <grpc/support/alloc.h>

#include "src/core/ext/transport/chttp2/transport/chttp2_transport.h"
#include "src/core/lib/channel/channel_args.h"
#include "src/core/lib/channel/channel_args_preconditioning.h"
#include "src/core/lib/config/core_configuration.h"
#include "src/core/lib/iomgr/closure.h"
#include "src/core/lib/iomgr/endpoint.h"
#include "src/core/lib/iomgr/error.h"
#include "src/core/lib/iomgr/exec_ctx.h"
#include "src/core/lib/slice/slice_internal.h"
#include "src/core/lib/surface/channel.h"
#include "src/core/lib/surface/server.h"
#include "src/core/lib/transport/transport.h"

extern "C" {
#include "base/wipe.h"
}
#include "transport/pipe_win32.h"

namespace {

/* A read starts small, because an idle connection keeps its buffer; it grows while reads fill it. */
constexpr size_t kSmallestReadBytes = 1024;
constexpr size_t kLargestReadBytes = 64 * 1024;

grpc_error_handle PipeError(const char *what, DWORD error) {
  return grpc_error_set_int(GRPC_ERROR_CREATE(absl::StrCat(what, ": Win32 error ", error)),
                            grpc_core::StatusIntProperty::kRpcStatus, GRPC_STATUS_UNAVAILABLE);
}

struct PipeEndpoint;

/* An operation that knows its endpoint. */
struct PipeIo {
  csi_io io; // first member: done() gets its address
  PipeEndpoint *endpoint;
};

PipeEndpoint *EndpointOf(csi_io *io) {
  return reinterpret_cast<PipeIo *>(io)->endpoint;
}

struct PipeEndpoint {
  grpc_endpoint base; // first member: C core casts
  HANDLE handle;
  PipeIo read_io;
  PipeIo write_io;
  std::atomic<int> refs{1};
  std::atomic<bool> shut_down{false};
  grpc_closure *read_closure = nullptr;
  grpc_slice_buffer *read_into = nullptr;
  grpc_slice read_slice;
  size_t read_bytes = kSmallestReadBytes;
  grpc_closure *write_closure = nullptr;
  grpc_slice write_slice;
  grpc_closure settings_closure; // runs when the client's settings have come, or never will
  csi_io_deadline settings_deadline{};
  std::string peer;
  csi_pipe_observer *observer = nullptr;

  void Ref() {
    refs.fetch_add(1, std::memory_order_relaxed);
  }
  void Unref() {
    if (refs.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    CloseHandle(handle);
    csi_pipe_observer *watching = observer;
    delete this;
    if (watching) watching->closed(watching);
  }
  void Abort() {
    if (!shut_down.exchange(true)) CancelIoEx(handle, nullptr);
  }
};

/* Gives the bytes (or the end of the connection) to C core. Consumes the operation's reference. */
void FinishRead(PipeEndpoint *endpoint, DWORD error, DWORD transferred_bytes) {
  grpc_closure *closure = endpoint->read_closure;
  endpoint->read_closure = nullptr;
  if (error == ERROR_SUCCESS && transferred_bytes > 0 && !endpoint->shut_down) {
    if (transferred_bytes == endpoint->read_bytes) {
      endpoint->read_bytes = std::min(endpoint->read_bytes * 4, kLargestReadBytes);
    } else if (transferred_bytes < endpoint->read_bytes / 4) {
      endpoint->read_bytes = std::max(endpoint->read_bytes / 4, kSmallestReadBytes);
    }
    grpc_slice_buffer_add(endpoint->read_into,
                          grpc_slice_sub_no_ref(endpoint->read_slice, 0, transferred_bytes));
    grpc_core::ExecCtx::Run(DEBUG_LOCATION, closure, absl::OkStatus());
  } else {
    grpc_slice_unref(endpoint->read_slice);
    grpc_core::ExecCtx::Run(DEBUG_LOCATION, closure, PipeError("pipe closed", error));
  }
  endpoint->Unref();
}

void ReadDone(csi_io *io, DWORD error, DWORD transferred_bytes) {
  {
    grpc_core::ApplicationCallbackExecCtx callback_exec_ctx;
    grpc_core::ExecCtx exec_ctx;
    FinishRead(EndpointOf(io), error, transferred_bytes);
  }
  csi_wipe_stack(); // C core has taken the request apart there
}

void Read(grpc_endpoint *base, grpc_slice_buffer *slices, grpc_closure *closure, bool /*urgent*/,
          int /*min_progress_size*/) {
  auto *endpoint = reinterpret_cast<PipeEndpoint *>(base);
  grpc_slice_buffer_reset_and_unref(slices);
  endpoint->Ref();
  endpoint->read_closure = closure;
  endpoint->read_into = slices;
  endpoint->read_slice = grpc_slice_malloc_large(endpoint->read_bytes);
  DWORD transferred_bytes = 0;
  switch (csi_io_read(endpoint->handle, &endpoint->read_io.io, GRPC_SLICE_START_PTR(endpoint->read_slice),
                      static_cast<DWORD>(endpoint->read_bytes), &transferred_bytes)) {
  case CSI_IO_PENDING:
    /* Abort() may have looked before the read was pending. C core holds the endpoint meanwhile. */
    if (endpoint->shut_down) CancelIoEx(endpoint->handle, &endpoint->read_io.io.overlapped);
    break;
  case CSI_IO_DONE:
    /* By way of the port, and not at once: a client that keeps its pipe full would never let the thread go,
     * and the calls it has read would never run. */
    if (csi_io_post(&endpoint->read_io.io, transferred_bytes)) break;
    FinishRead(endpoint, ERROR_SUCCESS, transferred_bytes);
    break;
  case CSI_IO_FAILED:
    FinishRead(endpoint, GetLastError(), 0);
    break;
  }
}

void FinishWrite(PipeEndpoint *endpoint, DWORD error) {
  grpc_closure *closure = endpoint->write_closure;
  endpoint->write_closure = nullptr;
  grpc_slice_unref(endpoint->write_slice);
  grpc_core::ExecCtx::Run(DEBUG_LOCATION, closure,
                          error == ERROR_SUCCESS ? absl::OkStatus() : PipeError("pipe write", error));
  endpoint->Unref();
}

void WriteDone(csi_io *io, DWORD error, DWORD /*transferred_bytes*/) {
  grpc_core::ApplicationCallbackExecCtx callback_exec_ctx;
  grpc_core::ExecCtx exec_ctx;
  FinishWrite(EndpointOf(io), error);
}

/* Pipes have no gather write, and a write per slice costs a system call and wakes the reader each time:
 * what is more than one slice is copied together. */
grpc_slice Flatten(grpc_slice_buffer *slices) {
  if (slices->count == 1) return grpc_slice_ref(slices->slices[0]);
  grpc_slice whole = grpc_slice_malloc_large(slices->length);
  uint8_t *at = GRPC_SLICE_START_PTR(whole);
  for (size_t i = 0; i < slices->count; i++) {
    const size_t length = GRPC_SLICE_LENGTH(slices->slices[i]);
    memcpy(at, GRPC_SLICE_START_PTR(slices->slices[i]), length);
    at += length;
  }
  return whole;
}

void Write(grpc_endpoint *base, grpc_slice_buffer *slices, grpc_closure *closure, void * /*arg*/,
           int /*max_frame_size*/) {
  auto *endpoint = reinterpret_cast<PipeEndpoint *>(base);
  if (endpoint->shut_down || slices->length == 0) {
    grpc_core::ExecCtx::Run(DEBUG_LOCATION, closure,
                            endpoint->shut_down ? PipeError("pipe write", ERROR_OPERATION_ABORTED)
                                                : absl::OkStatus());
    return;
  }
  endpoint->Ref();
  endpoint->write_closure = closure;
  endpoint->write_slice = Flatten(slices);
  DWORD transferred_bytes = 0;
  switch (csi_io_write(endpoint->handle, &endpoint->write_io.io, GRPC_SLICE_START_PTR(endpoint->write_slice),
                       static_cast<DWORD>(GRPC_SLICE_LENGTH(endpoint->write_slice)), &transferred_bytes)) {
  case CSI_IO_PENDING:
    if (endpoint->shut_down) CancelIoEx(endpoint->handle, &endpoint->write_io.io.overlapped);
    break;
  case CSI_IO_DONE:
    FinishWrite(endpoint, ERROR_SUCCESS);
    break;
  case CSI_IO_FAILED:
    FinishWrite(endpoint, GetLastError());
    break;
  }
}

void Shutdown(grpc_endpoint *base, grpc_error_handle /*why*/) {
  reinterpret_cast<PipeEndpoint *>(base)->Abort();
}

void Destroy(grpc_endpoint *base) {
  auto *endpoint = reinterpret_cast<PipeEndpoint *>(base);
  endpoint->Abort();
  endpoint->Unref();
}

/* The completion port does the polling. */
void AddToPollset(grpc_endpoint *, grpc_pollset *) {
}
void AddToPollsetSet(grpc_endpoint *, grpc_pollset_set *) {
}

absl::string_view Peer(grpc_endpoint *base) {
  return reinterpret_cast<PipeEndpoint *>(base)->peer;
}

absl::string_view LocalAddress(grpc_endpoint *) {
  return "pipe";
}

int NoFd(grpc_endpoint *) {
  return -1;
}

bool CanTrackErr(grpc_endpoint *) {
  return false;
}

const grpc_endpoint_vtable kVtable = {Read,       Write,   AddToPollset, AddToPollsetSet, AddToPollsetSet,
                                      Shutdown,   Destroy, Peer,         LocalAddress,    NoFd,
                                      CanTrackErr};

PipeEndpoint *NewEndpoint(HANDLE handle, const char *peer) {
  auto *endpoint = new PipeEndpoint();
  endpoint->base.vtable = &kVtable;
  endpoint->handle = handle;
  endpoint->read_io = {{{}, ReadDone}, endpoint};
  endpoint->write_io = {{{}, WriteDone}, endpoint};
  endpoint->peer = peer;
  return endpoint;
}

void SettingsSettled(void *arg, grpc_error_handle /*error*/) {
  auto *endpoint = static_cast<PipeEndpoint *>(arg);
  if (csi_io_deadline_disarm(&endpoint->settings_deadline)) endpoint->Unref();
  endpoint->Unref();
}

void SettingsOverdue(csi_io_deadline *deadline) {
  auto *endpoint = reinterpret_cast<PipeEndpoint *>(deadline->context);
  endpoint->Abort();
  endpoint->Unref();
}

} // namespace

bool csi_pipe_serve(grpc_server *server, HANDLE pipe, const char *peer, void *first_bytes, size_t length,
                    uint32_t settings_timeout_ms, csi_pipe_observer *observer) {
  grpc_core::ApplicationCallbackExecCtx callback_exec_ctx;
  grpc_core::ExecCtx exec_ctx;
  grpc_core::Server *core = grpc_core::Server::FromC(server);
  const grpc_core::ChannelArgs &args = core->channel_args();
  PipeEndpoint *endpoint = NewEndpoint(pipe, peer);
  grpc_transport *transport = grpc_create_chttp2_transport(args, &endpoint->base, /*is_client=*/false);
  grpc_error_handle error = core->SetupTransport(transport, nullptr, args, nullptr);
  if (!error.ok()) {
    grpc_transport_destroy(transport);
    return false;
  }
  endpoint->observer = observer;
  endpoint->Ref(); // held by settings_closure
  GRPC_CLOSURE_INIT(&endpoint->settings_closure, SettingsSettled, endpoint, grpc_schedule_on_exec_ctx);
  endpoint->Ref(); // held by settings_deadline
  endpoint->settings_deadline.context = endpoint;
  endpoint->settings_deadline.expired = SettingsOverdue;
  csi_io_deadline_arm(&endpoint->settings_deadline, settings_timeout_ms);
  auto *first = static_cast<grpc_slice_buffer *>(gpr_malloc(sizeof(grpc_slice_buffer)));
  grpc_slice_buffer_init(first);
  grpc_slice_buffer_add(first, grpc_slice_from_copied_buffer(static_cast<const char *>(first_bytes), length));
  csi_wipe(first_bytes, length);
  grpc_chttp2_transport_start_reading(transport, first, &endpoint->settings_closure, nullptr);
  return true;
}

grpc_channel *csi_pipe_channel(HANDLE pipe, const grpc_channel_args *args) {
  grpc_core::ApplicationCallbackExecCtx callback_exec_ctx;
  grpc_core::ExecCtx exec_ctx;
  grpc_core::ChannelArgs channel_args = grpc_core::CoreConfiguration::Get()
                                            .channel_args_preconditioning()
                                            .PreconditionChannelArgs(args)
                                            .SetIfUnset(GRPC_ARG_DEFAULT_AUTHORITY, "localhost");
  PipeEndpoint *endpoint = NewEndpoint(pipe, "pipe");
  grpc_transport *transport = grpc_create_chttp2_transport(channel_args, &endpoint->base, /*is_client=*/true);
  auto channel = grpc_core::Channel::Create("pipe", channel_args, GRPC_CLIENT_DIRECT_CHANNEL, transport);
  if (!channel.ok()) {
    grpc_transport_destroy(transport);
    return nullptr;
  }
  grpc_chttp2_transport_start_reading(transport, nullptr, nullptr, nullptr);
  return channel->release()->c_ptr();
}
