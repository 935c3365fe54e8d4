/* SPDX-License-Identifier: Apache-2.0
 *
 * What the iSCSI group needs of an operating system: single calls to its initiator. All rules stand on this
 * side of the table, in portable code; host_win32.c fills it with iscsidsc.dll, the fake node with targets
 * in memory.
 *
 * Every function returns false and fills ctx->status when its call fails: csi_fail_system with the raw
 * number, in CSI_SPACE_ISDSC when it is one of iscsierr.h, in CSI_SPACE_WIN32 otherwise. That the service
 * MSiSCSI does not run is recognised on this side. All may block, at most until the call's deadline; all may
 * be called from several threads at once.
 */
#ifndef CSI_ISCSI_HOST_H
#define CSI_ISCSI_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/ctx.h"

enum {
  CSI_ISCSI_NAME_BYTES = 224,    /* MAX_ISCSI_NAME_LEN with its NUL */
  CSI_ISCSI_ADDRESS_BYTES = 256, /* MAX_ISCSI_PORTAL_ADDRESS_LEN */
  CSI_ISCSI_TEXT_BYTES = 769,    /* any text of 256 units of UTF-16, with a NUL */
  CSI_ISCSI_SECRET_BYTES_MIN = 12,
  CSI_ISCSI_SECRET_BYTES_MAX = 16,
  CSI_ISCSI_DEFAULT_PORT = 3260,
};

/* The numbers of iscsierr.h that portable code tells apart. */
#define CSI_ISDSC_CONNECTION_FAILED UINT32_C(0xEFFF0003)
#define CSI_ISDSC_AUTHENTICATION_FAILURE UINT32_C(0xEFFF0009)
#define CSI_ISDSC_AUTHORIZATION_FAILURE UINT32_C(0xEFFF000A)
#define CSI_ISDSC_INVALID_SESSION_ID UINT32_C(0xEFFF001C)
#define CSI_ISDSC_SESSION_BUSY UINT32_C(0xEFFF001F)
#define CSI_ISDSC_TARGET_NOT_FOUND UINT32_C(0xEFFF0029)
#define CSI_ISDSC_OPERATION_NOT_ALL_SUCCESS UINT32_C(0xAFFF002E)
#define CSI_ISDSC_TARGET_PORTAL_ALREADY_EXISTS UINT32_C(0xEFFF0032)
#define CSI_ISDSC_SERVICE_NOT_RUNNING UINT32_C(0xEFFF003E)
#define CSI_ISDSC_TARGET_ALREADY_LOGGED_IN UINT32_C(0xEFFF003F)
#define CSI_ISDSC_DEVICE_BUSY_ON_SESSION UINT32_C(0xEFFF0040)
#define CSI_ISDSC_PORTAL_NOT_FOUND UINT32_C(0xEFFF0043)
#define CSI_ISDSC_BUFFER_TOO_SMALL UINT32_C(0xEFFF0054)

/* A SendTargets portal; the texts are UTF-8. */
struct csi_iscsi_portal {
  char address[CSI_ISCSI_ADDRESS_BYTES];
  uint16_t port;
};

/* ISCSI_UNIQUE_SESSION_ID. */
struct csi_iscsi_session_id {
  uint64_t adapter_unique;
  uint64_t adapter_specific;
};

struct csi_iscsi_session {
  struct csi_iscsi_session_id id;
  char target[CSI_ISCSI_NAME_BYTES];
  bool has_connection; /* false while the initiator restores it */
};

/* A login that the initiator repeats when the machine starts. */
struct csi_iscsi_persistent_login {
  char target[CSI_ISCSI_NAME_BYTES];
  char initiator[CSI_ISCSI_TEXT_BYTES]; /* instance name of the adapter */
  uint32_t initiator_port;
  char portal_name[CSI_ISCSI_TEXT_BYTES]; /* its symbolic name; mostly "" */
  struct csi_iscsi_portal portal;         /* address "" = any */
};

enum csi_iscsi_authentication {
  CSI_ISCSI_AUTH_NONE = 0,
  CSI_ISCSI_AUTH_ONE_WAY_CHAP = 1,
  CSI_ISCSI_AUTH_MUTUAL_CHAP = 2,
};

/* All texts are in a secret arena. */
struct csi_iscsi_login {
  const char *target;
  const struct csi_iscsi_portal *portal;
  enum csi_iscsi_authentication authentication;
  const char *username; /* "" = is not sent; the initiator's own name is used */
  const char *secret;   /* "" = is not sent */
};

struct csi_iscsi_host {
  void *self; /* handed to every function */

  /* Fail with UNAVAILABLE while a call that changes the target or the portal, in whatever spelling, goes on
   * though somebody has given it up: what is there then tells nothing about what will be there. */
  bool (*check_target)(void *self, struct csi_ctx *ctx, const char *target);
  bool (*check_portal)(void *self, struct csi_ctx *ctx, const struct csi_iscsi_portal *portal);

  /* ReportIScsiSendTargetPortalsExW. In the arena. */
  bool (*list_portals)(void *self, struct csi_ctx *ctx, const struct csi_iscsi_portal **portals_out,
                       size_t *count_out);
  /* AddIScsiSendTargetPortalW: also asks the portal for its targets. */
  bool (*add_portal)(void *self, struct csi_ctx *ctx, const struct csi_iscsi_portal *portal);
  /* RefreshIScsiSendTargetPortalW: asks it again. */
  bool (*refresh_portal)(void *self, struct csi_ctx *ctx, const struct csi_iscsi_portal *portal);
  bool (*remove_portal)(void *self, struct csi_ctx *ctx, const struct csi_iscsi_portal *portal);

  /* Names of the targets that the initiator knows from this portal, as last discovered. In the arena. */
  bool (*list_targets)(void *self, struct csi_ctx *ctx, const struct csi_iscsi_portal *portal,
                       const char ***names_out, size_t *count_out);

  /* GetIScsiSessionListW: all sessions with all targets. In the arena. */
  bool (*list_sessions)(void *self, struct csi_ctx *ctx, const struct csi_iscsi_session **sessions_out,
                        size_t *count_out);
  /* LoginIScsiTargetW, not persistent. Given up at the deadline; what the login that was given up does later
   * is undone by nobody: check_target() fails until it has returned, and then the session is listed. */
  bool (*login)(void *self, struct csi_ctx *ctx, const struct csi_iscsi_login *login);
  bool (*logout)(void *self, struct csi_ctx *ctx, const struct csi_iscsi_session *session);

  bool (*list_persistent_logins)(void *self, struct csi_ctx *ctx,
                                 const struct csi_iscsi_persistent_login **logins_out, size_t *count_out);
  bool (*remove_persistent_login)(void *self, struct csi_ctx *ctx,
                                  const struct csi_iscsi_persistent_login *login);

  /* GetDevicesForIScsiSessionW: numbers of the disks of a session that have arrived. In the arena. */
  bool (*list_disks)(void *self, struct csi_ctx *ctx, const struct csi_iscsi_session *session,
                     const uint32_t **numbers_out, size_t *count_out);

  /* SetIScsiInitiatorCHAPSharedSecret. */
  bool (*set_chap_secret)(void *self, struct csi_ctx *ctx, const char *secret);
};

#endif
