/* SPDX-License-Identifier: Apache-2.0
 *
 * The API groups this library knows.
 */
#ifndef CSI_CLIENT_GROUPS_H
#define CSI_CLIENT_GROUPS_H

#include "client/runtime.h"

/* Every group, NULL-terminated. */
extern const struct csi_client_group *const csi_client_groups[];

#endif
