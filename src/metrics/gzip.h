/* SPDX-License-Identifier: Apache-2.0
 *
 * Answers compressed for clients that take it. Pure, but for memory.
 */
#ifndef CSI_METRICS_GZIP_H
#define CSI_METRICS_GZIP_H

#include <stdbool.h>
#include <stddef.h>

/* True when an Accept-Encoding header names gzip, or else "*", and not with q=0. NULL is no header. */
bool csi_gzip_is_accepted(const char *accept_encoding);

/* Compresses into a new block, to be freed with free(). False when memory is short. */
bool csi_gzip(const char *text, size_t length_bytes, char **out, size_t *out_bytes);

#endif
