/* SPDX-License-Identifier: Apache-2.0
 *
 * csi-proxy.exe install, uninstall and upgrade.
 */
#ifndef CSI_SERVICE_INSTALL_WIN32_H
#define CSI_SERVICE_INSTALL_WIN32_H

#include "service/daemon.h"

/* Does what the verb in argv[1] says (csi_install_verb() found one) and reports on standard output and error.
 *
 * argv: UTF-8, borrowed. Returns CSI_EXIT_OK, CSI_EXIT_CONFIG for wrong usage or flags, CSI_EXIT_START when
 * it failed. Blocks for as long as the service takes to stop and to start. Needs administrator's rights.
 * Rests on the service manager (CreateServiceW and others), MoveFileExW and the registry. */
enum csi_exit csi_install_run(int argc, char *const *argv);

#endif
