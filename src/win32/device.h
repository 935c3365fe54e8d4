/* SPDX-License-Identifier: Apache-2.0
 *
 * Device calls that end: open, control, read, write and flush of devices, each bounded by the call's
 * deadline and by a limit of its own. A device that does not answer in time has its call cancelled
 * (CancelSynchronousIo); the caller gets DEADLINE_EXCEEDED with the name of the call.
 *
 * A device that ignores even the cancellation keeps the thread. Two threads are enough: while so many calls
 * hang in an object, others on it are refused with UNAVAILABLE "... has not answered for N s".
 */
#ifndef CSI_WIN32_DEVICE_H
#define CSI_WIN32_DEVICE_H

#include <windows.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/ctx.h"
#include "base/guid.h"

enum {
  CSI_DEVICE_CALL_MS = 30 * 1000, /* longest a single device call may take, unless said otherwise */
  CSI_DEVICE_FLUSH_MS = 10 * 60 * 1000,
  CSI_DEVICE_OBJECT_BYTES = 256, /* of an object's name that are told from another's, NUL included */
};

/* A control code with its name, for errors. CSI_CONTROL(IOCTL_DISK_GET_DRIVE_LAYOUT_EX) */
struct csi_control {
  DWORD code;
  const char *name;
};
#define CSI_CONTROL(name_of_code) ((struct csi_control){name_of_code, #name_of_code})

/* Opens a device. path_w: `\\.\PhysicalDrive3`, `\\?\Volume{...}`, a device interface. access: 0 or
 * GENERIC_READ | GENERIC_WRITE. object: what it is in errors, "disk 3". */
bool csi_device_open(struct csi_ctx *ctx, const wchar_t *path_w, DWORD access, const char *object,
                     HANDLE *handle_out) CSI_MUST_CHECK;

/* One DeviceIoControl() into a buffer of fixed size. returned_bytes_out: may be NULL. */
bool csi_device_control(struct csi_ctx *ctx, HANDLE device, struct csi_control control, const void *in,
                        size_t in_bytes, void *out, size_t out_bytes, size_t *returned_bytes_out,
                        const char *object) CSI_MUST_CHECK;

/* As csi_device_control() with a limit of its own instead of CSI_DEVICE_CALL_MS. */
bool csi_device_control_for(struct csi_ctx *ctx, HANDLE device, struct csi_control control, const void *in,
                            size_t in_bytes, void *out, size_t out_bytes, size_t *returned_bytes_out,
                            const char *object, uint32_t limit_ms) CSI_MUST_CHECK;

/* One DeviceIoControl() whose result has no fixed size: begins with first_bytes, and asks again with more,
 * up to max_bytes, while the device says that it does not fit. The result is in the arena. */
bool csi_device_control_grow(struct csi_ctx *ctx, HANDLE device, struct csi_control control, const void *in,
                             size_t in_bytes, size_t first_bytes, size_t max_bytes, const uint8_t **out,
                             size_t *returned_bytes_out, const char *object) CSI_MUST_CHECK;

bool csi_device_read(struct csi_ctx *ctx, HANDLE device, uint64_t offset_bytes, void *out, size_t size_bytes,
                     const char *object) CSI_MUST_CHECK;
bool csi_device_write(struct csi_ctx *ctx, HANDLE device, uint64_t offset_bytes, const void *in,
                      size_t size_bytes, const char *object) CSI_MUST_CHECK;
bool csi_device_flush(struct csi_ctx *ctx, HANDLE device, const char *object) CSI_MUST_CHECK;

/* Bounds any other blocking call of this thread: between begin and end, whatever the thread waits for in
 * the system is cancelled when its time is over, or when the client goes away. Not nested.
 *
 *   if (!csi_device_watch_begin_on(ctx, &watch, CSI_DEVICE_CALL_MS, "GetDiskFreeSpaceExW", object))
 *     return false;
 *   bool done = GetDiskFreeSpaceExW(...);
 *   DWORD error = done ? ERROR_SUCCESS : GetLastError();
 *   csi_device_watch_end(&watch, done);
 *   return done || csi_device_fail(ctx, &watch, error, "GetDiskFreeSpaceExW", object); */
struct csi_device_watch {
  struct csi_device_watch *next, **place; /* private, and all below */
  char object[CSI_DEVICE_OBJECT_BYTES];
  const char *call; /* NULL: several */
  const atomic_bool *client_gone;
  int64_t begin_ns;
  int64_t deadline_ns;
  int64_t cancelled_ns; /* when it was first cancelled; 0 when it was not */
  uint64_t round;       /* the watchdog's last that looked after it */
  uint32_t limit_ms;
  DWORD thread_id;
  bool being_cancelled; /* just now: it must not end */
};

/* False and UNAVAILABLE when calls on the object hang already; then there is nothing to end. call: a
 * literal. object: copied; the same text for all calls on a device. */
bool csi_device_watch_begin_on(struct csi_ctx *ctx, struct csi_device_watch *watch, uint32_t limit_ms,
                               const char *call, const char *object) CSI_MUST_CHECK;

/* For what is no device, and cannot hang like one: never refused. call: a literal; NULL for what is more than
 * one call. */
void csi_device_watch_begin(struct csi_ctx *ctx, struct csi_device_watch *watch, uint32_t limit_ms,
                            const char *call);

/* True when the watch had to intervene. Whoever got an answer nevertheless may use it. How long the call took
 * is told to base/call_timing.h. */
bool csi_device_watch_end(struct csi_device_watch *watch, bool succeeded);

/* How many calls hang now: cancelled a second ago or longer, and still there. Any thread; does not block. */
size_t csi_device_count_hanging(void);

/* Records why a call failed that a watch was set on, after csi_device_watch_end(): DEADLINE_EXCEEDED
 * "... did not answer within N s" or CANCELLED when the watch intervened, else the Win32 error. Returns
 * false. call: a literal. */
bool csi_device_fail(struct csi_ctx *ctx, const struct csi_device_watch *watch, DWORD error, const char *call,
                     const char *object);

#endif
