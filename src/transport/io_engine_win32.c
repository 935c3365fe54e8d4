/* SPDX-License-Identifier: Apache-2.0 */
#include "transport/io_engine_win32.h"

#include <process.h>
#include <string.h>

#include "base/ctx.h"

enum {
  STACK_BYTES = 512 * 1024,
  KEY_IO = 1,
  KEY_RECOMPUTE = 2, /* an earlier deadline was armed: wait anew */
};

static struct {
  SRWLOCK lock;
  HANDLE port;
  HANDLE thread;
  struct csi_io_deadline *first, *last; /* by due time */
} engine = {.lock = SRWLOCK_INIT};

static _Thread_local bool is_engine_thread;

/* Not GetTickCount64(), which may be 15 ms behind. */
static uint64_t engine_now_ms(void) {
  return (uint64_t)(csi_now_ns() / 1000000);
}

static void unlink_deadline(struct csi_io_deadline *deadline) {
  *(deadline->previous ? &deadline->previous->next : &engine.first) = deadline->next;
  *(deadline->next ? &deadline->next->previous : &engine.last) = deadline->previous;
  deadline->previous = deadline->next = NULL;
  deadline->armed = false;
}

/* Fires what is due; returns how long the port may be waited on. */
static DWORD fire_deadlines(void) {
  for (;;) {
    AcquireSRWLockExclusive(&engine.lock);
    struct csi_io_deadline *deadline = engine.first;
    uint64_t now_ms = engine_now_ms();
    if (!deadline || deadline->due_ms > now_ms) {
      DWORD wait_ms = deadline ? (DWORD)(deadline->due_ms - now_ms) + 1 : INFINITE;
      ReleaseSRWLockExclusive(&engine.lock);
      return wait_ms;
    }
    unlink_deadline(deadline);
    ReleaseSRWLockExclusive(&engine.lock);
    deadline->expired(deadline);
  }
}

static unsigned __stdcall engine_thread(void *unused) {
  (void)unused;
  is_engine_thread = true;
  for (;;) {
    DWORD transferred_bytes = 0;
    ULONG_PTR key = 0;
    OVERLAPPED *overlapped = NULL;
    DWORD wait_ms = fire_deadlines();
    BOOL ok = GetQueuedCompletionStatus(engine.port, &transferred_bytes, &key, &overlapped, wait_ms);
    DWORD error = ok ? ERROR_SUCCESS : GetLastError();
    if (overlapped) {
      struct csi_io *io = (struct csi_io *)overlapped;
      io->done(io, error, transferred_bytes);
    }
  }
  return 0;
}

bool csi_io_engine_start(struct csi_status *status) {
  AcquireSRWLockExclusive(&engine.lock);
  if (!engine.port) engine.port = CreateIoCompletionPort(INVALID_HANDLE_VALUE, NULL, 0, 1);
  if (engine.port && !engine.thread) {
    engine.thread = (HANDLE)_beginthreadex(NULL, STACK_BYTES, engine_thread, NULL,
                                           STACK_SIZE_PARAM_IS_A_RESERVATION, NULL);
  }
  bool started = engine.thread != NULL;
  DWORD error = GetLastError();
  ReleaseSRWLockExclusive(&engine.lock);
  return started || csi_fail_system(status, CSI_SPACE_WIN32, error, "CreateIoCompletionPort",
                                    "cannot start the pipe I/O");
}

bool csi_io_engine_is_this_thread(void) {
  return is_engine_thread;
}

bool csi_io_attach(HANDLE handle) {
  if (!CreateIoCompletionPort(handle, engine.port, KEY_IO, 0)) return false;
  return SetFileCompletionNotificationModes(handle, FILE_SKIP_COMPLETION_PORT_ON_SUCCESS |
                                                        FILE_SKIP_SET_EVENT_ON_HANDLE);
}

enum csi_io_result csi_io_connect(HANDLE pipe, struct csi_io *io) {
  memset(&io->overlapped, 0, sizeof io->overlapped);
  if (ConnectNamedPipe(pipe, &io->overlapped)) return CSI_IO_DONE;
  switch (GetLastError()) {
  case ERROR_IO_PENDING:
    return CSI_IO_PENDING;
  case ERROR_PIPE_CONNECTED:
    return CSI_IO_DONE;
  default:
    return CSI_IO_FAILED;
  }
}

enum csi_io_result csi_io_read(HANDLE handle, struct csi_io *io, void *buffer, DWORD size_bytes,
                               DWORD *transferred_bytes_out) {
  memset(&io->overlapped, 0, sizeof io->overlapped);
  if (ReadFile(handle, buffer, size_bytes, transferred_bytes_out, &io->overlapped)) return CSI_IO_DONE;
  return GetLastError() == ERROR_IO_PENDING ? CSI_IO_PENDING : CSI_IO_FAILED;
}

enum csi_io_result csi_io_write(HANDLE handle, struct csi_io *io, const void *buffer, DWORD size_bytes,
                                DWORD *transferred_bytes_out) {
  memset(&io->overlapped, 0, sizeof io->overlapped);
  if (WriteFile(handle, buffer, size_bytes, transferred_bytes_out, &io->overlapped)) return CSI_IO_DONE;
  return GetLastError() == ERROR_IO_PENDING ? CSI_IO_PENDING : CSI_IO_FAILED;
}

bool csi_io_post(struct csi_io *io, DWORD transferred_bytes) {
  return PostQueuedCompletionStatus(engine.port, transferred_bytes, KEY_IO, &io->overlapped);
}

void csi_io_deadline_arm(struct csi_io_deadline *deadline, uint32_t timeout_ms) {
  deadline->due_ms = engine_now_ms() + timeout_ms + 1; /* never early */
  AcquireSRWLockExclusive(&engine.lock);
  struct csi_io_deadline *before = engine.last;
  while (before && before->due_ms > deadline->due_ms)
    before = before->previous;
  deadline->previous = before;
  deadline->next = before ? before->next : engine.first;
  *(deadline->previous ? &deadline->previous->next : &engine.first) = deadline;
  *(deadline->next ? &deadline->next->previous : &engine.last) = deadline;
  deadline->armed = true;
  bool earliest = engine.first == deadline;
  ReleaseSRWLockExclusive(&engine.lock);
  /* The engine thread looks at the list itself before it waits again. */
  if (earliest && !is_engine_thread) PostQueuedCompletionStatus(engine.port, 0, KEY_RECOMPUTE, NULL);
}

bool csi_io_deadline_disarm(struct csi_io_deadline *deadline) {
  AcquireSRWLockExclusive(&engine.lock);
  bool armed = deadline->armed;
  if (armed) unlink_deadline(deadline);
  ReleaseSRWLockExclusive(&engine.lock);
  return armed;
}
