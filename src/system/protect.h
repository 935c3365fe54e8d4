/* SPDX-License-Identifier: Apache-2.0
 *
 * Which services nobody stops through this service: those of a list, and ourselves.
 */
#ifndef CSI_SYSTEM_PROTECT_H
#define CSI_SYSTEM_PROTECT_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/status.h"

/* Names, compared without regard to case. */
struct csi_protected_services;

/* list: names separated by commas; blanks around them and empty ones do not count. NULL with status when
 * memory is short. */
struct csi_protected_services *csi_protected_services_new(const char *list,
                                                          struct csi_status *status) CSI_MUST_CHECK;

/* NULL is accepted. */
void csi_protected_services_free(struct csi_protected_services *services);

bool csi_protected_services_have(const struct csi_protected_services *services, const char *name);

#endif
