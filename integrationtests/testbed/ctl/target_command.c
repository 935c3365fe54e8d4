/* SPDX-License-Identifier: Apache-2.0 */
#include "target_command.h"

#include <windows.h>

#include "iscsidsc/lun_disks.h"
#include "iscsidsc/target_words.h"
#include "network/network.h"

/* Writes the network after a command that was done or not. */
static bool finish(struct network_state *state, bool done, struct csi_ctl_error *error) {
  if (done) done = lun_disks_settle(state, error);
  if (!network_close(state) && done)
    return csi_ctl_fail_win32(error, GetLastError(), "the testbed's network cannot be written");
  return done;
}

static struct network_state *open_network(struct csi_ctl_error *error) {
  struct network_state *state = network_open();
  if (state == NULL) csi_ctl_fail_win32(error, GetLastError(), "the testbed's network does not open");
  return state;
}

bool csi_target_command(struct vdisk_words *words, struct vdisk_text *reply, struct csi_ctl_error *error) {
  const char *problem = NULL;
  struct network_state *state = open_network(error);
  if (state == NULL) return false;
  bool done = targets_command(state, words->word[0], words, GetTickCount64(), reply, &problem) ||
              csi_ctl_fail(error, "%s", problem);
  return finish(state, done, error);
}

bool csi_target_end_sessions(struct csi_ctl_error *error) {
  struct network_state *state = open_network(error);
  if (state == NULL) return false;
  targets_end_sessions(state, NULL);
  return finish(state, true, error);
}
