/* SPDX-License-Identifier: Apache-2.0 */
#include "service/groups.h"

#include "disk/group.h"
#include "disk/services.h"
#include "filesystem/group.h"
#include "filesystem/services.h"
#include "volume/group.h"
#include "volume/services.h"

/* -- What disk and volume group share -------------------------------------------------------------- */

static struct csi_keyed_locks *share_locks(struct csi_node *node, struct csi_status *status) {
  if (node->locks == NULL) node->locks = csi_keyed_locks_new(CSI_WAITING_CALLS);
  if (node->locks == NULL)
    csi_fail_out_of_memory(status);
  else
    node->lock_users++;
  return node->locks;
}

static void return_locks(struct csi_node *node) {
  if (--node->lock_users > 0) return;
  csi_keyed_locks_free(node->locks);
  node->locks = NULL;
}

/* -- Filesystem ------------------------------------------------------------------------------------ */

static bool open_filesystem(void *context, const struct csi_options *options, void **group_out,
                            struct csi_status *status) {
  const struct csi_node *node = context;
  const char *roots[CSI_FLAG_LIST_ITEMS + 1];
  const struct csi_filesystem_options filesystem = {
      .working_dirs = roots,
      .working_dir_count = csi_options_roots(options, roots),
      .max_path_bytes = (size_t)options->max_path_bytes,
  };
  *group_out = csi_filesystem_new(&filesystem, node->files, status);
  return *group_out != NULL;
}

static void close_filesystem(void *context, void *group) {
  (void)context;
  csi_filesystem_free(group);
}

/* -- Disk ------------------------------------------------------------------------------------------ */

static bool open_disk(void *context, const struct csi_options *options, void **group_out,
                      struct csi_status *status) {
  struct csi_node *node = context;
  const struct csi_disk_options disk = {.change_system_disks = options->allow_system_disks};
  struct csi_keyed_locks *locks = share_locks(node, status);
  if (locks == NULL) return false;
  *group_out = csi_disk_new(&disk, node->disks, locks, status);
  if (*group_out == NULL) return_locks(node);
  return *group_out != NULL;
}

static void close_disk(void *context, void *group) {
  csi_disk_free(group);
  return_locks(context);
}

/* -- Volume ---------------------------------------------------------------------------------------- */

static bool open_volume(void *context, const struct csi_options *options, void **group_out,
                        struct csi_status *status) {
  struct csi_node *node = context;
  const char *roots[CSI_FLAG_LIST_ITEMS + 1];
  const struct csi_volume_options volume = {
      .change_system_disks = options->allow_system_disks,
      .working_dirs = roots,
      .working_dir_count = csi_options_roots(options, roots),
  };
  const struct csi_volume_hosts hosts = {
      .volumes = node->volumes,
      .disks = node->disks,
      .files = node->files,
  };
  struct csi_keyed_locks *locks = share_locks(node, status);
  if (locks == NULL) return false;
  *group_out = csi_volume_new(&volume, &hosts, locks, status);
  if (*group_out == NULL) return_locks(node);
  return *group_out != NULL;
}

static void close_volume(void *context, void *group) {
  csi_volume_free(group);
  return_locks(context);
}

/* -------------------------------------------------------------------------------------------------- */

const struct csi_group csi_groups[CSI_GROUP_COUNT] = {
    {"filesystem", &csi_filesystem_services, open_filesystem, close_filesystem},
    {"disk", &csi_disk_services, open_disk, close_disk},
    {"volume", &csi_volume_services, open_volume, close_volume},
};
