/* SPDX-License-Identifier: Apache-2.0
 *
 * DLLs of the system that are loaded when first needed, because not every Windows has them, or because most
 * nodes never need them. They come from the system directory only, and stay.
 *
 *   static struct {
 *     DWORD(WINAPI *add)(...);
 *     DWORD(WINAPI *last_error)(...); // may be NULL, see below
 *   } wnet;
 *   static const char *const names[] = {"WNetAddConnection4W", "WNetGetLastErrorW"};
 *   static struct csi_late_dll mpr = {
 *       .name = "mpr.dll", .names = names, .count = 2, .required_count = 1, .functions = &wnet};
 *   ...
 *   if (!csi_late_dll_load(&mpr, &ctx->status)) return false;
 *   wnet.add(...);
 */
#ifndef CSI_WIN32_LATE_DLL_H
#define CSI_WIN32_LATE_DLL_H

#include <windows.h>

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

struct csi_late_dll {
  const char *name;         /* ASCII, shorter than 32 bytes */
  const char *const *names; /* of functions */
  size_t count;
  size_t required_count; /* without these, the first ones, it is of no use; the others may be missing */
  void *functions;       /* a structure of `count` pointers to functions, in the order of the names; filled */

  SRWLOCK lock; /* private; all zeroes is SRWLOCK_INIT */
  bool is_loaded;
};

/* Loads the DLL and finds its functions, unless that has been done. May be called from any thread. False with
 * UNIMPLEMENTED, and what is missing, when this Windows does not have it; asks anew the next time, because
 * Windows can be given features while we run. */
bool csi_late_dll_load(struct csi_late_dll *dll, struct csi_status *status) CSI_MUST_CHECK;

#endif
