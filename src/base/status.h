/* SPDX-License-Identifier: Apache-2.0
 *
 * What went wrong, in a value of fixed size that also works when memory is short.
 *
 * Every fallible function returns bool, takes a status (or the csi_ctx that holds one), and on
 * failure returns what csi_fail*() returns:
 *
 *   if (!create(path)) return csi_fail_system(status, CSI_SPACE_WIN32, GetLastError(), "CreateFileW",
 *                                             "mkdir %s", path);
 *   if (!inner(status)) return csi_explain(status, "error querying volume (%s). error: ", id);
 *
 * The first failure wins; callers prefix context on the way up; one place (rpc) logs it.
 */
#ifndef CSI_BASE_STATUS_H
#define CSI_BASE_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "csi-proxy/error.h"

enum {
  CSI_STATUS_TEXT_BYTES = 1024,
};

struct csi_status {
  enum csi_code code;               /* CSI_OK, or what we think is the precise gRPC code */
  enum csi_error_space space;       /* what `number` counts in; CSI_SPACE_NONE when there is none */
  uint32_t number;                  /* raw number, never remapped */
  const char *call;                 /* literal: the failing API or IOCTL; NULL when there is none */
  char text[CSI_STATUS_TEXT_BYTES]; /* UTF-8, outermost context first */
};

void csi_status_clear(struct csi_status *status);
bool csi_status_ok(const struct csi_status *status);

/* Records a failure of our own rules. Always returns false. */
bool csi_fail(struct csi_status *status, enum csi_code code, const char *format, ...) CSI_PRINTF(3, 4);

/* Records a failure reported by the system: the text becomes
 * "<format>: <system text> (Win32 error 3 in CreateFileW)". The code follows from the number
 * (csi_code_of_system_error). Always returns false. */
bool csi_fail_system(struct csi_status *status, enum csi_error_space space, uint32_t number, const char *call,
                     const char *format, ...) CSI_PRINTF(5, 6);

bool csi_fail_out_of_memory(struct csi_status *status);

/* Puts context before the text of a failure. Always returns false. */
bool csi_explain(struct csi_status *status, const char *format, ...) CSI_PRINTF(2, 3);

/* Appends advice behind the text of a failure. Always returns false. */
bool csi_advise(struct csi_status *status, const char *format, ...) CSI_PRINTF(2, 3);

/* English text for a raw number, final period included; "Windows error 4711." when it is not known.
 * The same on every system and in every display language, because drivers match these texts. */
const char *csi_system_error_text(enum csi_error_space space, uint32_t number, char *buffer,
                                  size_t buffer_bytes);

/* The gRPC code that fits a raw number best; CSI_UNKNOWN when nothing better is known. */
enum csi_code csi_code_of_system_error(enum csi_error_space space, uint32_t number);

#endif
