/* SPDX-License-Identifier: Apache-2.0
 *
 * The lock: one line for everything that a released version puts on the wire, sorted. A released version
 * never changes; the lock makes a build that changes one fail.
 */
#ifndef CSI_CODEGEN_LOCK_H
#define CSI_CODEGEN_LOCK_H

#include "codegen/model.h"

/* Compares the versions of the group with the lock file. Complains about every line that is missing,
 * changed, or new in a version that is locked already; prints a note for a version that is not. A lock
 * file that does not exist is empty. */
bool gen_lock_check(const struct gen_group *group, const char *path);

/* As gen_lock_check(), and adds the versions that are not locked yet to the file. */
bool gen_lock_write(const struct gen_group *group, const char *path);

#endif
