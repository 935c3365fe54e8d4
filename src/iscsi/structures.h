/* SPDX-License-Identifier: Apache-2.0
 *
 * What iscsidsc.dll answers: arrays of structures with texts and pointers in one buffer, and lists of texts.
 * Portable; every length, number and pointer is checked, none is followed out of the buffer. The layouts are
 * those of 64-bit Windows.
 *
 * All fail with INTERNAL when an answer is malformed, RESOURCE_EXHAUSTED when it does not fit the arena,
 * where what they give stands.
 */
#ifndef CSI_ISCSI_STRUCTURES_H
#define CSI_ISCSI_STRUCTURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "iscsi/host.h"

/* Sizes and offsets in bytes; iscsidsc_win32.h asserts that its structures have them. */
enum {
  /* ISCSI_SESSION_INFOW. The SDK has TargetNodeName before TargetName, other headers have them the other way
   * round; both hold the name of the target. */
  CSI_ISCSI_SESSION_BYTES = 64,
  CSI_ISCSI_SESSION_INITIATOR_AT = 16,
  CSI_ISCSI_SESSION_NODE_NAME_AT = 24,
  CSI_ISCSI_SESSION_NAME_AT = 32,
  CSI_ISCSI_SESSION_CONNECTION_COUNT_AT = 48,
  CSI_ISCSI_SESSION_CONNECTIONS_AT = 56,

  /* ISCSI_TARGET_PORTAL_INFO_EXW */
  CSI_ISCSI_PORTAL_INFO_BYTES = 1616,
  CSI_ISCSI_PORTAL_INFO_ADDRESS_AT = 1028,
  CSI_ISCSI_PORTAL_INFO_SOCKET_AT = 1540,

  /* PERSISTENT_ISCSI_LOGIN_INFOW */
  CSI_ISCSI_PERSISTENT_BYTES = 2080,
  CSI_ISCSI_PERSISTENT_TARGET_AT = 0,
  CSI_ISCSI_PERSISTENT_INITIATOR_AT = 450,
  CSI_ISCSI_PERSISTENT_INITIATOR_PORT_AT = 964,
  CSI_ISCSI_PERSISTENT_PORTAL_NAME_AT = 968,
  CSI_ISCSI_PERSISTENT_ADDRESS_AT = 1480,
  CSI_ISCSI_PERSISTENT_SOCKET_AT = 1992,

  /* ISCSI_DEVICE_ON_SESSIONW */
  CSI_ISCSI_DEVICE_BYTES = 2040,
  CSI_ISCSI_DEVICE_TYPE_AT = 2024, /* StorageDeviceNumber.DeviceType */
  CSI_ISCSI_DEVICE_NUMBER_AT = 2028,

  /* The arrays of characters in them, in units of 16 bits. */
  CSI_ISCSI_NAME_UNITS = 224,
  CSI_ISCSI_TEXT_UNITS = 256, /* names of portals and adapters, addresses */
};

/* Where a number that the library gives belongs: it hands on Win32 errors beside its own, whose facility is
 * 0xFFF. */
enum csi_error_space csi_iscsi_error_space(uint32_t number);

/* An answer: an array of count structures at the beginning of a buffer. */
struct csi_iscsi_reply {
  const uint8_t *bytes;
  size_t size_bytes;
  uint64_t address; /* of bytes when the library filled it in; pointers count from it */
  size_t count;     /* how many structures, as the library says */
};

/* GetIScsiSessionListW. Sessions for discovery, which have no target, are left out. */
bool csi_iscsi_read_sessions(struct csi_ctx *ctx, const struct csi_iscsi_reply *reply,
                             const struct csi_iscsi_session **sessions_out, size_t *count_out) CSI_MUST_CHECK;

/* ReportIScsiSendTargetPortalsExW. A portal that several adapters have is given once. */
bool csi_iscsi_read_portals(struct csi_ctx *ctx, const struct csi_iscsi_reply *reply,
                            const struct csi_iscsi_portal **portals_out, size_t *count_out) CSI_MUST_CHECK;

/* ReportIScsiPersistentLoginsW. */
bool csi_iscsi_read_persistent_logins(struct csi_ctx *ctx, const struct csi_iscsi_reply *reply,
                                      const struct csi_iscsi_persistent_login **logins_out,
                                      size_t *count_out) CSI_MUST_CHECK;

/* GetDevicesForIScsiSessionW: the numbers of those that are disks, and have a number already. */
bool csi_iscsi_read_disks(struct csi_ctx *ctx, const struct csi_iscsi_reply *reply,
                          const uint32_t **numbers_out, size_t *count_out) CSI_MUST_CHECK;

/* A list of texts, each with its NUL, and an empty one at the end: ReportIScsiTargetsW, discovery mechanisms.
 * units: the room of the buffer; the last NUL may be missing where it ends. Empty: no texts. */
bool csi_iscsi_read_texts(struct csi_ctx *ctx, const uint16_t *list_w, size_t units, const char ***texts_out,
                          size_t *count_out) CSI_MUST_CHECK;

/* True when a discovery mechanism, `SendTargets:*192.0.2.1 0003260 Root\ISCSIPRT\0000_0`, names this portal.
 * Any other text: false. */
bool csi_iscsi_mechanism_is_portal(const char *mechanism, const struct csi_iscsi_portal *portal);

#endif
