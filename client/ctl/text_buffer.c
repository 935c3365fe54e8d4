/* SPDX-License-Identifier: Apache-2.0 */
#include "client/ctl/text_buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/wipe.h"
#include "client/ctl/width.h"

enum {
  FIRST_BYTES = 64,
  PIECE_BYTES = 256,
};

void csi_text_buffer_free(struct csi_text_buffer *buffer) {
  csi_wipe(buffer->text, buffer->capacity_bytes);
  free(buffer->text);
  *buffer = (struct csi_text_buffer){.coloured = buffer->coloured};
}

void csi_text_buffer_clear(struct csi_text_buffer *buffer) {
  buffer->length_bytes = 0;
  if (buffer->text != NULL) buffer->text[0] = '\0';
}

/* Room for more_bytes and a NUL. */
static bool reserve(struct csi_text_buffer *buffer, size_t more_bytes) {
  size_t capacity = buffer->capacity_bytes == 0 ? FIRST_BYTES : buffer->capacity_bytes;
  while (!buffer->out_of_memory && capacity - buffer->length_bytes <= more_bytes) {
    if (capacity > SIZE_MAX / 2) buffer->out_of_memory = true;
    capacity *= 2;
  }
  if (buffer->out_of_memory) return false;
  if (capacity == buffer->capacity_bytes) return true;
  char *text = malloc(capacity);
  buffer->out_of_memory = text == NULL;
  if (text == NULL) return false;
  if (buffer->text != NULL) {
    memcpy(text, buffer->text, buffer->length_bytes + 1);
    csi_wipe(buffer->text, buffer->capacity_bytes);
    free(buffer->text);
  }
  buffer->text = text;
  buffer->capacity_bytes = capacity;
  return true;
}

void csi_text_buffer_add(struct csi_text_buffer *buffer, const char *text, size_t length_bytes) {
  if (!reserve(buffer, length_bytes)) return;
  if (length_bytes > 0) memcpy(buffer->text + buffer->length_bytes, text, length_bytes);
  buffer->length_bytes += length_bytes;
  buffer->text[buffer->length_bytes] = '\0';
}

void csi_text_buffer_put(struct csi_text_buffer *buffer, const char *text) {
  csi_text_buffer_add(buffer, text, strlen(text));
}

void csi_text_buffer_fill(struct csi_text_buffer *buffer, char character, size_t count) {
  if (!reserve(buffer, count)) return;
  memset(buffer->text + buffer->length_bytes, character, count);
  buffer->length_bytes += count;
  buffer->text[buffer->length_bytes] = '\0';
}

void csi_text_buffer_print(struct csi_text_buffer *buffer, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  if (length < 0 || !reserve(buffer, (size_t)length)) return;
  va_start(arguments, format);
  vsnprintf(buffer->text + buffer->length_bytes, (size_t)length + 1, format, arguments);
  va_end(arguments);
  buffer->length_bytes += (size_t)length;
}

void csi_text_buffer_put_escaped(struct csi_text_buffer *buffer, const char *text, size_t length_bytes) {
  while (length_bytes > 0) {
    char piece[PIECE_BYTES];
    size_t taken = csi_text_escape(piece, sizeof piece, text, length_bytes);
    csi_text_buffer_put(buffer, piece);
    text += taken;
    length_bytes -= taken;
  }
}

void csi_text_buffer_wrap(struct csi_text_buffer *buffer, const char *text, size_t indent,
                          size_t limit_columns) {
  struct csi_text_buffer escaped = {0};
  csi_text_buffer_put_escaped(&escaped, text, strlen(text));
  buffer->out_of_memory |= escaped.out_of_memory;
  size_t column = indent;
  const char *at = escaped.length_bytes == 0 ? "" : escaped.text;
  while (*at != '\0') {
    size_t blanks = strspn(at, " ");
    size_t word = strcspn(at + blanks, " ");
    size_t columns = blanks + csi_text_columns(at + blanks, word);
    if (limit_columns > 0 && column > indent && column + columns > limit_columns) {
      csi_text_buffer_put(buffer, "\n");
      csi_text_buffer_fill(buffer, ' ', indent);
      column = indent;
      at += blanks;
      columns -= blanks;
      blanks = 0;
    }
    csi_text_buffer_add(buffer, at, blanks + word);
    column += columns;
    at += blanks + word;
  }
  csi_text_buffer_put(buffer, "\n");
  csi_text_buffer_free(&escaped);
}

void csi_text_buffer_begin(struct csi_text_buffer *buffer, enum csi_style style) {
  static const char *const sequences[] = {
      [CSI_STYLE_PLAIN] = "",        [CSI_STYLE_STRONG] = "\x1b[1m", [CSI_STYLE_FAINT] = "\x1b[2m",
      [CSI_STYLE_GOOD] = "\x1b[32m", [CSI_STYLE_NOTE] = "\x1b[33m",  [CSI_STYLE_BAD] = "\x1b[1;31m",
  };
  if (buffer->coloured) csi_text_buffer_put(buffer, sequences[style]);
}

void csi_text_buffer_end(struct csi_text_buffer *buffer, enum csi_style style) {
  if (buffer->coloured && style != CSI_STYLE_PLAIN) csi_text_buffer_put(buffer, "\x1b[0m");
}

void csi_text_buffer_styled(struct csi_text_buffer *buffer, enum csi_style style, const char *text) {
  csi_text_buffer_begin(buffer, style);
  csi_text_buffer_put(buffer, text);
  csi_text_buffer_end(buffer, style);
}
