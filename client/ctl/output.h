/* SPDX-License-Identifier: Apache-2.0
 *
 * How a verb shows its result: composed in a buffer, then written in one go.
 */
#ifndef CSI_CTL_OUTPUT_H
#define CSI_CTL_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "client/ctl/ctl.h"
#include "client/ctl/rpc.h"
#include "client/ctl/text_buffer.h"

/* Whether styles are shown: as -color says; with `auto` on a terminal that can, unless NO_COLOR is set to
 * anything but "". */
bool csi_output_coloured(const struct csi_ctl *ctl);

/* Columns that a table may have: those of the terminal, 0 = any number when output is not a terminal. */
size_t csi_output_columns(void);

/* Writes the buffer to standard output and frees it. Returns CSI_CTL_DONE; CSI_CTL_REFUSED after telling on
 * standard error why it could not be written. */
int csi_output_write(const struct csi_ctl *ctl, struct csi_text_buffer *buffer);

/* For a write to standard output that has failed: tells why by errno, but nothing of a reader that has gone
 * away (EPIPE). Returns CSI_CTL_REFUSED. */
int csi_output_not_written(const struct csi_ctl *ctl);

/* Writes a message: with -o yaml as YAML, otherwise as JSON in lines. Both have the field names of the proto,
 * and every field. Returns as csi_output_write(). */
int csi_output_message(const struct csi_ctl *ctl, const struct csi_ctl_message *message);

#endif
