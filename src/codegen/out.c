/* SPDX-License-Identifier: Apache-2.0 */
#include "codegen/out.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void reserve(struct gen_out *output, size_t more_bytes) {
  size_t needed = output->length + more_bytes + 1;
  if (needed <= output->capacity) return;
  output->capacity = needed * 2;
  output->text = realloc(output->text, output->capacity);
  if (output->text == NULL) {
    fputs("csi-proxy-api-gen: out of memory\n", stderr);
    exit(1);
  }
}

static void put_bytes(struct gen_out *output, const char *bytes, size_t length) {
  reserve(output, length);
  memcpy(output->text + output->length, bytes, length);
  output->length += length;
  output->text[output->length] = '\0';
}

void gen_put(struct gen_out *output, const char *format, ...) {
  va_list args;
  va_start(args, format);
  int length = vsnprintf(NULL, 0, format, args);
  va_end(args);
  reserve(output, (size_t)length);
  va_start(args, format);
  vsnprintf(output->text + output->length, (size_t)length + 1, format, args);
  va_end(args);
  output->length += (size_t)length;
}

static size_t column(const struct gen_out *output) {
  size_t start = output->length;
  while (start > 0 && output->text[start - 1] != '\n')
    start--;
  return output->length - start;
}

/* Length without blanks at the end. */
static size_t trimmed(const char *text) {
  size_t length = strlen(text);
  while (length > 0 && text[length - 1] == ' ')
    length--;
  return length;
}

/* Ends a paragraph, or starts a line that is set apart by blanks before it, which stay. Returns how much
 * of the text it used. */
static size_t start_line(struct gen_out *output, const char *lead, const char *text) {
  bool paragraph = text[1] == '\n';
  size_t used = paragraph ? 2 : 1;
  size_t blanks = strspn(text + used, " ");
  if (paragraph) gen_put(output, "\n%.*s", (int)trimmed(lead), lead);
  gen_put(output, "\n%s%.*s", lead, (int)blanks, text + used);
  return used + blanks;
}

void gen_put_wrapped(struct gen_out *output, const char *lead, const char *text) {
  bool line_start = true;
  while (*text != '\0') {
    size_t word = strcspn(text, " \n");
    if (!line_start && column(output) + 1 + word > GEN_COLUMNS) {
      gen_put(output, "\n%s", lead);
      line_start = true;
    }
    if (!line_start && word > 0) gen_put(output, " ");
    put_bytes(output, text, word);
    line_start = line_start && word == 0;
    text += word;
    if (text[0] == '\n' && (text[1] == '\n' || text[1] == ' ')) {
      text += start_line(output, lead, text);
      line_start = true;
    } else if (*text != '\0') {
      text++;
    }
  }
}

void gen_put_comment(struct gen_out *output, size_t indent, const char *text) {
  char lead[64];
  snprintf(lead, sizeof lead, "%*s * ", (int)indent, "");
  gen_put(output, "%*s/* ", (int)indent, "");
  gen_put_wrapped(output, lead, text);
  gen_put(output, " */\n");
}

void gen_put_quoted(struct gen_out *output, const char *text) {
  for (; *text != '\0'; text++) {
    if (*text == '"' || *text == '\\')
      gen_put(output, "\\%c", *text);
    else if (*text == '\n')
      gen_put(output, "\\n");
    else
      gen_put(output, "%c", *text);
  }
}

void gen_put_banner(struct gen_out *output, const struct gen_group *group, const char *what) {
  gen_put(output, "/* SPDX-License-Identifier: Apache-2.0\n *\n * ");
  gen_put_wrapped(output, " * ", what);
  gen_put(output,
          "\n * Made by csi-proxy-api-gen from %s%s/group.proto and its versions. Do not edit.\n */\n",
          group->label, group->name);
}

/* --- files */

char *gen_read_file(struct gen_arena *arena, const char *path, size_t *size_out) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) return NULL;
  char *text = NULL;
  long size = -1;
  if (fseek(file, 0, SEEK_END) == 0) size = ftell(file);
  if (size >= 0 && fseek(file, 0, SEEK_SET) == 0) {
    text = gen_alloc(arena, (size_t)size + 1);
    if (fread(text, 1, (size_t)size, file) != (size_t)size) text = NULL;
  }
  fclose(file);
  *size_out = size < 0 ? 0 : (size_t)size;
  return text;
}

static bool make_parents(char *path) {
  for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    bool made = mkdir(path, 0777) == 0 || errno == EEXIST;
    *slash = '/';
    if (!made) return false;
  }
  return true;
}

static bool holds(struct gen_arena *arena, const char *path, const struct gen_out *output) {
  size_t size;
  const char *text = gen_read_file(arena, path, &size);
  return text != NULL && size == output->length && memcmp(text, output->text, size) == 0;
}

static bool write_file(const char *path, const struct gen_out *output) {
  FILE *file = fopen(path, "wb");
  if (file == NULL) return false;
  bool written = fwrite(output->text, 1, output->length, file) == output->length;
  return fclose(file) == 0 && written;
}

void gen_drop(struct gen_out *output) {
  free(output->text);
  *output = (struct gen_out){0};
}

bool gen_save(struct gen_out *output, const char *directory, const char *name) {
  struct gen_arena *arena = gen_arena_new();
  char *path = gen_printf(arena, "%s/%s", directory, name);
  bool saved = holds(arena, path, output) || (make_parents(path) && write_file(path, output));
  if (!saved) fprintf(stderr, "csi-proxy-api-gen: cannot write %s: %s\n", path, strerror(errno));
  gen_arena_free(arena);
  gen_drop(output);
  return saved;
}
