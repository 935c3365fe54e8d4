/* SPDX-License-Identifier: Apache-2.0 */
#include "client/ctl/json_text.h"

#include <stdint.h>
#include <string.h>

#include "base/text.h"

enum {
  REPLACEMENT = 0xFFFD,
};

void csi_json_reader_init(struct csi_json_reader *reader, const char *json, size_t length_bytes,
                          struct csi_status *status) {
  *reader = (struct csi_json_reader){.start = json, .at = json, .end = json + length_bytes, .status = status};
}

static bool wrong(struct csi_json_reader *reader, const char *what) {
  reader->problem = what;
  return csi_fail(reader->status, CSI_INVALID_ARGUMENT, "JSON: %s at byte %zu", what,
                  (size_t)(reader->at - reader->start));
}

static void skip_blanks(struct csi_json_reader *reader) {
  while (reader->at < reader->end && strchr(" \t\r\n", *reader->at) != NULL && *reader->at != '\0')
    reader->at++;
}

/* The next character behind blanks; NUL at the end. */
static char next_character(struct csi_json_reader *reader) {
  skip_blanks(reader);
  return reader->at < reader->end ? *reader->at : '\0';
}

bool csi_json_peek(struct csi_json_reader *reader, enum csi_json_kind *kind_out) {
  char next = next_character(reader);
  if (next == '{')
    *kind_out = CSI_JSON_OBJECT;
  else if (next == '[')
    *kind_out = CSI_JSON_ARRAY;
  else if (next == '"')
    *kind_out = CSI_JSON_STRING;
  else if (next == 't')
    *kind_out = CSI_JSON_TRUE;
  else if (next == 'f')
    *kind_out = CSI_JSON_FALSE;
  else if (next == 'n')
    *kind_out = CSI_JSON_NULL;
  else if (next == '-' || (next >= '0' && next <= '9'))
    *kind_out = CSI_JSON_NUMBER;
  else
    return wrong(reader, "no value");
  return true;
}

static size_t digits(const char *at, const char *end) {
  size_t count = 0;
  while (at + count < end && at[count] >= '0' && at[count] <= '9')
    count++;
  return count;
}

/* Length of the number at `at`; 0 when it is none. */
static size_t number_length(const char *at, const char *end) {
  const char *begin = at;
  if (at < end && *at == '-') at++;
  size_t count = digits(at, end);
  if (count == 0 || (count > 1 && *at == '0')) return 0;
  at += count;
  if (at < end && *at == '.') {
    count = digits(at + 1, end);
    if (count == 0) return 0;
    at += 1 + count;
  }
  if (at < end && (*at == 'e' || *at == 'E')) {
    at++;
    if (at < end && (*at == '+' || *at == '-')) at++;
    count = digits(at, end);
    if (count == 0) return 0;
    at += count;
  }
  return (size_t)(at - begin);
}

bool csi_json_read_token(struct csi_json_reader *reader, const char **token_out, size_t *length_out) {
  static const char *const words[] = {"null", "true", "false"};
  skip_blanks(reader);
  size_t left = (size_t)(reader->end - reader->at);
  size_t length = number_length(reader->at, reader->end);
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    size_t bytes = strlen(words[i]);
    if (left >= bytes && memcmp(reader->at, words[i], bytes) == 0) length = bytes;
  }
  if (length == 0) return wrong(reader, "no value");
  *token_out = reader->at;
  *length_out = length;
  reader->at += length;
  return true;
}

/* Four hexadecimal digits. */
static bool read_unit(struct csi_json_reader *reader, uint32_t *unit_out) {
  uint32_t unit = 0;
  for (unsigned i = 0; i < 4; i++, reader->at++) {
    static const char hexadecimal[] = "0123456789abcdef0123456789ABCDEF";
    const char *found =
        reader->at < reader->end && *reader->at != '\0' ? strchr(hexadecimal, *reader->at) : NULL;
    if (found == NULL) return wrong(reader, "no hexadecimal digit");
    unit = unit << 4 | ((uint32_t)(found - hexadecimal) & 15);
  }
  *unit_out = unit;
  return true;
}

static void add_character(struct csi_text_buffer *buffer, uint32_t point) {
  char bytes[4];
  csi_text_buffer_add(buffer, bytes, csi_utf8_encode(point, bytes));
}

/* What follows "\u": a character, or both halves of one. */
static bool read_escaped_character(struct csi_json_reader *reader, struct csi_text_buffer *buffer) {
  uint32_t point = 0, low = 0;
  if (!read_unit(reader, &point)) return false;
  bool high = point >= 0xD800 && point <= 0xDBFF;
  if (high && reader->end - reader->at >= 6 && reader->at[0] == '\\' && reader->at[1] == 'u') {
    const char *before = reader->at;
    reader->at += 2;
    if (!read_unit(reader, &low)) return false;
    if (low >= 0xDC00 && low <= 0xDFFF)
      point = 0x10000 + ((point - 0xD800) << 10) + (low - 0xDC00);
    else
      reader->at = before;
  }
  add_character(buffer, point >= 0xD800 && point <= 0xDFFF ? REPLACEMENT : point);
  return true;
}

static bool read_escape(struct csi_json_reader *reader, struct csi_text_buffer *buffer) {
  static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
  if (reader->at == reader->end) return wrong(reader, "an unfinished string");
  char letter = *reader->at++;
  if (letter == 'u') return read_escaped_character(reader, buffer);
  const char *found = letter != '\0' ? strchr(letters, letter) : NULL;
  if (found == NULL) return wrong(reader, "an unknown escape");
  csi_text_buffer_add(buffer, &meanings[found - letters], 1);
  return true;
}

