/* SPDX-License-Identifier: Apache-2.0 */
#include "iscsi/structures.h"

#include <stdio.h>
#include <string.h>

#include "base/little_endian.h"
#include "base/text.h"
#include "iscsi/name.h"
#include "iscsi/portal.h"

enum {
  COUNT_MAX = 4096, /* more of anything than an initiator can have */
  TYPE_DISK = 7,    /* FILE_DEVICE_DISK */
};
#define NO_NUMBER UINT32_MAX /* STORAGE_DEVICE_NUMBER of a device that has none */

enum csi_error_space csi_iscsi_error_space(uint32_t number) {
  return (number >> 16 & 0xFFF) == 0xFFF ? CSI_SPACE_ISDSC : CSI_SPACE_WIN32;
}

static bool fail_malformed(struct csi_ctx *ctx, const char *what) {
  return csi_fail(&ctx->status, CSI_INTERNAL, "the iSCSI initiator's list of %s is malformed", what);
}

/* Checks that the structures lie in the buffer, and makes room for what they become. */
static void *begin(struct csi_ctx *ctx, const struct csi_iscsi_reply *reply, size_t structure_bytes,
                   size_t item_bytes, const char *what) {
  if (reply->count > COUNT_MAX || reply->count > reply->size_bytes / structure_bytes) {
    fail_malformed(ctx, what);
    return NULL;
  }
  void *items = csi_arena_alloc_array(ctx->arena, reply->count == 0 ? 1 : reply->count, item_bytes);
  if (items == NULL) csi_fail_out_of_memory(&ctx->status);
  return items;
}

/* Converts a text of at most units, to its NUL or to the end. Sets *text_out to "" and returns true when it
 * does not fit: no request can name such a thing. False when memory is short. */
static bool read_text(struct csi_ctx *ctx, const uint8_t *bytes, size_t units, char *text_out,
                      size_t text_bytes) {
  uint16_t text_w[CSI_ISCSI_TEXT_UNITS];
  size_t length = 0;
  text_out[0] = '\0';
  while (length < units && csi_get_u16(bytes + 2 * length) != 0) {
    if (length == CSI_ISCSI_TEXT_UNITS) return true;
    text_w[length] = csi_get_u16(bytes + 2 * length);
    length++;
  }
  const char *text = csi_utf8_from_utf16(ctx->arena, text_w, length);
  if (text == NULL) return csi_fail_out_of_memory(&ctx->status);
  if (strlen(text) < text_bytes) (void)snprintf(text_out, text_bytes, "%s", text);
  return true;
}

/* Follows a pointer in a structure to a text of the same buffer. A null pointer is an empty text. */
static bool read_pointed(struct csi_ctx *ctx, const struct csi_iscsi_reply *reply, const uint8_t *field,
                         char *text_out, size_t text_bytes) {
  uint64_t pointer = csi_get_u64(field), offset = pointer - reply->address;
  text_out[0] = '\0';
  if (pointer == 0) return true;
  if (pointer < reply->address || offset >= reply->size_bytes || pointer % sizeof(uint16_t) != 0)
    return fail_malformed(ctx, "sessions");
  size_t units = (size_t)(reply->size_bytes - offset) / sizeof(uint16_t), length = 0;
  const uint8_t *text = reply->bytes + offset;
  while (length < units && csi_get_u16(text + 2 * length) != 0)
    length++;
  if (length == units) return fail_malformed(ctx, "sessions");
  return read_text(ctx, text, length, text_out, text_bytes);
}

/* A session counts whether it has a connection now or not: the initiator restores it, and refuses another
 * login meanwhile. UNVERIFIED ON WINDOWS: that it does, and lists it without connections. */
