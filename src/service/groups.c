/* SPDX-License-Identifier: Apache-2.0 */
#include "service/groups.h"

#include "admin/group.h"
#include "admin/services.h"
#include "disk/group.h"
#include "disk/services.h"
#include "filesystem/group.h"
#include "filesystem/services.h"
#include "iscsi/group.h"
#include "iscsi/services.h"
#include "service/version.h"
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
  if (locks == NULL || !keep(node, csi_smb_new(&smb, &hosts, locks, status), group_out)) return false;
  node->smb = *group_out;
  return true;
}

static void close_smb(void *context, void *group) {
  struct csi_node *node = context;
  node->smb = NULL;
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

/* -- Admin ----------------------------------------------------------------------------------------- */

#if defined(__x86_64__)
#define ARCHITECTURE "amd64"
#elif defined(__aarch64__)
#define ARCHITECTURE "arm64"
#else
#error "name this architecture as Go does"
#endif

enum {
  ADMIN_ARENA_BYTES = 1 << 20,
};

/* What this build can do beyond its API versions, as far as the flags let it. */
static size_t list_capabilities(const struct csi_options *options, const char *names_out[]) {
  size_t count = 0;
  names_out[count++] = "health";
  names_out[count++] = "reflection";
  if (options->metrics_bind_address[0] != '\0') names_out[count++] = "metrics";
  if (options->audit_log[0] != '\0') names_out[count++] = "audit-log";
  if (options->events != CSI_EVENTS_OFF) names_out[count++] = "event-log";
  return count;
}

static struct csi_admin *new_admin(struct csi_node *node, const struct csi_options *options,
                                   struct csi_arena *arena, struct csi_status *status) {
  const char *roots[CSI_FLAG_LIST_ITEMS + 1];
  const char *capabilities[8];
  struct csi_admin_options admin = {
      .version = CSI_VERSION_TEXT,
      .grpc_version = CSI_GRPC_VERSION_TEXT,
      .os_version = node->os_version,
      .architecture = ARCHITECTURE,
      .capabilities = capabilities,
      .capability_count = list_capabilities(options, capabilities),
      .working_dirs = roots,
      .working_dir_count = csi_options_roots(options, roots),
      .route = options->route,
      .change_system_disks = options->allow_system_disks,
  };
  const struct csi_admin_hosts hosts = {
      .disks = node->disks,
      .volumes = node->volumes,
      .initiator = node->initiator,
      .system = node->system,
      .parts = node->parts,
      .shares = node->smb,
  };
  const char **flags = NULL;
  if (!csi_options_list_changed(options, arena, &flags, &admin.flag_count)) {
    csi_fail_out_of_memory(status);
    return NULL;
  }
  admin.flags = flags;
  return csi_admin_new(&admin, &hosts, status);
}

static bool new_introspection(struct csi_node *node, struct csi_admin *admin, struct csi_status *status) {
  const struct csi_service_list *groups[CSI_GROUP_COUNT];
  size_t count = 0;
  for (size_t i = 0; i < CSI_GROUP_COUNT; i++)
    if (!csi_groups[i].is_admin) groups[count++] = csi_groups[i].services;
  node->readiness = csi_admin_readiness(admin);
  node->introspection = csi_introspection_new(node->readiness, groups, count, &csi_admin_services, status);
  return node->introspection != NULL;
}

static void close_admin(void *context, void *group) {
  struct csi_node *node = context;
  csi_introspection_free(node->introspection);
  node->introspection = NULL;
  node->readiness = NULL;
  csi_admin_free(group);
}

/* After the SMB group, which it asks. */
static bool open_admin(void *context, const struct csi_options *options, void **group_out,
                       struct csi_status *status) {
  struct csi_arena *arena = csi_arena_new(ADMIN_ARENA_BYTES);
  if (arena == NULL) return csi_fail_out_of_memory(status);
  struct csi_admin *admin = new_admin(context, options, arena, status);
  csi_arena_free(arena);
  bool done = admin != NULL && new_introspection(context, admin, status);
  if (!done) close_admin(context, admin);
  *group_out = done ? admin : NULL;
  return done;
}

static void attach_admin(void *context, void *group, struct csi_server *server, const char *metrics_address) {
  const struct csi_node *node = context;
  csi_admin_attach(group, server, metrics_address);
  csi_introspection_attach(node->introspection, server);
}

static size_t list_admin_extras(void *context, void *group,
                                struct csi_extra_service extras_out[CSI_GROUP_EXTRAS]) {
  const struct csi_node *node = context;
  (void)group;
  return csi_introspection_list(node->introspection, extras_out);
}

static void stopping_admin(void *context, void *group) {
  const struct csi_node *node = context;
  (void)group;
  csi_introspection_stopping(node->introspection);
}

bool csi_groups_was_ready(void *context, const char *group, bool *is_ready_out) {
  const struct csi_node *node = context;
  return node->readiness != NULL && csi_readiness_group_was_ready(node->readiness, group, is_ready_out);
}

/* -------------------------------------------------------------------------------------------------- */

const struct csi_group csi_groups[CSI_GROUP_COUNT] = {
    {.name = "filesystem",
     .services = &csi_filesystem_services,
     .open = open_filesystem,
     .close = close_filesystem},
    {.name = "disk", .services = &csi_disk_services, .open = open_disk, .close = close_disk},
    {.name = "volume", .services = &csi_volume_services, .open = open_volume, .close = close_volume},
    {.name = "smb", .services = &csi_smb_services, .open = open_smb, .close = close_smb},
    {.name = "system", .services = &csi_system_services, .open = open_system, .close = close_system},
    {.name = "iscsi", .services = &csi_iscsi_services, .open = open_iscsi, .close = close_iscsi},
    {.name = "admin",
     .services = &csi_admin_services,
     .open = open_admin,
     .close = close_admin,
     .is_admin = true,
     .attach = attach_admin,
     .list_extras = list_admin_extras,
     .stopping = stopping_admin},
};
