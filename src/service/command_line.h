/* SPDX-License-Identifier: Apache-2.0
 *
 * Windows command lines: one text of which every program makes its own list of arguments, by the rules of
 * CommandLineToArgvW(). Portable and pure.
 */
#ifndef CSI_SERVICE_COMMAND_LINE_H
#define CSI_SERVICE_COMMAND_LINE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/status.h"

enum {
  CSI_COMMAND_LINE_ARGUMENTS = 1024,
  CSI_COMMAND_LINE_BYTES = 96 * 1024, /* CreateProcessW() takes 32,767 units, of up to 3 bytes each */
};

struct csi_command_line {
  char **arguments; /* argument_count texts and a NULL; [0] is the program */
  size_t argument_count;
  /* The program's path has blanks and no quotes: Windows tries "C:\Program.exe" before "C:\Program
   * Files\x.exe". */
  bool ambiguous;
};

/* Joins arguments to one text, quoted where that is needed, so that csi_command_line_split() and
 * CommandLineToArgvW() make the same arguments of it.
 *
 * arguments: argument_count of them, at least 1; [0] is the program's path. UTF-8.
 * Returns the text in the arena; NULL with INVALID_ARGUMENT when the program is empty or has a quote, which
 * no path has, or when the text gets too long; with RESOURCE_EXHAUSTED. */
char *csi_command_line_join(struct csi_arena *arena, char *const *arguments, size_t argument_count,
                            struct csi_status *status) CSI_MUST_CHECK;

/* Splits a command line as CommandLineToArgvW() does, but for one thing: a program's path that has blanks and
 * no quotes ends at the first ".exe" that ends a word, as CreateProcessW() finds it.
 *
 * out: texts in the arena. Fails with INVALID_ARGUMENT when it is empty, too long or has too many arguments,
 * RESOURCE_EXHAUSTED. */
bool csi_command_line_split(struct csi_arena *arena, const char *text, struct csi_command_line *out,
                            struct csi_status *status) CSI_MUST_CHECK;

#endif