bool csi_iscsi_read_sessions(struct csi_ctx *ctx, const struct csi_iscsi_reply *reply,
                             const struct csi_iscsi_session **sessions_out, size_t *count_out) {
  struct csi_iscsi_session *sessions =
      begin(ctx, reply, CSI_ISCSI_SESSION_BYTES, sizeof *sessions, "sessions");
  if (sessions == NULL) return false;
  size_t count = 0;
  for (size_t i = 0; i < reply->count; i++) {
    const uint8_t *structure = reply->bytes + i * CSI_ISCSI_SESSION_BYTES;
    struct csi_iscsi_session *session = &sessions[count];
    char other[CSI_ISCSI_NAME_BYTES];
    session->id.adapter_unique = csi_get_u64(structure);
    session->id.adapter_specific = csi_get_u64(structure + sizeof(uint64_t));
    session->has_connection = csi_get_u32(structure + CSI_ISCSI_SESSION_CONNECTION_COUNT_AT) > 0;
    if (!read_pointed(ctx, reply, structure + CSI_ISCSI_SESSION_NODE_NAME_AT, session->target,
                      sizeof session->target) ||
        !read_pointed(ctx, reply, structure + CSI_ISCSI_SESSION_NAME_AT, other, sizeof other))
      return false;
    if (!csi_iscsi_name_is_usual(session->target) && csi_iscsi_name_is_usual(other))
      memcpy(session->target, other, sizeof other);
    if (session->target[0] != '\0') count++;
  }
  *sessions_out = sessions;
  *count_out = count;
  return true;
}

static bool has_portal(const struct csi_iscsi_portal *portals, size_t count,
                       const struct csi_iscsi_portal *portal) {
  for (size_t i = 0; i < count; i++)
    if (csi_iscsi_portal_is_equal(&portals[i], portal)) return true;
  return false;
}

bool csi_iscsi_read_portals(struct csi_ctx *ctx, const struct csi_iscsi_reply *reply,
                            const struct csi_iscsi_portal **portals_out, size_t *count_out) {
  struct csi_iscsi_portal *portals =
      begin(ctx, reply, CSI_ISCSI_PORTAL_INFO_BYTES, sizeof *portals, "portals");
  if (portals == NULL) return false;
  size_t count = 0;
  for (size_t i = 0; i < reply->count; i++) {
    const uint8_t *structure = reply->bytes + i * CSI_ISCSI_PORTAL_INFO_BYTES;
    struct csi_iscsi_portal *portal = &portals[count];
    portal->port = csi_get_u16(structure + CSI_ISCSI_PORTAL_INFO_SOCKET_AT);
    if (!read_text(ctx, structure + CSI_ISCSI_PORTAL_INFO_ADDRESS_AT, CSI_ISCSI_TEXT_UNITS, portal->address,
                   sizeof portal->address))
      return false;
    if (portal->address[0] != '\0' && !has_portal(portals, count, portal)) count++;
  }
  *portals_out = portals;
  *count_out = count;
  return true;
}

bool csi_iscsi_read_persistent_logins(struct csi_ctx *ctx, const struct csi_iscsi_reply *reply,
                                      const struct csi_iscsi_persistent_login **logins_out,
                                      size_t *count_out) {
  struct csi_iscsi_persistent_login *logins =
      begin(ctx, reply, CSI_ISCSI_PERSISTENT_BYTES, sizeof *logins, "persistent logins");
  if (logins == NULL) return false;
  for (size_t i = 0; i < reply->count; i++) {
    const uint8_t *structure = reply->bytes + i * CSI_ISCSI_PERSISTENT_BYTES;
    struct csi_iscsi_persistent_login *login = &logins[i];
    login->initiator_port = csi_get_u32(structure + CSI_ISCSI_PERSISTENT_INITIATOR_PORT_AT);
    login->portal.port = csi_get_u16(structure + CSI_ISCSI_PERSISTENT_SOCKET_AT);
    if (!read_text(ctx, structure + CSI_ISCSI_PERSISTENT_TARGET_AT, CSI_ISCSI_NAME_UNITS, login->target,
                   sizeof login->target) ||
        !read_text(ctx, structure + CSI_ISCSI_PERSISTENT_INITIATOR_AT, CSI_ISCSI_TEXT_UNITS, login->initiator,
                   sizeof login->initiator) ||
        !read_text(ctx, structure + CSI_ISCSI_PERSISTENT_PORTAL_NAME_AT, CSI_ISCSI_TEXT_UNITS,
                   login->portal_name, sizeof login->portal_name) ||
        !read_text(ctx, structure + CSI_ISCSI_PERSISTENT_ADDRESS_AT, CSI_ISCSI_TEXT_UNITS,
                   login->portal.address, sizeof login->portal.address))
      return false;
  }
  *logins_out = logins;
  *count_out = reply->count;
  return true;
}

