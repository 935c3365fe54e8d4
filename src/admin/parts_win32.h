/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts of this Windows.
 */
#ifndef CSI_ADMIN_PARTS_WIN32_H
#define CSI_ADMIN_PARTS_WIN32_H

#include "admin/parts.h"

/* Never fails; the table is static. Loads a DLL to look for its functions, lets go of it, and does so again
 * only as long as something is missing. */
const struct csi_parts_host *csi_parts_host_win32(void);

#endif
