/* SPDX-License-Identifier: Apache-2.0 */
#include "network_command.h"

#include <string.h>

#include "command_line.h"
#include "network/faults.h"

static bool run(struct csi_fake_command *command) {
  struct csi_fake_network *network = command->fake;
  if (command->words.count == 2 && strcmp(command->words.word[1], "reset") == 0) {
    csi_fake_network_reset(network); /* with what fakes have besides records */
    return true;
  }
  const char *problem = "";
  bool done = network_command(csi_fake_network_open(network), &command->words, &command->reply, &problem);
  csi_fake_network_close(network);
  return done || csi_fake_command_fail(command, "%s", problem);
}

bool csi_fake_network_command(struct csi_fake_network *network, const char *line, char *reply,
                              size_t reply_bytes, bool *done_out) {
  static const struct csi_fake_verb verbs[] = {{"network", NULL, run}, {NULL, NULL, NULL}};
  return csi_fake_command_run(verbs, network, line, reply, reply_bytes, done_out);
}
