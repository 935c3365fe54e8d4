/* SPDX-License-Identifier: Apache-2.0 */
#include "service/command_line.h"

#include <string.h>

#include "base/text.h"

#define BLANKS " \t"
#define EXE ".exe"

static bool ends_in_exe(const char *text, size_t length) {
  size_t exe = sizeof EXE - 1;
  return length >= exe && csi_utf8_compare_ignore_case(text + length - exe, exe, EXE, exe) == 0;
}

/* -- Joining ---------------------------------------------------------------------------------------- */

struct writer {
  char *text; /* CSI_COMMAND_LINE_BYTES + 1; NULL: only count */
  size_t length;
};

static void put(struct writer *writer, char c, size_t count) {
  for (size_t i = 0; i < count; i++, writer->length++)
    if (writer->text != NULL) writer->text[writer->length] = c;
}

static void put_plain(struct writer *writer, const char *text) {
  for (; *text != '\0'; text++)
    put(writer, *text, 1);
}

/* Backslashes mean themselves except in front of a quote, where each counts half. */
static void put_quoted(struct writer *writer, const char *argument) {
  put(writer, '"', 1);
  for (const char *next = argument; *next != '\0';) {
    size_t backslashes = strspn(next, "\\");
    next += backslashes;
    bool before_quote = *next == '"' || *next == '\0';
    put(writer, '\\', before_quote ? 2 * backslashes : backslashes);
    if (*next == '\0') break;
    if (*next == '"') put(writer, '\\', 1);
    put(writer, *next++, 1);
  }
  put(writer, '"', 1);
}

static void put_argument(struct writer *writer, const char *argument, bool is_program) {
  /* Of the program no backslash is special. Its end must be clear to who looks for ".exe", as well. */
  if (is_program && (strpbrk(argument, BLANKS) != NULL || !ends_in_exe(argument, strlen(argument)))) {
    put(writer, '"', 1);
    put_plain(writer, argument);
    put(writer, '"', 1);
  } else if (is_program || (argument[0] != '\0' && strpbrk(argument, BLANKS "\n\v\"") == NULL)) {
    put_plain(writer, argument);
  } else {
    put_quoted(writer, argument);
  }
}

static void put_all(struct writer *writer, char *const *arguments, size_t argument_count) {
  for (size_t i = 0; i < argument_count; i++) {
    if (i > 0) put(writer, ' ', 1);
    put_argument(writer, arguments[i], i == 0);
  }
}

char *csi_command_line_join(struct csi_arena *arena, char *const *arguments, size_t argument_count,
                            struct csi_status *status) {
  if (arguments[0][0] == '\0' || strchr(arguments[0], '"') != NULL) {
    csi_fail(status, CSI_INVALID_ARGUMENT, "not the path of a program: %.256s", arguments[0]);
    return NULL;
  }
  struct writer counter = {0};
  put_all(&counter, arguments, argument_count);
  if (counter.length > CSI_COMMAND_LINE_BYTES) {
    csi_fail(status, CSI_INVALID_ARGUMENT, "the command line has %zu bytes; Windows does not take that many",
             counter.length);
    return NULL;
  }
  struct writer writer = {.text = csi_arena_alloc(arena, counter.length + 1)};
  if (writer.text == NULL) {
    csi_fail_out_of_memory(status);
    return NULL;
  }
  put_all(&writer, arguments, argument_count);
  return writer.text;
}

/* -- Splitting -------------------------------------------------------------------------------------- */

struct splitter {
  const char *next;
  char *to; /* where the next byte of an argument is written */
  char **arguments;
  size_t count;
};

static bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

static void begin_argument(struct splitter *splitter) {
  splitter->arguments[splitter->count++] = splitter->to;
}

/* Also skips the blank or quote that ended it. */
static void end_argument(struct splitter *splitter) {
  if (*splitter->next != '\0') splitter->next++;
  *splitter->to++ = '\0';
}

