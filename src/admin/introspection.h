/* SPDX-License-Identifier: Apache-2.0
 *
 * What stands on the admin pipe beside the admin group itself: health and reflection.
 */
#ifndef CSI_ADMIN_INTROSPECTION_H
#define CSI_ADMIN_INTROSPECTION_H

#include "admin/readiness.h"
#include "rpc/server.h"

struct csi_introspection;

enum {
  CSI_INTROSPECTION_GROUPS = 16, /* most that it takes */
  CSI_INTROSPECTION_EXTRAS = 3,
};

/* groups: the tables of all other groups; copied. admin: those of the admin group. readiness must outlive it.
 * NULL with status when memory is short. */
struct csi_introspection *csi_introspection_new(struct csi_readiness *readiness,
                                                const struct csi_service_list *const *groups,
                                                size_t group_count, const struct csi_service_list *admin,
                                                struct csi_status *status) CSI_MUST_CHECK;

/* No call may be running. NULL is accepted. */
void csi_introspection_free(struct csi_introspection *introspection);

/* The server whose watches are told of a stop. */
void csi_introspection_attach(struct csi_introspection *introspection, struct csi_server *server);

/* The services, for the admin group's endpoints. Returns CSI_INTROSPECTION_EXTRAS. */
size_t csi_introspection_list(struct csi_introspection *introspection, struct csi_extra_service *extras_out);

/* The program is about to stop: nothing is ready any more, and who watches is told. Does not block. */
void csi_introspection_stopping(struct csi_introspection *introspection);

#endif
