/* SPDX-License-Identifier: Apache-2.0 */
#include "client/ctl/yaml.h"

#include <string.h>

#include "base/text.h"
#include "client/ctl/json_text.h"

enum {
  SIMPLE_KEY_BYTES = 512, /* YAML allows 1024 characters on the line of a key; a longer one needs "? " */
};

struct writer {
  struct csi_json_reader reader;
  struct csi_text_buffer *out;
  struct csi_text_buffer string;
};

/* ---- Strings. ---- */

/* May stand in a file as it is: neither escaped for terminals nor kept out by YAML. */
static bool is_printable(uint32_t point) {
  return !csi_character_is_treacherous(point) && point != 0xFFFE && point != 0xFFFF;
}

struct traits {
  bool printable; /* line feeds aside */
  bool has_line_feed;
};

static struct traits look_at(const struct csi_text_buffer *string) {
  struct traits traits = {.printable = true};
  for (size_t at = 0; at < string->length_bytes;) {
    uint32_t point;
    size_t size = csi_utf8_decode(string->text + at, string->length_bytes - at, &point);
    if (point == '\n')
      traits.has_line_feed = true;
    else if (!is_printable(point))
      traits.printable = false;
    at += size;
  }
  return traits;
}

/* Words that some version of YAML takes for null or a boolean. */
static bool is_word_of_yaml(const char *text) {
  static const char *const words[] = {"null", "true", "false", "yes", "no", "on", "off", "y", "n"};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    if (csi_utf8_equal_ignore_case(text, words[i])) return true;
  }
  return false;
}

/* One printable line. Whatever begins like a number, a date or an indicator is quoted. */
static bool may_be_plain(const struct csi_text_buffer *string) {
  static const char bad_beginnings[] = " -?:,[]{}#&*!|>'\"%@`0123456789+.~=<";
  const char *text = string->text;
  size_t length = string->length_bytes;
  if (length == 0 || strchr(bad_beginnings, text[0]) != NULL) return false;
  if (text[length - 1] == ' ' || text[length - 1] == ':') return false;
  return strstr(text, ": ") == NULL && strstr(text, " #") == NULL && !is_word_of_yaml(text);
}

/* A literal block finds its indentation by its first line, and keeps one line feed at the end or none. */
static bool may_be_block(const struct csi_text_buffer *string) {
  const char *text = string->text;
  size_t length = string->length_bytes;
  return text[0] != '\n' && text[0] != ' ' && !(length >= 2 && memcmp(text + length - 2, "\n\n", 2) == 0);
}

static void write_single_quoted(struct writer *writer) {
  csi_text_buffer_put(writer->out, "'");
  const char *at = writer->string.length_bytes == 0 ? "" : writer->string.text;
  for (; *at != '\0'; at++)
    csi_text_buffer_add(writer->out, *at == '\'' ? "''" : at, *at == '\'' ? 2 : 1);
  csi_text_buffer_put(writer->out, "'");
}

static void write_double_quoted(struct writer *writer) {
  const struct csi_text_buffer *string = &writer->string;
  csi_text_buffer_put(writer->out, "\"");
  for (size_t at = 0; at < string->length_bytes;) {
    uint32_t point;
    size_t size = csi_utf8_decode(string->text + at, string->length_bytes - at, &point);
    if (point == '\n')
      csi_text_buffer_put(writer->out, "\\n");
    else if (point == '"' || point == '\\')
      csi_text_buffer_print(writer->out, "\\%c", (int)point);
    else if (!is_printable(point))
      csi_text_buffer_print(writer->out, point < 0x100 ? "\\x%02x" : "\\u%04x", (unsigned)point);
    else
      csi_text_buffer_add(writer->out, string->text + at, size);
    at += size;
  }
  csi_text_buffer_put(writer->out, "\"");
}

static void write_block(struct writer *writer, size_t indent) {
  const struct csi_text_buffer *string = &writer->string;
  bool ends = string->text[string->length_bytes - 1] == '\n';
  size_t length = string->length_bytes - ends;
  csi_text_buffer_put(writer->out, ends ? "|" : "|-");
  for (size_t at = 0; at < length;) {
    const char *feed = memchr(string->text + at, '\n', length - at);
    size_t line = feed == NULL ? length - at : (size_t)(feed - (string->text + at));
    csi_text_buffer_put(writer->out, "\n");
    if (line > 0) csi_text_buffer_fill(writer->out, ' ', indent);
    csi_text_buffer_add(writer->out, string->text + at, line);
    at += line + (feed != NULL);
  }
}

static void write_string(struct writer *writer, bool is_key, size_t indent) {
  struct traits traits = look_at(&writer->string);
  if (!traits.printable || (traits.has_line_feed && (is_key || !may_be_block(&writer->string))))
    write_double_quoted(writer);
  else if (traits.has_line_feed)
    write_block(writer, indent);
  else if (may_be_plain(&writer->string))
    csi_text_buffer_add(writer->out, writer->string.text, writer->string.length_bytes);
  else
    write_single_quoted(writer);
}

