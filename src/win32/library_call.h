/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls into libraries that nobody can cancel, each on a thread of its own. Whoever asked gives up at the
 * deadline; the thread goes on, and frees what it was given when the library returns at last.
 *
 *   struct login {
 *     struct csi_library_call call; // first
 *     wchar_t target_w[224];        // what the library needs, by value: the asker may be gone
 *     ULONG session;
 *   };
 *   struct login *login = csi_library_call_new(ctx, sizeof *login, run_login, "LoginIScsiTargetW");
 *   ...
 *   if (!csi_library_call(ctx, &login->call, CSI_LIBRARY_CALL_MS, "target iqn...")) return false;
 *   ... login->call.error, login->session ...
 *   csi_library_call_free(&login->call);
 */
#ifndef CSI_WIN32_LIBRARY_CALL_H
#define CSI_WIN32_LIBRARY_CALL_H

#include <windows.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/ctx.h"

enum {
  CSI_LIBRARY_CALL_MS = 120 * 1000, /* longest anybody waits for one call, unless said otherwise */
  CSI_LIBRARY_OBJECT_BYTES = 320,
};

struct csi_library_call {
  /* Runs on the thread; leaves the outcome in error, and whatever else in the structure around it. */
  void (*run)(struct csi_library_call *call);
  /* Frees what run() has allocated in the library; called once, after run(), by csi_library_call_free() or by
   * the thread. May be NULL. */
  void (*clean_up)(struct csi_library_call *call);
  const char *name;   /* literal: the library's function */
  unsigned tolerated; /* how many given-up calls on the same object do not keep this one from running */
  uint32_t error;     /* its result */

  struct csi_library_call *next, **place; /* private, and all below */
  char object[CSI_LIBRARY_OBJECT_BYTES];
  size_t size_bytes;
  int64_t begin_ns;
  HANDLE thread;
  atomic_int state;
};

/* Makes a call of size_bytes, zeroed beyond its head. NULL, with ctx->status, when memory is short. */
void *csi_library_call_new(struct csi_ctx *ctx, size_t size_bytes, void (*run)(struct csi_library_call *call),
                           const char *name) CSI_MUST_CHECK;

/* Runs the call and waits for it, at most limit_ms and until the call's deadline.
 *
 * object: what the library works on, "share \\host\share", of which one spelling must be kept to; copied;
 * cut when it is too long. Its first word is its kind. Of a call that only looks (csi_ctx.only_looks), it is
 * "look at OBJECT": when it is given up, it keeps only others of its kind from running.
 * True when it has returned: call->error and the rest may be read, and the caller frees it. Otherwise the
 * call is the caller's no longer: DEADLINE_EXCEEDED or CANCELLED; and without running it: UNAVAILABLE when
 * an earlier call on the same object, or too many on objects of this kind, which somebody has given up, go
 * on for another second; the failure of CreateThread. */
bool csi_library_call(struct csi_ctx *ctx, struct csi_library_call *call, uint32_t limit_ms,
                      const char *object) CSI_MUST_CHECK;

/* UNAVAILABLE when a call on the object, spelt as it was for the call, goes on for another second that
 * somebody has given up: what it is about to change cannot be told. */
bool csi_library_object_is_free(struct csi_ctx *ctx, const char *object) CSI_MUST_CHECK;

/* How many calls go on that somebody has given up. Any thread; does not block. */
size_t csi_library_count_given_up(void);

/* Wipes and frees a call that has returned or was never run. NULL is accepted. */
void csi_library_call_free(struct csi_library_call *call);

#endif
