/* SPDX-License-Identifier: Apache-2.0 */
#include "volume/group.h"

#include <stdint.h>
#include <stdlib.h>

#include "volume/state.h"

enum {
  LETTERS = 26,
  DRIVE_BYTES = sizeof "X:\\",
};

static struct csi_path_policy *new_drives(struct csi_status *status) {
  char roots[LETTERS][DRIVE_BYTES];
  const char *directories[LETTERS];
  for (int i = 0; i < LETTERS; i++) {
    roots[i][0] = (char)('A' + i);
    roots[i][1] = ':';
    roots[i][2] = '\\';
    roots[i][3] = '\0';
    directories[i] = roots[i];
  }
  return csi_path_policy_new(directories, LETTERS, SIZE_MAX, status);
}

static bool make_policies(struct csi_volume *group, const struct csi_volume_options *options,
                          struct csi_status *status) {
  group->drives = new_drives(status);
  if (group->drives == NULL) return false;
  if (options->working_dir_count == 0) return true;
  group->working_dirs =
      csi_path_policy_new(options->working_dirs, options->working_dir_count, SIZE_MAX, status);
  return group->working_dirs != NULL;
}

struct csi_volume *csi_volume_new(const struct csi_volume_options *options,
                                  const struct csi_volume_hosts *hosts, struct csi_keyed_locks *locks,
                                  struct csi_status *status) {
  struct csi_volume *group = calloc(1, sizeof *group);
  if (group == NULL) {
    csi_fail_out_of_memory(status);
    return NULL;
  }
  group->hosts = *hosts;
  group->locks = locks;
  group->change_system_disks = options->change_system_disks;
  if (make_policies(group, options, status)) return group;
  csi_volume_free(group);
  return NULL;
}

void csi_volume_free(struct csi_volume *group) {
  if (group == NULL) return;
  csi_path_policy_free(group->working_dirs);
  csi_path_policy_free(group->drives);
  free(group);
}