/* How long an unquoted program is: up to the first word that ends in ".exe", else the first word. What begins
 * like a flag, or has a quote, is no more of it. */
static size_t program_bytes(const char *text, bool *ambiguous_out) {
  size_t first = strcspn(text, BLANKS);
  for (size_t length = first; length > 0;) {
    if (ends_in_exe(text, length)) {
      *ambiguous_out = length != first;
      return length;
    }
    const char *next = text + length + strspn(text + length, BLANKS);
    if (*next == '\0' || *next == '-') break;
    size_t word = strcspn(next, BLANKS);
    if (memchr(next, '"', word) != NULL) break;
    length = (size_t)(next - text) + word;
  }
  return first;
}

static void take_program(struct splitter *splitter, bool *ambiguous_out) {
  begin_argument(splitter);
  size_t length;
  if (*splitter->next == '"') {
    splitter->next++;
    length = strcspn(splitter->next, "\"");
  } else {
    length = program_bytes(splitter->next, ambiguous_out);
  }
  memcpy(splitter->to, splitter->next, length);
  splitter->to += length;
  splitter->next += length;
  end_argument(splitter);
}

/* Of three quotes in a row (counting the one that is open) the third means itself. `open` is how many are
 * counted; returns the same after the quotes at next. */
static unsigned take_quotes(struct splitter *splitter, unsigned open) {
  open++;
  for (splitter->next++; *splitter->next == '"'; splitter->next++) {
    if (++open < 3) continue;
    *splitter->to++ = '"';
    open = 0;
  }
  return open == 2 ? 0 : open;
}

static void take_argument(struct splitter *splitter) {
  begin_argument(splitter);
  unsigned open = 0;
  while (*splitter->next != '\0' && (open != 0 || !is_blank(*splitter->next))) {
    size_t backslashes = strspn(splitter->next, "\\");
    splitter->next += backslashes;
    bool before_quote = *splitter->next == '"';
    size_t kept = before_quote ? backslashes / 2 : backslashes;
    memset(splitter->to, '\\', kept);
    splitter->to += kept;
    if (before_quote && backslashes % 2 == 0) {
      open = take_quotes(splitter, open);
    } else if (before_quote) {
      splitter->next++;
      *splitter->to++ = '"';
    } else if (backslashes == 0) {
      *splitter->to++ = *splitter->next++;
    }
  }
  end_argument(splitter);
}

static bool split(struct splitter *splitter, bool *ambiguous_out, struct csi_status *status) {
  take_program(splitter, ambiguous_out);
  for (;;) {
    splitter->next += strspn(splitter->next, BLANKS);
    if (*splitter->next == '\0') return true;
    if (splitter->count == CSI_COMMAND_LINE_ARGUMENTS)
      return csi_fail(status, CSI_INVALID_ARGUMENT, "the command line has more than %d arguments",
                      CSI_COMMAND_LINE_ARGUMENTS);
    take_argument(splitter);
  }
}

bool csi_command_line_split(struct csi_arena *arena, const char *text, struct csi_command_line *out,
                            struct csi_status *status) {
  *out = (struct csi_command_line){0};
  size_t length = strlen(text);
  if (length == 0 || length > CSI_COMMAND_LINE_BYTES)
    return csi_fail(status, CSI_INVALID_ARGUMENT, "a command line of %zu bytes cannot be read", length);
  /* An argument is never longer than what it is read from; the NUL of the last comes on top. */
  char *buffer = csi_arena_alloc(arena, length + 1);
  char **arguments = csi_arena_alloc_array(arena, CSI_COMMAND_LINE_ARGUMENTS + 1, sizeof *arguments);
  if (buffer == NULL || arguments == NULL) return csi_fail_out_of_memory(status);
  struct splitter splitter = {.next = text, .to = buffer, .arguments = arguments};
  if (!split(&splitter, &out->ambiguous, status)) return false;
  out->arguments = arguments;
  out->argument_count = splitter.count;
  return true;
}
