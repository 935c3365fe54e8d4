/* SPDX-License-Identifier: Apache-2.0
 *
 * JSON as YAML 1.2 in block style.
 */
#ifndef CSI_CTL_YAML_H
#define CSI_CTL_YAML_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "client/ctl/text_buffer.h"

/* Appends the YAML form of JSON text to buffer; what a YAML parser makes of it equals what a JSON parser
 * makes of the JSON. Strings stand without quotes only when no parser, not even one of YAML 1.1, could take
 * them for something else; text of several lines becomes a literal block. Characters that could direct a
 * terminal are escaped. Pure; any thread.
 *
 * False: INVALID_ARGUMENT for what is no JSON, RESOURCE_EXHAUSTED when memory is short; the buffer then has
 * an unfinished text. */
bool csi_yaml_from_json(const char *json, size_t length_bytes, struct csi_text_buffer *buffer,
                        struct csi_status *status);

#endif