bool csi_iscsi_read_disks(struct csi_ctx *ctx, const struct csi_iscsi_reply *reply,
                          const uint32_t **numbers_out, size_t *count_out) {
  uint32_t *numbers = begin(ctx, reply, CSI_ISCSI_DEVICE_BYTES, sizeof *numbers, "devices");
  if (numbers == NULL) return false;
  size_t count = 0;
  for (size_t i = 0; i < reply->count; i++) {
    const uint8_t *structure = reply->bytes + i * CSI_ISCSI_DEVICE_BYTES;
    uint32_t number = csi_get_u32(structure + CSI_ISCSI_DEVICE_NUMBER_AT);
    if (csi_get_u32(structure + CSI_ISCSI_DEVICE_TYPE_AT) == TYPE_DISK && number != NO_NUMBER)
      numbers[count++] = number;
  }
  *numbers_out = numbers;
  *count_out = count;
  return true;
}

/* The length of the text at the beginning of a list; units when it has no NUL. */
static size_t text_units(const uint16_t *list_w, size_t units) {
  size_t length = 0;
  while (length < units && list_w[length] != 0)
    length++;
  return length;
}

bool csi_iscsi_read_texts(struct csi_ctx *ctx, const uint16_t *list_w, size_t units, const char ***texts_out,
                          size_t *count_out) {
  size_t count = 0, at = 0, length;
  for (; (length = text_units(list_w + at, units - at)) > 0; count++) {
    if (count == COUNT_MAX || at + length == units) return fail_malformed(ctx, "names");
    at += length + 1;
  }
  const char **texts = csi_arena_alloc_array(ctx->arena, count == 0 ? 1 : count, sizeof *texts);
  if (texts == NULL) return csi_fail_out_of_memory(&ctx->status);
  at = 0;
  for (size_t i = 0; i < count; i++) {
    length = text_units(list_w + at, units - at);
    texts[i] = csi_utf8_from_utf16(ctx->arena, list_w + at, length);
    if (texts[i] == NULL) return csi_fail_out_of_memory(&ctx->status);
    at += length + 1;
  }
  *texts_out = texts;
  *count_out = count;
  return true;
}

/* The form is documented nowhere. UNVERIFIED ON WINDOWS: `SendTargets:*ADDRESS PPPPPPP ADAPTER `, with the
 * port in seven digits, as people show it who write about iscsicli. */
bool csi_iscsi_mechanism_is_portal(const char *mechanism, const struct csi_iscsi_portal *portal) {
  static const char prefix[] = "SendTargets:";
  if (!csi_utf8_has_prefix_ignore_case(mechanism, prefix)) return false;
  const char *address = mechanism + sizeof prefix - 1;
  while (*address == '*' || *address == ' ')
    address++;
  size_t length = strcspn(address, " ");
  const char *digits = address + length + strspn(address + length, " ");
  size_t digit_count = strspn(digits, "0123456789");
  struct csi_iscsi_portal named = {.port = 0};
  uint32_t port = 0;
  for (size_t i = 0; i < digit_count && port <= UINT16_MAX; i++)
    port = port * 10 + (uint32_t)(digits[i] - '0');
  bool ends = digits[digit_count] == '\0' || digits[digit_count] == ' ';
  if (length == 0 || length >= sizeof named.address || digit_count == 0 || !ends || port > UINT16_MAX)
    return false;
  memcpy(named.address, address, length);
  named.port = (uint16_t)port;
  return csi_iscsi_portal_is_equal(&named, portal);
}
