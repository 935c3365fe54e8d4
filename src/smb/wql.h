/* SPDX-License-Identifier: Apache-2.0
 *
 * Queries in WMI's language. Pure functions.
 */
#ifndef CSI_SMB_WQL_H
#define CSI_SMB_WQL_H

#include "base/arena.h"

/* `SELECT * FROM class_name WHERE property = 'value'`, value quoted so that it stays one literal, whatever
 * it holds. class_name and property are ours. NULL when memory is short. */
char *csi_wql_select(struct csi_arena *arena, const char *class_name, const char *property,
                     const char *value) CSI_MUST_CHECK;

#endif
