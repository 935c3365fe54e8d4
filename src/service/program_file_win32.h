/* SPDX-License-Identifier: Apache-2.0
 *
 * The program's file: copying it, putting a new one in the place of the old one by renaming, and back. Paths
 * are UTF-8 and absolute. Every function that fails fills status with the call and the path.
 */
#ifndef CSI_SERVICE_PROGRAM_FILE_WIN32_H
#define CSI_SERVICE_PROGRAM_FILE_WIN32_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/status.h"

#define CSI_PROGRAM_NEW_SUFFIX ".new"
#define CSI_PROGRAM_OLD_SUFFIX ".old" /* and .old1 to .old9, when one before is still in use */

/* A program that is put in the place of another. */
struct csi_program_swap {
  const char *target;
  char *old; /* where the one that is there goes */
  bool done, had_old;
};

/* The path of this program; NULL on failure. */
char *csi_program_file_own(struct csi_arena *arena, struct csi_status *status) CSI_MUST_CHECK;

/* The path made absolute, with backslashes; NULL on failure. Does not look whether it exists. */
char *csi_program_file_absolute(struct csi_arena *arena, const char *path,
                                struct csi_status *status) CSI_MUST_CHECK;

bool csi_program_file_exists(struct csi_arena *arena, const char *path);

/* True in same_out when both files have the same bytes; a file that does not exist is like no other. */
bool csi_program_file_compare(struct csi_arena *arena, const char *path, const char *other, bool *same_out,
                              struct csi_status *status) CSI_MUST_CHECK;

/* Makes the directory of the file, and those above it, as far as they are missing: SYSTEM and Administrators
 * may change what is in them, Users read. */
bool csi_program_file_make_parent(struct csi_arena *arena, const char *path,
                                  struct csi_status *status) CSI_MUST_CHECK;

/* The same for a directory itself. */
bool csi_program_file_make_directory(struct csi_arena *arena, const char *path,
                                     struct csi_status *status) CSI_MUST_CHECK;

/* Fails with FAILED_PRECONDITION when others than administrators and the user who runs this could put another
 * file in the place of this one: a directory on its way, as far as it exists, is a link, is owned by somebody
 * else, or may be written by somebody else. */
bool csi_program_file_check_parent(struct csi_arena *arena, const char *path,
                                   struct csi_status *status) CSI_MUST_CHECK;

/* When target is missing, puts back the ".old" that an interrupted csi_program_file_swap() has left.
 * recovered_out: there was one. */
bool csi_program_file_recover(struct csi_arena *arena, const char *target, bool *recovered_out,
                              struct csi_status *status) CSI_MUST_CHECK;

/* Copies source to target + ".new", down to the disk, and makes room for the old one. target: borrowed. */
bool csi_program_file_stage(struct csi_arena *arena, const char *source, const char *target,
                            struct csi_program_swap *out, struct csi_status *status) CSI_MUST_CHECK;

/* Renames target to swap->old, if there is one, and target + ".new" to target. After a failure target is what
 * it was. What is in use for a moment is tried again for 5 s. */
bool csi_program_file_swap(struct csi_arena *arena, struct csi_program_swap *swap,
                           struct csi_status *status) CSI_MUST_CHECK;

/* Undoes csi_program_file_swap(); nothing when that was not done. The new program may still run. */
bool csi_program_file_swap_back(struct csi_arena *arena, struct csi_program_swap *swap,
                                struct csi_status *status) CSI_MUST_CHECK;

/* Deletes target and what csi_program_file_swap() left beside it. Files that are not there are success. */
bool csi_program_file_delete(struct csi_arena *arena, const char *target,
                             struct csi_status *status) CSI_MUST_CHECK;

#endif
