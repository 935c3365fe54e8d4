/* SPDX-License-Identifier: Apache-2.0
 *
 * What upb does not insist on in JSON from outside, or cannot tell the place of: known names that stand once,
 * nothing behind the end, UTF-8, halves of characters, bounds.
 */
#ifndef CSI_CTL_JSON_CHECK_H
#define CSI_CTL_JSON_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <upb/def.h>

#include "client/ctl/ctl.h"
#include "client/ctl/text_buffer.h"

/* Line and column, both from 1; a column is a character. */
struct csi_json_place {
  size_t line;
  size_t column;
};

/* The place of a byte. offset_bytes: at most the length of the text. */
struct csi_json_place csi_json_place_of(const char *json, size_t offset_bytes);

/* Checks JSON for a message. The types of its values are left to upb, but for what upb takes and changes:
 * integers that a double cannot hold or that are out of range, and empty texts for numbers.
 *
 * normal (out): the same JSON, with integers of many digits in quotes, which upb reads exactly; to be wiped
 * and freed by the caller, also on failure.
 *
 * False: wrong usage, with the place, and for an unknown name with the nearest one as hint. Pure but for
 * memory; takes time in proportion to the length. */
bool csi_json_check(const char *json, size_t length_bytes, const upb_MessageDef *definition,
                    struct csi_text_buffer *normal, struct csi_ctl_error *error);

#endif
