/* SPDX-License-Identifier: Apache-2.0 */
#include "service/groups.h"

#include "disk/group.h"
#include "disk/services.h"
#include "filesystem/group.h"
#include "filesystem/services.h"
#include "iscsi/group.h"
#include "iscsi/services.h"
#include "smb/group.h"
#include "smb/services.h"
#include "system/group.h"
#include "system/services.h"
#include "volume/group.h"
#include "volume/services.h"

/* -- What the groups share ---------------------------------------------------------------- */

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

/* Gives the locks back when the group could not be made. */
static bool keep(struct csi_node *node, void *group, void **group_out) {
  *group_out = group;
  if (group == NULL) return_locks(node);
  return group != NULL;
}

static bool open_disk(void *context, const struct csi_options *options, void **group_out,
                      struct csi_status *status) {
  struct csi_node *node = context;
  const struct csi_disk_options disk = {.change_system_disks = options->allow_system_disks};
  struct csi_keyed_locks *locks = share_locks(node, status);
  return locks != NULL && keep(node, csi_disk_new(&disk, node->disks, locks, status), group_out);
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
  return locks != NULL && keep(node, csi_volume_new(&volume, &hosts, locks, status), group_out);
}

static void close_volume(void *context, void *group) {
  csi_volume_free(group);
  return_locks(context);
}

/* -- SMB ------------------------------------------------------------------------------------------- */

static bool open_smb(void *context, const struct csi_options *options, void **group_out,
                     struct csi_status *status) {
  struct csi_node *node = context;
  const char *roots[CSI_FLAG_LIST_ITEMS + 1];
  const struct csi_smb_options smb = {
      .require_privacy = options->require_privacy,
      .working_dirs = roots,
      .working_dir_count = csi_options_roots(options, roots),
      .max_path_bytes = (size_t)options->max_path_bytes,
  };
  const struct csi_smb_hosts hosts = {.shares = node->shares, .files = node->files};
  struct csi_keyed_locks *locks = share_locks(node, status);
  return locks != NULL && keep(node, csi_smb_new(&smb, &hosts, locks, status), group_out);
}

static void close_smb(void *context, void *group) {
  csi_smb_free(group);
  return_locks(context);
}

/* -- System ---------------------------------------------------------------------------------------- */

static bool open_system(void *context, const struct csi_options *options, void **group_out,
                        struct csi_status *status) {
  struct csi_node *node = context;
  const struct csi_system_options system = {.protected_services = options->protected_services};
  struct csi_keyed_locks *locks = share_locks(node, status);
  return locks != NULL && keep(node, csi_system_new(&system, node->system, locks, status), group_out);
}

static void close_system(void *context, void *group) {
  csi_system_free(group);
  return_locks(context);
}

/* -- iSCSI ----------------------------------------------------------------------------------------- */

static bool open_iscsi(void *context, const struct csi_options *options, void **group_out,
                       struct csi_status *status) {
  struct csi_node *node = context;
  (void)options;
  struct csi_keyed_locks *locks = share_locks(node, status);
  return locks != NULL && keep(node, csi_iscsi_new(node->initiator, locks, status), group_out);
}

static void close_iscsi(void *context, void *group) {
  csi_iscsi_free(group);
  return_locks(context);
}

/* -------------------------------------------------------------------------------------------------- */

const struct csi_group csi_groups[CSI_GROUP_COUNT] = {
    {"filesystem", &csi_filesystem_services, open_filesystem, close_filesystem},
    {"disk", &csi_disk_services, open_disk, close_disk},
    {"volume", &csi_volume_services, open_volume, close_volume},
    {"smb", &csi_smb_services, open_smb, close_smb},
    {"system", &csi_system_services, open_system, close_system},
    {"iscsi", &csi_iscsi_services, open_iscsi, close_iscsi},
};
