/* SPDX-License-Identifier: Apache-2.0
 *
 * Command lines whose flags may stand anywhere: before the verb, behind it, between its arguments.
 */
#ifndef CSI_CTL_ARGUMENTS_H
#define CSI_CTL_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/flags.h"

/* Puts all flags with their values first, then "--", then the rest in its order: what csi_flags_parse()
 * reads.
 * "-" alone is no flag, and neither is anything behind "--". A flag that no table has is taken for one
 * without a value; csi_flags_parse() refuses it.
 *
 * first_out (out): index of the first argument that is no flag; the count of all when there is none.
 * Returns the new arguments in the arena, NULL-terminated, argc_out (out) of them; NULL when memory is short.
 */
char **csi_arguments_sort(struct csi_arena *arena, const struct csi_flag_table *tables, size_t table_count,
                          int argc, char **argv, int *argc_out, int *first_out);

/* The flag that an argument names; NULL when no table has it. */
const struct csi_flag *csi_arguments_find_flag(const struct csi_flag_table *tables, size_t table_count,
                                               const char *argument);

/* Whether a flag needs a value, behind '=' or as the next argument. */
bool csi_arguments_takes_value(const struct csi_flag *flag);

#endif
