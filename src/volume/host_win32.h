/* SPDX-License-Identifier: Apache-2.0
 *
 * The volumes of this machine.
 */
#ifndef CSI_VOLUME_HOST_WIN32_H
#define CSI_VOLUME_HOST_WIN32_H

#include "volume/host.h"

/* Never fails; the table is static. */
const struct csi_volume_host *csi_volume_host_win32(void);

#endif
