/* SPDX-License-Identifier: Apache-2.0
 *
 * Text of generated files, collected in memory and written only when it differs from what is there, so
 * that a build does nothing again.
 */
#ifndef CSI_CODEGEN_OUT_H
#define CSI_CODEGEN_OUT_H

#include "codegen/model.h"

enum { GEN_COLUMNS = 105 };

struct gen_out {
  char *text;
  size_t length;
  size_t capacity;
};

/* Appends formatted text. */
void gen_put(struct gen_out *output, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Appends a C comment of its own, wrapped at GEN_COLUMNS, every line indented by `indent` blanks. Lines of
 * the text that are indented themselves are kept as they are. */
void gen_put_comment(struct gen_out *output, size_t indent, const char *text);

/* Appends words of `text` wrapped at GEN_COLUMNS; each line but the first starts with `lead`. */
void gen_put_wrapped(struct gen_out *output, const char *lead, const char *text);

/* The same as a C string literal, without the quotes. */
void gen_put_quoted(struct gen_out *output, const char *text);

/* Licence, what made this file from what, and do not edit. */
void gen_put_banner(struct gen_out *output, const struct gen_group *group, const char *what);

/* Writes directory/name unless it holds this text already, and releases the buffer. False after printing why.
 */
bool gen_save(struct gen_out *output, const char *directory, const char *name);

/* Releases the buffer without writing it. */
void gen_drop(struct gen_out *output);

/* Whole file, NUL-terminated; NULL when it cannot be read. */
char *gen_read_file(struct gen_arena *arena, const char *path, size_t *size_out);

#endif
