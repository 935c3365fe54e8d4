/* SPDX-License-Identifier: Apache-2.0
 *
 * grpc.reflection.v1 and v1alpha: what a server has, for grpcurl and its like.
 *
 * Listed are the services of the admin pipe, because a client goes on to call what is listed. Files and
 * symbols are found in all groups, so that one pipe describes the others too. Groups share packages (v1), and
 * nothing keeps two of them from having a name in common: what stands on the admin pipe is looked at first.
 * File names never clash.
 */
#ifndef CSI_ADMIN_REFLECTION_H
#define CSI_ADMIN_REFLECTION_H

#include "rpc/method.h"

/* What the handlers get. */
struct csi_reflection {
  const struct csi_service_list *const *own;    /* on the admin pipe; NULL-terminated */
  const struct csi_service_list *const *groups; /* of the other pipes; NULL-terminated */
};

/* v1 and v1alpha */
extern const struct csi_service_list csi_reflection_services;

#endif
