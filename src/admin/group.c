/* SPDX-License-Identifier: Apache-2.0 */
#include "admin/group.h"

#include <stdlib.h>

#include "admin/state.h"

enum {
  OPTIONS_BYTES = 1 << 20,
};

/* NULL stands for "". */
static bool copy_text(struct csi_arena *arena, const char **text) {
  *text = csi_arena_strdup(arena, *text != NULL ? *text : "");
  return *text != NULL;
}

static bool copy_list(struct csi_arena *arena, const char *const **list, size_t count) {
  const char **copy = csi_arena_alloc_array(arena, count + 1, sizeof *copy);
  if (copy == NULL) return false;
  for (size_t i = 0; i < count; i++) {
    copy[i] = (*list)[i];
    if (!copy_text(arena, &copy[i])) return false;
  }
  *list = copy;
  return true;
}

static bool copy_options(struct csi_admin *group, const struct csi_admin_options *options) {
  struct csi_arena *arena = group->own = csi_arena_new(OPTIONS_BYTES);
  if (arena == NULL) return false;
  struct csi_admin_options *own = &group->options;
  *own = *options;
  return copy_text(arena, &own->version) && copy_text(arena, &own->grpc_version) &&
         copy_text(arena, &own->os_version) && copy_text(arena, &own->architecture) &&
         copy_list(arena, &own->capabilities, own->capability_count) &&
         copy_list(arena, &own->flags, own->flag_count) &&
         copy_list(arena, &own->working_dirs, own->working_dir_count);
}

static struct csi_readiness *new_readiness(const struct csi_admin *group, struct csi_status *status) {
  const struct csi_parts_options parts = {
      .working_dirs = group->options.working_dirs,
      .working_dir_count = group->options.working_dir_count,
      .route = group->options.route,
  };
  const struct csi_parts_hosts hosts = {
      .parts = group->hosts.parts, .disks = group->hosts.disks, .system = group->hosts.system};
  return csi_readiness_new(&parts, &hosts, status);
}

struct csi_admin *csi_admin_new(const struct csi_admin_options *options, const struct csi_admin_hosts *hosts,
                                struct csi_status *status) {
  struct csi_admin *group = calloc(1, sizeof *group);
  if (group == NULL) {
    csi_fail_out_of_memory(status);
    return NULL;
  }
  group->metrics_address = "";
  group->hosts = *hosts;
  group->made_ns = csi_now_ns();
  if (!copy_options(group, options))
    csi_fail_out_of_memory(status);
  else
    group->readiness = new_readiness(group, status);
  if (group->readiness != NULL) return group;
  csi_admin_free(group);
  return NULL;
}

void csi_admin_free(struct csi_admin *group) {
  if (group == NULL) return;
  csi_readiness_free(group->readiness);
  csi_arena_free(group->own);
  free(group);
}

void csi_admin_attach(struct csi_admin *group, struct csi_server *server, const char *metrics_address) {
  group->server = server;
  const char *copy = csi_arena_strdup(group->own, metrics_address);
  group->metrics_address = copy != NULL ? copy : "";
}

struct csi_readiness *csi_admin_readiness(struct csi_admin *group) {
  return group->readiness;
}
