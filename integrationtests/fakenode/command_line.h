/* SPDX-License-Identifier: Apache-2.0
 *
 * One command for a fake: its words, and the reply. Shared by the commands of all fakes.
 */
#ifndef CSI_FAKENODE_COMMAND_LINE_H
#define CSI_FAKENODE_COMMAND_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "driver/text.h"
#include "driver/words.h"

enum {
  CSI_FAKE_COMMAND_BYTES = 4096,
};

struct csi_fake_command {
  void *fake; /* whose command it is */
  struct vdisk_words words;
  struct vdisk_text reply;
  char line[CSI_FAKE_COMMAND_BYTES];
};

/* What can be said to a fake. verb: "" = the command has only one word; NULL = run() takes what follows. */
struct csi_fake_verb {
  const char *noun, *verb;
  bool (*run)(struct csi_fake_command *command);
};

/* Runs a line when its first word is the noun of one of these verbs.
 *
 * verbs: ends with a noun that is NULL.
 * reply: lines that end in \n, or what was wrong; NUL-terminated.
 * done_out: it was done; otherwise nothing was.
 * Returns false, and does nothing, when the line is somebody else's. */
bool csi_fake_command_run(const struct csi_fake_verb *verbs, void *fake, const char *line, char *reply,
                          size_t reply_bytes, bool *done_out);

/* What is wrong takes the place of the reply. Returns false. */
bool csi_fake_command_fail(struct csi_fake_command *command, const char *format, ...) CSI_PRINTF(2, 3);

/* Read the value of a key; one that is not there leaves *_out alone. False, with the reply, for a bad one. */
bool csi_fake_command_number(struct csi_fake_command *command, const char *key, uint64_t limit,
                             uint64_t *number_out);
bool csi_fake_command_text(struct csi_fake_command *command, const char *key, const char **text_out);
bool csi_fake_command_flag(struct csi_fake_command *command, const char *key, bool *flag_out);

/* False, with the reply, when there are words that nobody has asked for: last of all, before anything is
 * done. */
bool csi_fake_command_complete(struct csi_fake_command *command);

#endif
