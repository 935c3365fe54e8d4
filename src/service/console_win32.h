/* SPDX-License-Identifier: Apache-2.0
 *
 * The daemon in a console: Ctrl-C, Ctrl-Break and closing the window stop it.
 */
#ifndef CSI_SERVICE_CONSOLE_WIN32_H
#define CSI_SERVICE_CONSOLE_WIN32_H

#include "service/daemon.h"

/* Runs the daemon until it is interrupted. The first interrupt lets calls under way finish, a second
 * one ends the process at once. To be called once, on the main thread; blocks. */
enum csi_exit csi_console_run(const struct csi_options *options, const struct csi_program *program);

#endif
