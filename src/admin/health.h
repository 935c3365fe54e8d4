/* SPDX-License-Identifier: Apache-2.0
 *
 * grpc.health.v1.Health. It knows these names:
 *
 *   ""            the program as a whole: SERVING when everything it is not ready without is there
 *   "disk"        a group, and
 *   "v1.Disk"     a service of it: SERVING when the parts of Windows are there that the group stands on
 *   "v1.Admin"    what stands on the admin pipe: SERVING
 *
 * All are NOT_SERVING from the moment the program is asked to stop. All pipes are open before the admin pipe
 * is: who can ask finds them.
 */
#ifndef CSI_ADMIN_HEALTH_H
#define CSI_ADMIN_HEALTH_H

#include "admin/readiness.h"
#include "rpc/method.h"

/* What the handlers get. */
struct csi_health {
  struct csi_readiness *readiness;
  const struct csi_service_list *const *groups; /* whose readiness is told; NULL-terminated */
  const struct csi_service_list *const *own;    /* on the admin pipe; NULL-terminated */
};

extern const struct csi_service_list csi_health_services;

#endif