/* ---- Everything else. ---- */

/* Parsers of YAML 1.1 take a number for one with an exponent only when it has a point and a sign: 1e5 becomes
 * 1.0e+5. */
static void write_number(struct csi_text_buffer *out, const char *token, size_t length) {
  size_t mantissa = 0;
  while (mantissa < length && token[mantissa] != 'e' && token[mantissa] != 'E')
    mantissa++;
  csi_text_buffer_add(out, token, mantissa);
  if (mantissa == length) return;
  if (memchr(token, '.', mantissa) == NULL) csi_text_buffer_put(out, ".0");
  bool is_signed = token[mantissa + 1] == '-' || token[mantissa + 1] == '+';
  csi_text_buffer_put(out, is_signed ? "e" : "e+");
  csi_text_buffer_add(out, token + mantissa + 1, length - mantissa - 1);
}

static bool write_value(struct writer *writer, size_t indent);

static void new_line(struct writer *writer, size_t indent) {
  csi_text_buffer_put(writer->out, "\n");
  csi_text_buffer_fill(writer->out, ' ', indent);
}

/* What stands behind "name:", on the same line or below it. */
static bool write_member_value(struct writer *writer, size_t indent) {
  enum csi_json_kind kind;
  if (!csi_json_peek(&writer->reader, &kind)) return false;
  bool nested = kind == CSI_JSON_ARRAY || kind == CSI_JSON_OBJECT;
  size_t before = writer->out->length_bytes;
  if (nested)
    new_line(writer, indent);
  else
    csi_text_buffer_put(writer->out, " ");
  size_t begin = writer->out->length_bytes;
  if (!write_value(writer, indent)) return false;
  /* An empty one stands on the line of its name. */
  size_t length = writer->out->length_bytes - begin;
  if (!nested || length != 2 || writer->out->out_of_memory) return true;
  const char brackets[] = {' ', writer->out->text[begin], writer->out->text[begin + 1]};
  if (brackets[1] != '[' && brackets[1] != '{') return true;
  writer->out->length_bytes = before;
  csi_text_buffer_add(writer->out, brackets, sizeof brackets);
  return true;
}

static bool write_member(struct writer *writer, size_t indent) {
  if (!csi_json_read_string(&writer->reader, &writer->string)) return false;
  bool is_simple = writer->string.length_bytes <= SIMPLE_KEY_BYTES;
  if (!is_simple) csi_text_buffer_put(writer->out, "? ");
  write_string(writer, true, indent);
  if (!is_simple) new_line(writer, indent);
  csi_text_buffer_put(writer->out, ":");
  return csi_json_read_colon(&writer->reader) && write_member_value(writer, indent + 2);
}

/* The first element stands where the text has got to, the others on lines of their own. */
static bool write_list(struct writer *writer, bool named, size_t indent) {
  if (!csi_json_enter(&writer->reader)) return false;
  bool first = true, more, empty = true;
  while (true) {
    if (!csi_json_next(&writer->reader, &first, named ? '}' : ']', &more)) return false;
    if (!more) break;
    if (!empty) new_line(writer, indent);
    empty = false;
    if (!named) csi_text_buffer_put(writer->out, "- ");
    if (!(named ? write_member(writer, indent) : write_value(writer, indent + 2))) return false;
  }
  if (empty) csi_text_buffer_put(writer->out, named ? "{}" : "[]");
  return true;
}

static bool write_value(struct writer *writer, size_t indent) {
  enum csi_json_kind kind;
  if (!csi_json_peek(&writer->reader, &kind)) return false;
  if (kind == CSI_JSON_ARRAY || kind == CSI_JSON_OBJECT)
    return write_list(writer, kind == CSI_JSON_OBJECT, indent);
  if (kind == CSI_JSON_STRING) {
    if (!csi_json_read_string(&writer->reader, &writer->string)) return false;
    write_string(writer, false, indent > 0 ? indent : 2);
    return true;
  }
  const char *token;
  size_t length;
  if (!csi_json_read_token(&writer->reader, &token, &length)) return false;
  if (kind == CSI_JSON_NUMBER)
    write_number(writer->out, token, length);
  else
    csi_text_buffer_add(writer->out, token, length);
  return true;
}

bool csi_yaml_from_json(const char *json, size_t length_bytes, struct csi_text_buffer *buffer,
                        struct csi_status *status) {
  struct writer writer = {.out = buffer};
  csi_json_reader_init(&writer.reader, json, length_bytes, status);
  bool ok = write_value(&writer, 0) && csi_json_finish(&writer.reader);
  csi_text_buffer_free(&writer.string);
  if (!ok) return false;
  csi_text_buffer_put(buffer, "\n");
  return !buffer->out_of_memory || csi_fail_out_of_memory(status);
}
