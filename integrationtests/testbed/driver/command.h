/* SPDX-License-Identifier: Apache-2.0
 *
 * The commands. Functions are called with the lock held.
 */
#ifndef VDISK_COMMAND_H
#define VDISK_COMMAND_H

#include "call.h"
#include "text.h"
#include "words.h"

/* One command on its way. */
struct vdisk_command {
  struct vdisk_call *call; /* may be parked; its output is the reply */
  struct vdisk_words words;
  struct vdisk_text reply;
  struct vdisk_text error; /* what was wrong, for `last-error` */
};

/* Does the command whose words the line has. */
NTSTATUS vdisk_command_run(struct vdisk_command *command);

/* Says what is wrong: `text`, then `detail` unless it is NULL. Returns status. */
NTSTATUS vdisk_command_fail(struct vdisk_command *command, NTSTATUS status, const char *text,
                            const char *detail);

/* The same for what is wrong with the command itself: STATUS_INVALID_PARAMETER. Returns false. */
bool vdisk_command_refuse(struct vdisk_command *command, const char *text, const char *detail);

/* The value of key as a number up to limit. False after vdisk_command_refuse(); a key that is not there
 * leaves number_out alone. */
bool vdisk_command_number(struct vdisk_command *command, const char *key, uint64_t limit,
                          uint64_t *number_out);

/* The value of key, %XX decoded; NULL when it is not there. False after vdisk_command_refuse(). */
bool vdisk_command_text(struct vdisk_command *command, const char *key, char **text_out);

/* Fails when there is a word that nothing asked for. */
NTSTATUS vdisk_command_check_words(struct vdisk_command *command);

/* The commands that begin with `disk`, `volume` and so on; verb is the second word. */
NTSTATUS vdisk_disk_command(struct vdisk_command *command, const char *verb);
NTSTATUS vdisk_volume_command(struct vdisk_command *command, const char *verb);
NTSTATUS vdisk_fault_command(struct vdisk_command *command, const char *verb);

#endif
