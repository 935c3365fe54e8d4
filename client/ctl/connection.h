/* SPDX-License-Identifier: Apache-2.0
 *
 * The pipes of the service, as seen from here.
 */
#ifndef CSI_CTL_CONNECTION_H
#define CSI_CTL_CONNECTION_H

#include <stdbool.h>

#include "client/ctl/ctl.h"

struct csi_client;

/* Connects to a version of a group, or hands out the connection of the last call.
 *
 * client_out (out): stays ctl's.
 *
 * False: CSI_CTL_UNREACHABLE with what to do about it. Blocks for at most ctl->timeout_ms.
 * Privileges: those that the pipe's security descriptor asks for, usually administrator. */
bool csi_ctl_connect(struct csi_ctl *ctl, const char *group, const char *version,
                     struct csi_client **client_out, struct csi_ctl_error *error);

void csi_ctl_disconnect(struct csi_ctl *ctl);

/* Name of a pipe or socket in an arena; NULL when memory is short. */
char *csi_ctl_pipe_name(const struct csi_ctl *ctl, struct csi_arena *arena, const char *group,
                        const char *version);

/* Whether a pipe or socket is there now, without connecting to a pipe. Does not block. Rests on
 * WaitNamedPipeW (Windows), connect(2) (elsewhere). */
bool csi_pipe_is_present(const char *name);

#endif
