/* SPDX-License-Identifier: Apache-2.0
 *
 * What a process with many rights does to itself before it does anything for others.
 */
#ifndef CSI_SERVICE_PROCESS_WIN32_H
#define CSI_SERVICE_PROCESS_WIN32_H

#include <wchar.h>

#include "base/arena.h"

/* DLLs only from the system directory, heap corruption ends the process, no error boxes that wait for
 * a person. To be called first. */
void csi_process_harden(void);

/* Enables the privileges that storage work needs and the account holds. A missing one is logged at
 * V(2); the operation that needs it fails later with its own error. */
void csi_process_enable_privileges(void);

/* The command line in UTF-8, with a NULL behind the last argument, in the arena. NULL when memory is
 * short. */
char **csi_process_arguments(struct csi_arena *arena, int argc, wchar_t *const *argv_w);

#endif
