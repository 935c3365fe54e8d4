/* SPDX-License-Identifier: Apache-2.0
 *
 * Text that grows while it is composed, to be written in one go. It may be a request with a password: memory
 * that it gives back is overwritten. Not thread-safe; never blocks.
 */
#ifndef CSI_CTL_TEXT_BUFFER_H
#define CSI_CTL_TEXT_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

enum csi_style {
  CSI_STYLE_PLAIN,
  CSI_STYLE_STRONG,
  CSI_STYLE_FAINT,
  CSI_STYLE_GOOD,
  CSI_STYLE_NOTE,
  CSI_STYLE_BAD,
};

/* All zero is an empty one without colours. Released with csi_text_buffer_free(). */
struct csi_text_buffer {
  char *text; /* NUL-terminated; NULL while empty */
  size_t length_bytes;
  size_t capacity_bytes;
  bool coloured;      /* styles become escape sequences of the terminal; otherwise they are dropped */
  bool out_of_memory; /* something was left out */
};

void csi_text_buffer_free(struct csi_text_buffer *buffer);

/* Empties the buffer and keeps its memory. */
void csi_text_buffer_clear(struct csi_text_buffer *buffer);

void csi_text_buffer_add(struct csi_text_buffer *buffer, const char *text, size_t length_bytes);
void csi_text_buffer_put(struct csi_text_buffer *buffer, const char *text);
void csi_text_buffer_fill(struct csi_text_buffer *buffer, char character, size_t count);
void csi_text_buffer_print(struct csi_text_buffer *buffer, const char *format, ...) CSI_PRINTF(2, 3);

/* Adds foreign text as csi_text_escape() makes it, so that it cannot direct a terminal. */
void csi_text_buffer_put_escaped(struct csi_text_buffer *buffer, const char *text, size_t length_bytes);

/* Adds foreign text in lines of at most limit_columns, broken at blanks, and a line feed. It is escaped. The
 * first line goes on where the text has got to, which is taken to be column `indent`; the others are indented
 * by as much. A word that is longer than a line stands on one of its own. limit_columns 0 = one line. */
void csi_text_buffer_wrap(struct csi_text_buffer *buffer, const char *text, size_t indent,
                          size_t limit_columns);

/* Adds the sequences that begin and end a style; nothing when the buffer has no colours. */
void csi_text_buffer_begin(struct csi_text_buffer *buffer, enum csi_style style);
void csi_text_buffer_end(struct csi_text_buffer *buffer, enum csi_style style);

/* Adds text of our own in a style. */
void csi_text_buffer_styled(struct csi_text_buffer *buffer, enum csi_style style, const char *text);

#endif
