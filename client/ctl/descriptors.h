/* SPDX-License-Identifier: Apache-2.0
 *
 * The API groups this program was built with: their descriptors, comments included. Messages of different
 * groups share the packages v1, v1beta1 and so on, so each group has a pool of its own. A pool is loaded when
 * it is asked for.
 */
#ifndef CSI_CTL_DESCRIPTORS_H
#define CSI_CTL_DESCRIPTORS_H

#include <google/protobuf/descriptor.upb.h>
#include <stdbool.h>
#include <stddef.h>
#include <upb/def.h>

#include "client/ctl/ctl.h"

struct csi_ctl_group {
  const char *name; /* "disk" */
  upb_DefPool *pool;
  const google_protobuf_FileDescriptorSet *files; /* with comments */
  const char *const *secret_fields;               /* "v1.X.password", NULL-terminated */
  const upb_ServiceDef *const *services;          /* one a version, oldest first */
  size_t service_count;
};

/* Names of all groups, NULL-terminated. Static. */
const char *const *csi_ctl_group_names(void);

/* Finds and loads a group. False: wrong usage with the nearest name, or memory is short. */
bool csi_ctl_find_group(struct csi_ctl *ctl, const char *name, const struct csi_ctl_group **group_out,
                        struct csi_ctl_error *error);

/* The service of a version. False: wrong usage with the versions there are. */
bool csi_ctl_find_version(const struct csi_ctl_group *group, const char *version,
                          const upb_ServiceDef **service_out, struct csi_ctl_error *error);

/* "v1" of the service v1.Disk. */
const char *csi_ctl_version_of(const upb_ServiceDef *service);

/* A field that is shown nowhere: a password, a CHAP secret. */
bool csi_ctl_is_secret(const struct csi_ctl_group *group, const upb_FieldDef *field);

/* The request of an RPC carries a secret. */
bool csi_ctl_has_secret(const struct csi_ctl_group *group, const upb_MessageDef *message);

void csi_ctl_free_pools(struct csi_ctl *ctl);

#endif
