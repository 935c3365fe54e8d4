/* SPDX-License-Identifier: Apache-2.0
 *
 * How the text of one flag becomes its value; private to flags*.c.
 */
#ifndef CSI_BASE_FLAGS_VALUE_H
#define CSI_BASE_FLAGS_VALUE_H

#include "base/flags.h"

/* Stores what text says in the flag's value. On failure the value may have changed (custom setters
 * only), and reason says why in Go's words. */
bool csi_flag_set(const struct csi_flag *flag, const char *text, char *reason, size_t reason_bytes);

/* Stores the default: default_text, or the type's zero. */
bool csi_flag_set_default(const struct csi_flag *flag, char *reason, size_t reason_bytes);

#endif
