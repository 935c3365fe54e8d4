/* SPDX-License-Identifier: Apache-2.0
 *
 * The shipped program: every API group of service/groups.h, on this machine.
 */
#ifndef CSI_SERVICE_PROGRAM_WIN32_H
#define CSI_SERVICE_PROGRAM_WIN32_H

#include "service/daemon.h"

/* Never fails; the result is static. To be called on one thread. The options may be those of a command line
 * that was refused. */
const struct csi_program *csi_program_win32(const struct csi_options *options);

#endif
