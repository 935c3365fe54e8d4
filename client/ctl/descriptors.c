/* SPDX-License-Identifier: Apache-2.0 */
#include "client/ctl/descriptors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "admin/descriptors.h"
#include "client/ctl/suggest.h"
#include "disk/descriptors.h"
#include "filesystem/descriptors.h"
#include "iscsi/descriptors.h"
#include "smb/descriptors.h"
#include "system/descriptors.h"
#include "volume/descriptors.h"

struct built_in {
  const char *name;
  const uint8_t *set;
  size_t set_bytes;
  const char *const *secret_fields;
};

#define GROUP(name)                                                                                          \
  { #name, csi_##name##_descriptor_set, sizeof csi_##name##_descriptor_set, csi_##name##_secret_fields }

/* In the order of list and help. */
static const struct built_in built_in[] = {
    GROUP(disk), GROUP(volume), GROUP(filesystem), GROUP(smb), GROUP(iscsi), GROUP(system), GROUP(admin),
};

enum { GROUP_COUNT = sizeof built_in / sizeof built_in[0] };

struct csi_ctl_pools {
  struct csi_ctl_group groups[GROUP_COUNT]; /* pool NULL: not loaded yet */
  upb_Arena *arenas[GROUP_COUNT];
};

const char *const *csi_ctl_group_names(void) {
  static const char *names[GROUP_COUNT + 1];
  for (size_t i = 0; i < GROUP_COUNT; i++)
    names[i] = built_in[i].name;
  return names;
}

/* --- loading */

/* Every file of a group is one version, with one service. */
static bool add_files(struct csi_ctl_group *group, upb_Arena *arena, struct csi_ctl_error *error) {
  size_t count;
  const google_protobuf_FileDescriptorProto *const *files =
      google_protobuf_FileDescriptorSet_file(group->files, &count);
  const upb_ServiceDef **services = upb_Arena_Malloc(arena, count * sizeof(upb_ServiceDef *));
  if (services == NULL) return csi_ctl_fail_out_of_memory(error);
  group->services = services;
  for (size_t i = 0; i < count; i++) {
    upb_Status status;
    upb_Status_Clear(&status);
    const upb_FileDef *file = upb_DefPool_AddFile(group->pool, files[i], &status);
    if (file == NULL)
      return csi_ctl_wrong(error, "the descriptors of %s: %s", group->name, upb_Status_ErrorMessage(&status));
    if (upb_FileDef_ServiceCount(file) > 0) services[group->service_count++] = upb_FileDef_Service(file, 0);
  }
  return true;
}

static bool load(struct csi_ctl_pools *pools, size_t index, struct csi_ctl_error *error) {
  struct csi_ctl_group group = {.name = built_in[index].name, .secret_fields = built_in[index].secret_fields};
  upb_Arena *arena = upb_Arena_New();
  group.pool = upb_DefPool_New();
  if (arena != NULL && group.pool != NULL)
    group.files = google_protobuf_FileDescriptorSet_parse((const char *)built_in[index].set,
                                                          built_in[index].set_bytes, arena);
  bool loaded = group.files != NULL ? add_files(&group, arena, error) : csi_ctl_fail_out_of_memory(error);
  if (!loaded) {
    if (group.pool != NULL) upb_DefPool_Free(group.pool);
    if (arena != NULL) upb_Arena_Free(arena);
    return false;
  }
  pools->groups[index] = group;
  pools->arenas[index] = arena;
  return true;
}

void csi_ctl_free_pools(struct csi_ctl *ctl) {
  if (ctl->pools == NULL) return;
  for (size_t i = 0; i < GROUP_COUNT; i++) {
    if (ctl->pools->groups[i].pool == NULL) continue;
    upb_DefPool_Free(ctl->pools->groups[i].pool);
    upb_Arena_Free(ctl->pools->arenas[i]);
  }
  free(ctl->pools);
  ctl->pools = NULL;
}

/* --- finding */

static bool fail_unknown_group(const char *name, struct csi_ctl_error *error) {
  struct csi_suggestion suggestion = {.typed = name};
  for (size_t i = 0; i < GROUP_COUNT; i++)
    csi_suggest_offer(&suggestion, built_in[i].name);
  csi_ctl_wrong(error, "there is no API group %s", name);
  if (suggestion.best != NULL) return csi_ctl_hint(error, "did you mean %s?", suggestion.best);
  return csi_ctl_hint(error, "\"csi-proxyctl list\" shows all groups");
}

bool csi_ctl_find_group(struct csi_ctl *ctl, const char *name, const struct csi_ctl_group **group_out,
                        struct csi_ctl_error *error) {
  size_t index = 0;
  while (index < GROUP_COUNT && strcmp(built_in[index].name, name) != 0)
    index++;
  if (index == GROUP_COUNT) return fail_unknown_group(name, error);
  if (ctl->pools == NULL) ctl->pools = calloc(1, sizeof *ctl->pools);
  if (ctl->pools == NULL) return csi_ctl_fail_out_of_memory(error);
  if (ctl->pools->groups[index].pool == NULL && !load(ctl->pools, index, error)) return false;
  *group_out = &ctl->pools->groups[index];
  return true;
}

const char *csi_ctl_version_of(const upb_ServiceDef *service) {
  return upb_FileDef_Package(upb_ServiceDef_File(service));
}

bool csi_ctl_find_version(const struct csi_ctl_group *group, const char *version,
                          const upb_ServiceDef **service_out, struct csi_ctl_error *error) {
  char versions[sizeof error->hint] = "";
  for (size_t i = 0; i < group->service_count; i++) {
    const char *have = csi_ctl_version_of(group->services[i]);
    *service_out = group->services[i];
    if (strcmp(have, version) == 0) return true;
    size_t used = strlen(versions);
    snprintf(versions + used, sizeof versions - used, "%s%s", i > 0 ? ", " : "", have);
  }
  csi_ctl_wrong(error, "the group %s has no version %s", group->name, version);
  return csi_ctl_hint(error, "its versions are %s", versions);
}

/* --- secrets */

bool csi_ctl_is_secret(const struct csi_ctl_group *group, const upb_FieldDef *field) {
  for (const char *const *name = group->secret_fields; *name != NULL; name++)
    if (strcmp(*name, upb_FieldDef_FullName(field)) == 0) return true;
  return false;
}

bool csi_ctl_has_secret(const struct csi_ctl_group *group, const upb_MessageDef *message) {
  for (int i = 0; i < upb_MessageDef_FieldCount(message); i++) {
    const upb_FieldDef *field = upb_MessageDef_Field(message, i);
    if (csi_ctl_is_secret(group, field)) return true;
    const upb_MessageDef *inner = upb_FieldDef_MessageSubDef(field);
    if (inner != NULL && inner != message && csi_ctl_has_secret(group, inner)) return true;
  }
  return false;
}
