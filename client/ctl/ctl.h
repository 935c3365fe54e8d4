/* SPDX-License-Identifier: Apache-2.0
 *
 * What one run of csi-proxyctl carries from the command line to a verb, and how a verb reports that it
 * failed.
 */
#ifndef CSI_CTL_CTL_H
#define CSI_CTL_CTL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "csi-proxy/client.h"

/* How the program ends; scripts rely on the numbers. */
enum csi_ctl_exit {
  CSI_CTL_DONE = 0,
  CSI_CTL_REFUSED = 1, /* the service answered with an error, not in time, or could not list everything; or
                          the answer could not be shown */
  CSI_CTL_USAGE = 2,   /* wrong usage or JSON: nothing was sent */
  CSI_CTL_UNREACHABLE = 3, /* no service, no such pipe, or no access to it */
};

enum csi_ctl_format { CSI_CTL_TABLE, CSI_CTL_JSON, CSI_CTL_YAML };
enum csi_ctl_colour { CSI_CTL_COLOUR_AUTO, CSI_CTL_COLOUR_ALWAYS, CSI_CTL_COLOUR_NEVER };

struct csi_ctl_pools;
struct csi_ctl_connection;

struct csi_ctl {
  const char *pipe_prefix; /* what stands before GROUP-VERSION in the name of a pipe or socket */
  uint32_t timeout_ms;     /* for each call, connecting included; 0 = no limit */
  enum csi_ctl_format format;
  enum csi_ctl_colour colour;
  struct csi_arena *arena;         /* lives as long as the run; for what must last. A verb that repeats itself
                                      (top) makes an arena of its own for each round */
  struct csi_ctl_pools *pools;     /* descriptors; see descriptors.h */
  struct csi_ctl_connection *open; /* the last connection, used again by rpc.c */
};

/* Why something failed, the same for all verbs. `exit` tells what kind it is; with CSI_CTL_USAGE only
 * failure.text counts. */
struct csi_ctl_error {
  enum csi_ctl_exit exit;
  struct csi_error failure; /* code on the wire, precise code, number and call of Windows, text */
  char hint[256];           /* what to do about it; "" when nothing better is known than the text */
};

/* Fills an error of wrong usage, wrong JSON or an unknown name. Always returns false. */
bool csi_ctl_wrong(struct csi_ctl_error *error, const char *format, ...) CSI_PRINTF(2, 3);

/* Fills an error of CSI_CTL_REFUSED: something failed that is no wrong usage.
 *
 * code (in): CSI_OK when it has nothing to do with the service; no code is shown then.
 *
 * Always returns false. */
bool csi_ctl_fail(struct csi_ctl_error *error, enum csi_code code, const char *format, ...) CSI_PRINTF(3, 4);
bool csi_ctl_fail_out_of_memory(struct csi_ctl_error *error);

/* Puts a hint behind an error. Always returns false. */
bool csi_ctl_hint(struct csi_ctl_error *error, const char *format, ...) CSI_PRINTF(2, 3);

/* Writes an error to standard error, in the one form all verbs share:
 *
 *   error: <text>
 *     code: NOT_FOUND (UNKNOWN on the wire)
 *     Windows: Win32 error 2 in CreateFileW
 *     hint: <what to do>
 *
 * Lines that have nothing to tell are left out. Returns error->exit, for a verb to return. */
int csi_ctl_report(const struct csi_ctl *ctl, const struct csi_ctl_error *error);

#endif
