/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CSI_CTL_JSON_SORT_H
#define CSI_CTL_JSON_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <upb/def.h>

#include "client/ctl/text_buffer.h"

/* Appends the JSON that upb made of a message, with the entries of its maps in the order of their keys,
 * numbers by value: upb writes them in the order of its hash table. Everything else stays as it is.
 *
 * False: memory is short, or it is no JSON of such a message; out then has an unfinished text. */
bool csi_json_sort_maps(const char *json, size_t length_bytes, const upb_MessageDef *definition,
                        struct csi_text_buffer *out);

#endif
