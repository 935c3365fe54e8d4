/* SPDX-License-Identifier: Apache-2.0 */
#include "share_command.h"

#include <windows.h>

#include "network/faults.h"
#include "network/network.h"
#include "network/share_folders.h"
#include "network/shares.h"

typedef bool (*network_run)(struct network_state *state, struct vdisk_words *words, struct vdisk_text *reply,
                            const char **problem_out);

/* Runs a command on the network. What it refuses changes nothing. */
static bool run(network_run run_command, struct vdisk_words *words, struct vdisk_text *reply,
                struct csi_ctl_error *error) {
  struct network_state *state = network_open();
  if (state == NULL) return csi_ctl_fail_win32(error, GetLastError(), "the testbed's network does not open");
  const char *problem = NULL;
  bool done = run_command(state, words, reply, &problem) || csi_ctl_fail(error, "%s", problem);
  if (done && state->is_changed && !network_share_folders_place(state))
    done = csi_ctl_fail_win32(error, GetLastError(), "the folder of a share cannot be moved");
  if (!network_close(state) && done)
    done = csi_ctl_fail_win32(error, GetLastError(), "the testbed's network cannot be written");
  return done;
}

bool csi_share_command(struct vdisk_words *words, struct vdisk_text *reply, struct csi_ctl_error *error) {
  return run(network_share_command, words, reply, error);
}

bool csi_network_command(struct vdisk_words *words, struct vdisk_text *reply, struct csi_ctl_error *error) {
  return run(network_command, words, reply, error);
}

bool csi_network_reset(struct csi_ctl_error *error) {
  char line[] = "reset", no_reply[1];
  struct vdisk_words words;
  struct vdisk_text reply;
  vdisk_words_split(&words, line);
  vdisk_text_init(&reply, no_reply, sizeof no_reply);
  return csi_network_command(&words, &reply, error);
}
