/* SPDX-License-Identifier: Apache-2.0 */
#include "lun_disks.h"

#include <windows.h>

#include <stdio.h>
#include <string.h>

enum { COMMAND_BYTES = 4096 };

/* A process may have died between telling the driver and writing the state: what counts is the driver's list.
 */
static bool is_listed(struct csi_control_device *control, uint64_t number, bool *result_out,
                      struct csi_ctl_error *error) {
  char beginning[32];
  const char *line;
  if (!csi_control_send(control, "disk list", &line, error)) return false;
  snprintf(beginning, sizeof beginning, "number=%llu ", (unsigned long long)number);
  *result_out = false;
  while (line != NULL && *line != '\0' && !*result_out) {
    *result_out = strncmp(line, beginning, strlen(beginning)) == 0;
    line = strchr(line, '\n');
    if (line != NULL) line++;
  }
  return true;
}

static bool settle_one(struct csi_control_device *control, struct network_state *state,
                       struct network_record *lun, bool wanted, struct csi_ctl_error *error) {
  uint64_t number = network_get_number(lun, "number", 0);
  char command[COMMAND_BYTES];
  const char *reply;
  bool listed;
  if (!is_listed(control, number, &listed, error)) return false;
  if (wanted)
    snprintf(command, sizeof command, "disk add %s", network_get(lun, "words"));
  else
    snprintf(command, sizeof command, "disk remove number=%llu", (unsigned long long)number);
  if (listed != wanted && !csi_control_send(control, command, &reply, error)) return false;
  network_set_number(state, lun, "attached", wanted);
  return true;
}

bool lun_disks_settle(struct network_state *state, struct csi_ctl_error *error) {
  struct csi_control_device *control = NULL;
  bool done = true;
  for (struct network_record *lun = network_next(state, "lun", NULL), *next; lun != NULL && done;
       lun = next) {
    next = network_next(state, "lun", lun);
    bool wanted = targets_wants_disk(state, lun, GetTickCount64());
    if (wanted != (network_get_number(lun, "attached", 0) != 0)) {
      if (control == NULL) control = csi_control_open(error);
      done = control != NULL && settle_one(control, state, lun, wanted, error);
    }
    if (done && network_find(state, "target", "iqn", network_get(lun, "iqn")) == NULL)
      network_remove(state, lun);
  }
  csi_control_close(control);
  return done;
}
