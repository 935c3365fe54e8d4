/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads JSON text piece by piece, and writes it again in lines. A pure reader over bytes from outside: it
 * never reads behind the end, and has a limit on depth. Any thread.
 */
#ifndef CSI_CTL_JSON_TEXT_H
#define CSI_CTL_JSON_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "client/ctl/text_buffer.h"

enum {
  CSI_JSON_DEPTH = 100,
};

enum csi_json_kind {
  CSI_JSON_NULL,
  CSI_JSON_TRUE,
  CSI_JSON_FALSE,
  CSI_JSON_NUMBER,
  CSI_JSON_STRING,
  CSI_JSON_ARRAY,
  CSI_JSON_OBJECT,
};

struct csi_json_reader {
  const char *start;
  const char *at;
  const char *end;
  unsigned depth;
  const char *problem;       /* literal: what is wrong at `at`; NULL while nothing is */
  struct csi_status *status; /* INVALID_ARGUMENT with the offset at which the text is wrong */
};

void csi_json_reader_init(struct csi_json_reader *reader, const char *json, size_t length_bytes,
                          struct csi_status *status);

/* What the value that comes next is; false when there is none. Skips blanks, nothing else. */
bool csi_json_peek(struct csi_json_reader *reader, enum csi_json_kind *kind_out);

/* Reads null, true, false or a number; token_out and length_out refer to the text itself. */
bool csi_json_read_token(struct csi_json_reader *reader, const char **token_out, size_t *length_out);

/* Reads a string and sets buffer to what it stands for, in UTF-8. A lone surrogate becomes U+FFFD. */
bool csi_json_read_string(struct csi_json_reader *reader, struct csi_text_buffer *buffer);

/* Enters an array or object that csi_json_peek() has announced. */
bool csi_json_enter(struct csi_json_reader *reader);

/* After csi_json_enter() and after each element: whether another one follows. When none does, the array or
 * object is left.
 *
 * first (in, out): true before the first element.
 * close: ']' or '}'.
 * more_out: another element follows, the comma before it was read. */
bool csi_json_next(struct csi_json_reader *reader, bool *first, char close, bool *more_out);

/* Reads the colon behind the name of a member. */
bool csi_json_read_colon(struct csi_json_reader *reader);

/* Nothing but blanks may be left. */
bool csi_json_finish(struct csi_json_reader *reader);

/* Appends a string in quotes. Characters that could direct a terminal are escaped, which JSON allows; a byte
 * that is not UTF-8 becomes U+FFFD. */
void csi_json_put_string(struct csi_text_buffer *buffer, const char *text, size_t length_bytes);

/* Appends the text to buffer with a line for each value, indented by two blanks, and a line feed at the end.
 * Strings are written by csi_json_put_string(). */
bool csi_json_indent(const char *json, size_t length_bytes, struct csi_text_buffer *buffer,
                     struct csi_status *status);

#endif
