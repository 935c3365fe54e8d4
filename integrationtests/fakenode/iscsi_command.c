/* SPDX-License-Identifier: Apache-2.0 */
#include "iscsi_command.h"

#include <stdio.h>
#include <stdlib.h>

#include "command_line.h"

enum {
  REPLY_BYTES = 512,
};

static bool run(struct csi_fake_command *command, const char *noun) {
  const char *problem = "";
  return csi_fake_iscsi_execute(command->fake, noun, &command->words, &command->reply, &problem) ||
         csi_fake_command_fail(command, "%s", problem);
}

static bool run_target(struct csi_fake_command *command) {
  return run(command, "target");
}

static bool run_session(struct csi_fake_command *command) {
  return run(command, "session");
}

static bool run_initiator(struct csi_fake_command *command) {
  return run(command, "initiator");
}

bool csi_fake_iscsi_command(struct csi_fake_iscsi *iscsi, const char *line, char *reply, size_t reply_bytes,
                            bool *done_out) {
  static const struct csi_fake_verb verbs[] = {{"target", NULL, run_target},
                                               {"session", NULL, run_session},
                                               {"initiator", NULL, run_initiator},
                                               {NULL, NULL, NULL}};
  return csi_fake_command_run(verbs, iscsi, line, reply, reply_bytes, done_out);
}

void csi_fake_iscsi_do(struct csi_fake_iscsi *iscsi, const char *line) {
  char reply[REPLY_BYTES] = "no such command";
  bool done = false;
  if (csi_fake_iscsi_command(iscsi, line, reply, sizeof reply, &done) && done) return;
  fprintf(stderr, "iscsi_command: %s: %s\n", line, reply);
  abort();
}
