/* SPDX-License-Identifier: Apache-2.0
 *
 * One service as the service manager knows it, for who installs it: what it is, how it stands, how to change
 * that. Every function that fails fills status with the call and the service's name. To be used on one
 * thread; needs administrator's rights.
 */
#ifndef CSI_SERVICE_SCM_WIN32_H
#define CSI_SERVICE_SCM_WIN32_H

#include <windows.h>

#include <stdbool.h>
#include <stdint.h>
#include <winsvc.h>

#include "service/install_plan.h"

struct csi_scm_service {
  const char *name;
  const wchar_t *name_w;
  SC_HANDLE manager;
  SC_HANDLE handle; /* NULL = not open */
};

/* Connects to the service manager; to be closed with csi_scm_close(), also after a failure. name: UTF-8,
 * borrowed. */
bool csi_scm_connect(struct csi_scm_service *service, struct csi_arena *arena, const char *name,
                     struct csi_status *status) CSI_MUST_CHECK;
void csi_scm_close(struct csi_scm_service *service);

/* Opens the service for all that follows. That it does not exist is no failure. */
bool csi_scm_find(struct csi_scm_service *service, bool *exists_out,
                  struct csi_status *status) CSI_MUST_CHECK;

/* What it is now, in the arena. */
bool csi_scm_read(struct csi_scm_service *service, struct csi_arena *arena, struct csi_install_config *out,
                  struct csi_status *status) CSI_MUST_CHECK;

enum { CSI_SCM_EXTRAS = 4 };

/* A service's configuration in the form in which the service manager gave it, to go back to. */
struct csi_scm_kept {
  QUERY_SERVICE_CONFIGW *config;
  void *extras[CSI_SCM_EXTRAS]; /* of QueryServiceConfig2W(); NULL = this system does not know it */
};

/* Keeps it, in the arena. */
bool csi_scm_keep(struct csi_scm_service *service, struct csi_arena *arena, struct csi_scm_kept *out,
                  struct csi_status *status) CSI_MUST_CHECK;

/* Makes the service as it was kept; its account, which nothing here changes, stays. */
bool csi_scm_restore(struct csi_scm_service *service, struct csi_arena *arena,
                     const struct csi_scm_kept *kept, struct csi_status *status) CSI_MUST_CHECK;

/* Fails when it cannot be changed: the service is marked for deletion, say. Changes nothing. */
bool csi_scm_check_changeable(struct csi_scm_service *service, struct csi_status *status) CSI_MUST_CHECK;

/* Creates the service, of LocalSystem, and opens it. */
bool csi_scm_create(struct csi_scm_service *service, struct csi_arena *arena,
                    const struct csi_install_config *config, struct csi_status *status) CSI_MUST_CHECK;

/* Gives the service that is open the command line, the display name and the type of config, and starts it
 * automatically when config says so; nothing else changes. */
bool csi_scm_change(struct csi_scm_service *service, struct csi_arena *arena,
                    const struct csi_install_config *config, struct csi_status *status) CSI_MUST_CHECK;

/* Sets the description, the recovery (restart after 10 s, also when the service stopped with an error), and
 * how long Windows waits for the service before it shuts down. left_out: called with what this system does
 * not know. */
bool csi_scm_set_extras(struct csi_scm_service *service, uint32_t preshutdown_ms,
                        void (*left_out)(const char *call), struct csi_status *status) CSI_MUST_CHECK;

/* Marks it for deletion: gone when the last handle to it is closed. Closes this one. */
bool csi_scm_delete(struct csi_scm_service *service, struct csi_status *status) CSI_MUST_CHECK;

bool csi_scm_status(struct csi_scm_service *service, SERVICE_STATUS_PROCESS *out,
                    struct csi_status *status) CSI_MUST_CHECK;

/* Starts it and waits until it runs; one that runs already is success. Fails with what the service reported.
 */
bool csi_scm_start(struct csi_scm_service *service, uint32_t timeout_ms,
                   struct csi_status *status) CSI_MUST_CHECK;

/* Stops it and waits until it has; one that is stopped is success. `progress` hears about every other second
 * how many milliseconds have gone by. */
bool csi_scm_stop(struct csi_scm_service *service, uint32_t timeout_ms, void (*progress)(uint32_t elapsed_ms),
                  struct csi_status *status) CSI_MUST_CHECK;

#endif
