/* SPDX-License-Identifier: Apache-2.0
 *
 * Command-line flags with the syntax, the error texts and the usage layout of Go's flag package,
 * because installed service command lines were written for it.
 *
 *   static bool privacy;
 *   static const struct csi_flag own[] = {
 *       {.name = "require-privacy", .type = CSI_FLAG_BOOL, .value = &privacy, .default_text = "true",
 *        .usage = "Encrypt new SMB mappings."},
 *   };
 *   const struct csi_flag_table tables[] = {{own, 1}, csi_log_flags()};
 *   switch (csi_flags_parse(tables, 2, argc, argv, &rest, &status)) ...
 *
 * Syntax: -x, --x, -x=v, -x v. A boolean takes a value only with '='. Parsing stops at the first
 * argument that is no flag, and behind "--". Not thread-safe; nothing here allocates or blocks.
 */
#ifndef CSI_BASE_FLAGS_H
#define CSI_BASE_FLAGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/status.h"

enum {
  CSI_FLAG_LIST_ITEMS = 64, /* how often a repeatable flag may be given */
};

enum csi_flag_type {
  CSI_FLAG_STRING,      /* value: const char **, borrowed from argv or default_text */
  CSI_FLAG_BOOL,        /* value: bool * */
  CSI_FLAG_INT,         /* value: int64_t *; decimal, 0x, 0o or 0, 0b, underscores between digits */
  CSI_FLAG_UINT,        /* value: uint64_t *; same spellings */
  CSI_FLAG_DURATION,    /* value: int64_t *, nanoseconds; "300ms", "1h15m30.5s", "0" */
  CSI_FLAG_STRING_LIST, /* value: struct csi_flag_list *; every appearance appends */
  CSI_FLAG_CUSTOM,      /* value: whatever `set` expects */
  CSI_FLAG_CUSTOM_BOOL, /* as CSI_FLAG_CUSTOM, but needs no value: `set` gets "true" without one */
};

struct csi_flag_list {
  const char *items[CSI_FLAG_LIST_ITEMS]; /* in order of appearance, borrowed from argv */
  size_t count;
};

struct csi_flag {
  const char *name; /* without dashes */
  enum csi_flag_type type;
  void *value;
  const char *default_text; /* what the value is without the flag; NULL: zero, empty */
  const char *usage;        /* a word in `back quotes` names the value */
  /* CSI_FLAG_INT, CSI_FLAG_UINT, CSI_FLAG_DURATION: allowed range; no limit when both are 0. */
  int64_t minimum;
  int64_t maximum;
  /* Custom types only. On failure writes the reason to `reason` (reason_bytes long) and returns false.
   * Also called with default_text, when there is one. */
  bool (*set)(void *value, const char *text, char *reason, size_t reason_bytes);
};

struct csi_flag_table {
  const struct csi_flag *flags;
  size_t count;
};

enum csi_flags_result {
  CSI_FLAGS_OK,
  CSI_FLAGS_HELP,  /* -h or -help: print the usage, exit 0 */
  CSI_FLAGS_ERROR, /* print the status text and the usage, exit 2 */
};

/* Sets every value to its default, then to what argv[1] and the following say.
 *
 * tables, table_count: all flags of the program; names are unique over all tables.
 * argc, argv: UTF-8, argv[0] is skipped; must outlive the string values.
 * rest_out: index in argv of the first argument that is no flag; argc when there is none. Only written
 *   with CSI_FLAGS_OK. Go ignores such arguments; a program that cares refuses them.
 * status: INVALID_ARGUMENT with Go's text, for example "flag provided but not defined: -foo". */
enum csi_flags_result csi_flags_parse(const struct csi_flag_table *tables, size_t table_count, int argc,
                                      char *const *argv, int *rest_out,
                                      struct csi_status *status) CSI_MUST_CHECK;

/* Is told of one appearance of a flag; value: "true" for a boolean without one. */
typedef void csi_flag_given_fn(void *context, const struct csi_flag *flag, const char *value);

/* Tells of every flag on a command line that csi_flags_parse() has accepted, in order; sets nothing. */
void csi_flags_list_given(const struct csi_flag_table *tables, size_t table_count, int argc,
                          char *const *argv, csi_flag_given_fn *given, void *context);

/* Writes "Usage of <program>:" and all flags, sorted by name, to stream. */
void csi_flags_print_usage(FILE *stream, const char *program, const struct csi_flag_table *tables,
                           size_t table_count);

#endif