bool csi_json_read_string(struct csi_json_reader *reader, struct csi_text_buffer *buffer) {
  csi_text_buffer_clear(buffer);
  if (next_character(reader) != '"') return wrong(reader, "no string");
  reader->at++;
  while (reader->at < reader->end && *reader->at != '"') {
    uint32_t point;
    if (*reader->at == '\\') {
      reader->at++;
      if (!read_escape(reader, buffer)) return false;
      continue;
    }
    size_t size = csi_utf8_decode(reader->at, (size_t)(reader->end - reader->at), &point);
    if (size == 0 || point < 0x20) return wrong(reader, "a character that strings cannot have");
    csi_text_buffer_add(buffer, reader->at, size);
    reader->at += size;
  }
  if (reader->at == reader->end) return wrong(reader, "an unfinished string");
  reader->at++;
  return !buffer->out_of_memory || csi_fail_out_of_memory(reader->status);
}

bool csi_json_enter(struct csi_json_reader *reader) {
  if (++reader->depth > CSI_JSON_DEPTH) return wrong(reader, "nested too deeply");
  reader->at++;
  return true;
}

bool csi_json_next(struct csi_json_reader *reader, bool *first, char close, bool *more_out) {
  char next = next_character(reader);
  *more_out = next != close;
  if (next == close) {
    reader->at++;
    reader->depth--;
    return true;
  }
  if (!*first) {
    if (next != ',') return wrong(reader, "no comma");
    reader->at++;
  }
  *first = false;
  return true;
}

bool csi_json_read_colon(struct csi_json_reader *reader) {
  if (next_character(reader) != ':') return wrong(reader, "no colon");
  reader->at++;
  return true;
}

bool csi_json_finish(struct csi_json_reader *reader) {
  skip_blanks(reader);
  return reader->at == reader->end || wrong(reader, "something behind the value");
}

/* ---- Writing. ---- */

struct writer {
  struct csi_json_reader reader;
  struct csi_text_buffer *out;
  struct csi_text_buffer string;
};

void csi_json_put_string(struct csi_text_buffer *out, const char *text, size_t length_bytes) {
  csi_text_buffer_put(out, "\"");
  for (size_t at = 0; at < length_bytes;) {
    uint32_t point;
    size_t size = csi_utf8_decode(text + at, length_bytes - at, &point);
    if (size == 0) {
      csi_text_buffer_put(out, "\xEF\xBF\xBD");
      at++;
      continue;
    }
    if (point == '\n')
      csi_text_buffer_put(out, "\\n");
    else if (point == '"' || point == '\\')
      csi_text_buffer_print(out, "\\%c", (int)point);
    else if (csi_character_is_treacherous(point))
      csi_text_buffer_print(out, "\\u%04x", (unsigned)point);
    else
      csi_text_buffer_add(out, text + at, size);
    at += size;
  }
  csi_text_buffer_put(out, "\"");
}

static bool copy_string(struct writer *writer) {
  if (!csi_json_read_string(&writer->reader, &writer->string)) return false;
  csi_json_put_string(writer->out, writer->string.text, writer->string.length_bytes);
  return true;
}

static void new_line(struct writer *writer) {
  csi_text_buffer_put(writer->out, "\n");
  csi_text_buffer_fill(writer->out, ' ', 2 * (size_t)writer->reader.depth);
}

static bool copy_value(struct writer *writer);

static bool copy_list(struct writer *writer, bool named) {
  struct csi_json_reader *reader = &writer->reader;
  const char close = named ? '}' : ']';
  csi_text_buffer_put(writer->out, named ? "{" : "[");
  if (!csi_json_enter(reader)) return false;
  bool first = true, more, empty = true;
  while (true) {
    if (!csi_json_next(reader, &first, close, &more)) return false;
    if (!more) break;
    if (!empty) csi_text_buffer_put(writer->out, ",");
    empty = false;
    new_line(writer);
    if (named) {
      if (!copy_string(writer) || !csi_json_read_colon(reader)) return false;
      csi_text_buffer_put(writer->out, ": ");
    }
    if (!copy_value(writer)) return false;
  }
  if (!empty) new_line(writer);
  csi_text_buffer_add(writer->out, &close, 1);
  return true;
}

static bool copy_value(struct writer *writer) {
  enum csi_json_kind kind;
  if (!csi_json_peek(&writer->reader, &kind)) return false;
  if (kind == CSI_JSON_OBJECT || kind == CSI_JSON_ARRAY) return copy_list(writer, kind == CSI_JSON_OBJECT);
  if (kind == CSI_JSON_STRING) return copy_string(writer);
  const char *token;
  size_t length;
  if (!csi_json_read_token(&writer->reader, &token, &length)) return false;
  csi_text_buffer_add(writer->out, token, length);
  return true;
}

bool csi_json_indent(const char *json, size_t length_bytes, struct csi_text_buffer *buffer,
                     struct csi_status *status) {
  struct writer writer = {.out = buffer};
  csi_json_reader_init(&writer.reader, json, length_bytes, status);
  bool ok = copy_value(&writer) && csi_json_finish(&writer.reader);
  csi_text_buffer_free(&writer.string);
  if (!ok) return false;
  csi_text_buffer_put(buffer, "\n");
  return !buffer->out_of_memory || csi_fail_out_of_memory(status);
}
