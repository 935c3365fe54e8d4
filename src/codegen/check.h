/* SPDX-License-Identifier: Apache-2.0
 *
 * Every rule that a group must follow, and the mapping of its versions onto the neutral API. A broken
 * rule is printed to stderr as "<file>: <item>: <what is wrong>; <what to do>"; all of them are printed,
 * not only the first.
 */
#ifndef CSI_CODEGEN_CHECK_H
#define CSI_CODEGEN_CHECK_H

#include "codegen/model.h"

/* Rules on each file alone: syntax, names, comments, annotations. Puts group->versions in listed order. */
bool gen_check_files(struct gen_group *group);

/* The same for versions without a group.proto, ordered by age. */
bool gen_check_versions(struct gen_group *group);

/* Finds the neutral counterpart of everything in the versions; refuses what has none or several. */
bool gen_resolve(struct gen_group *group);

/* Rules on counterparts: same kind, same shape, nothing unused. */
bool gen_check_mapping(struct gen_group *group);

/* Prints one broken rule; item may be NULL. */
void gen_complain(const struct gen_group *group, const struct gen_file *file, const char *item,
                  const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Complaints so far. */
size_t gen_complaints(void);

/* "Message.field". */
const char *gen_item(const struct gen_group *group, const struct gen_message *message,
                     const struct gen_field *field);

#endif
