/* SPDX-License-Identifier: Apache-2.0
 *
 * A service in the course of one call, and what the group consists of. For the group's own files only.
 */
#ifndef CSI_SYSTEM_SERVICE_H
#define CSI_SYSTEM_SERVICE_H

#include "base/ctx.h"
#include "system/group.h"
#include "system/protect.h"

struct csi_system {
  const struct csi_system_host *host;
  struct csi_keyed_locks *locks;
  struct csi_protected_services *protected;
  uint32_t patience_ms;
};

enum {
  CSI_SERVICE_NAME_UNITS = 256, /* longest name the service manager takes, in UTF-16 */
  CSI_SERVICE_SHOWN_BYTES = 200,
};

struct csi_service {
  struct csi_ctx *ctx;
  const struct csi_system *group;
  const char *name;                    /* as the service manager is asked */
  char shown[CSI_SERVICE_SHOWN_BYTES]; /* the same, for texts: one line, perhaps cut */
};

/* The service of that name, which is not checked: one that the service manager has told. */
struct csi_service csi_service_of(struct csi_ctx *ctx, const struct csi_system *group, const char *name);

/* The service that a client names. INVALID_ARGUMENT for what can be no name. Does not look whether there is
 * one. */
bool csi_service_from_client(struct csi_ctx *ctx, const struct csi_system *group, const char *name,
                             struct csi_service *service_out) CSI_MUST_CHECK;

/* What the original says first when it does not find a service. Returns false. */
bool csi_service_explain_query(const struct csi_service *service);

/* Finds the service, and its name as the service manager spells it. In the arena. */
bool csi_service_find(const struct csi_service *service, const char **key_name_out) CSI_MUST_CHECK;

/* The service manager has drivers, too. */
bool csi_service_is_driver(const struct csi_service_status *status);

/* Drivers are none of ours: as with the original, they are not found. False with a status when service is
 * one. */
bool csi_service_check_type(const struct csi_service *service,
                            const struct csi_service_status *status) CSI_MUST_CHECK;

bool csi_service_get_status(const struct csi_service *service,
                            struct csi_service_status *status_out) CSI_MUST_CHECK;

/* Takes the lock of the service; calls that start or stop it follow one another. key_out: for
 * csi_keyed_unlock(). Who stops dependents does so without their locks: nobody ever holds two. */
bool csi_service_lock(const struct csi_service *service, const char *key_name, const char *holder,
                      char key_out[CSI_LOCK_KEY_BYTES]) CSI_MUST_CHECK;

/* The state as Win32_Service.State names it; "Unknown" for none. */
const char *csi_service_state_name(uint32_t state);

/* On its way from one state to another. */
bool csi_service_is_pending(uint32_t state);

/* True when the status is this Win32 error. */
bool csi_service_failed_with(const struct csi_service *service, uint32_t number);

#endif
