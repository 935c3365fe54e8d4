/* SPDX-License-Identifier: Apache-2.0
 *
 * What the system group needs of an operating system: the firmware's tables, and single calls to the service
 * manager. Waiting, order and refusals stand on this side of the table, in portable code.
 *
 * Every function returns false and fills ctx->status (csi_fail_system with the raw Win32 number) when its
 * call fails. All may block, at most until the call's deadline; all may be called from several threads at
 * once.
 */
#ifndef CSI_SYSTEM_HOST_H
#define CSI_SYSTEM_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/ctx.h"
#include "csi-proxy/bytes.h"

/* The numbers of winerror.h that portable code tells apart. */
enum csi_service_error {
  CSI_SERVICE_DEPENDENTS_RUNNING = 1051,
  CSI_SERVICE_INVALID_CONTROL = 1052,
  CSI_SERVICE_ALREADY_RUNNING = 1056,
  CSI_SERVICE_DISABLED = 1058,
  CSI_SERVICE_DOES_NOT_EXIST = 1060,
  CSI_SERVICE_CANNOT_ACCEPT_CONTROL = 1061,
  CSI_SERVICE_NOT_ACTIVE = 1062,
  CSI_SERVICE_SPECIFIC_ERROR = 1066,
};

/* SERVICE_STATUS.dwCurrentState. */
enum csi_service_state {
  CSI_SERVICE_STOPPED = 1,
  CSI_SERVICE_START_PENDING = 2,
  CSI_SERVICE_STOP_PENDING = 3,
  CSI_SERVICE_RUNNING = 4,
  CSI_SERVICE_CONTINUE_PENDING = 5,
  CSI_SERVICE_PAUSE_PENDING = 6,
  CSI_SERVICE_PAUSED = 7,
};

enum {
  CSI_SERVICE_DRIVER_TYPES = 0x0F, /* SERVICE_KERNEL_DRIVER and so on, in csi_service_status.type */
  CSI_SERVICE_ACCEPT_STOP = 0x01,  /* SERVICE_ACCEPT_STOP, in csi_service_status.controls_accepted */
};

struct csi_service_status {
  uint32_t type;              /* SERVICE_WIN32_OWN_PROCESS 0x10 and so on */
  uint32_t state;             /* enum csi_service_state, as far as it is one */
  uint32_t controls_accepted; /* means something while it is running or paused */
  uint32_t check_point;       /* grows while something is pending and goes on */
  uint32_t wait_hint_ms;
  uint32_t process_id;         /* 0 = has none */
  uint32_t win32_exit_code;    /* why it has stopped */
  uint32_t specific_exit_code; /* when the former is ERROR_SERVICE_SPECIFIC_ERROR, 1066 */
};

struct csi_service_config {
  const char *display_name; /* in the arena */
  uint32_t start_type;      /* SERVICE_BOOT_START 0 to SERVICE_DISABLED 4 */
};

struct csi_system_host {
  void *self; /* handed to every function */

  /* The process we are, to know our own service by. Cannot fail, does not block. */
  uint32_t (*get_process_id)(void *self);

  /* GetSystemFirmwareTable('RSMB'): struct RawSMBIOSData as it came. In the arena. */
  bool (*get_smbios)(void *self, struct csi_ctx *ctx, struct csi_bytes *bytes_out);

  /* All below: name is the service's key name, without regard to case; CSI_SERVICE_DOES_NOT_EXIST. */

  bool (*get_config)(void *self, struct csi_ctx *ctx, const char *name,
                     struct csi_service_config *config_out);
  /* The key name as the service manager spells it, as far as it tells; otherwise name. In the arena. Fails
   * when there is no such service, or when the service manager cannot be asked. */
  bool (*get_key_name)(void *self, struct csi_ctx *ctx, const char *name, const char **key_name_out);
  /* Leaves nothing in the arena: called again and again while a service is waited for. */
  bool (*get_status)(void *self, struct csi_ctx *ctx, const char *name,
                     struct csi_service_status *status_out);
  bool (*start)(void *self, struct csi_ctx *ctx, const char *name);
  /* Sends the control; does not wait. */
  bool (*stop)(void *self, struct csi_ctx *ctx, const char *name);
  /* Key names of the services that depend on this one, at any distance or directly (Windows: both), and are
   * not stopped. In the arena. */
  bool (*list_active_dependents)(void *self, struct csi_ctx *ctx, const char *name, const char ***names_out,
                                 size_t *count_out);
};

#endif
