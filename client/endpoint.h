/* SPDX-License-Identifier: Apache-2.0
 *
 * The name of the pipe or socket of one version of a group.
 */
#ifndef CSI_CLIENT_ENDPOINT_H
#define CSI_CLIENT_ENDPOINT_H

#include <stdbool.h>

#include "base/status.h"

/* Puts group and version in place of the two %s of a format; %% stands for one %.
 *
 * format (in): NULL for this system's default.
 * name_out (out): to be freed with free().
 *
 * False: INVALID_ARGUMENT for a format without exactly two %s or with any other directive,
 * RESOURCE_EXHAUSTED when memory is short. */
bool csi_endpoint_name(const char *format, const char *group, const char *version, char **name_out,
                       struct csi_status *status);

#endif
