/* SPDX-License-Identifier: Apache-2.0
 *
 * One I/O completion port for all pipes of the process, one thread that waits on it, and time-outs kept
 * by the same thread. A completion runs on that thread and must not block: what can block goes to a worker.
 * One thread is enough for bytes, and does not wake others.
 *
 * Rule: a csi_io and its buffer belong to the operation until done() is called. To give up, cancel
 * the operation and wait for done().
 */
#ifndef CSI_TRANSPORT_IO_ENGINE_WIN32_H
#define CSI_TRANSPORT_IO_ENGINE_WIN32_H

#include <windows.h>

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One overlapped operation. */
struct csi_io {
  OVERLAPPED overlapped; /* first member: the port gives its address back */
  void (*done)(struct csi_io *io, DWORD error, DWORD transferred_bytes);
};

enum csi_io_result {
  CSI_IO_PENDING, /* done() will be called */
  CSI_IO_DONE,    /* finished at once; done() will not be called */
  CSI_IO_FAILED,  /* failed at once, GetLastError() tells why; done() will not be called */
};

/* Starts the engine, unless it runs already. It runs until the process ends, because the last completion
 * of a closed connection may come at any time, on the engine's thread. */
bool csi_io_engine_start(struct csi_status *status);

/* True on the engine's thread. */
bool csi_io_engine_is_this_thread(void);

/* Attaches an overlapped handle. False: GetLastError() tells why. */
bool csi_io_attach(HANDLE handle);

enum csi_io_result csi_io_connect(HANDLE pipe, struct csi_io *io);
enum csi_io_result csi_io_read(HANDLE handle, struct csi_io *io, void *buffer, DWORD size_bytes,
                               DWORD *transferred_bytes_out);
enum csi_io_result csi_io_write(HANDLE handle, struct csi_io *io, const void *buffer, DWORD size_bytes,
                                DWORD *transferred_bytes_out);

/* Calls io->done(io, 0, transferred_bytes) on the engine's thread, behind what is queued already. */
bool csi_io_post(struct csi_io *io, DWORD transferred_bytes);

/* A time-out. All users take the same or similar lengths; the engine keeps them in order. */
struct csi_io_deadline {
  struct csi_io_deadline *previous, *next; /* private */
  uint64_t due_ms;                         /* private */
  bool armed;                              /* private */
  /* Called once on the engine's thread when the time is over, with the engine's lock released. The
   * owner must keep the deadline alive until it has fired or csi_io_deadline_disarm() returned true. */
  void (*expired)(struct csi_io_deadline *deadline);
  void *context; /* the owner's */
};

void csi_io_deadline_arm(struct csi_io_deadline *deadline, uint32_t timeout_ms);

/* True when it will not fire any more, false when it has fired or never was armed. */
bool csi_io_deadline_disarm(struct csi_io_deadline *deadline);

#ifdef __cplusplus
}
#endif

#endif
