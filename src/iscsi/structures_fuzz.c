/* SPDX-License-Identifier: Apache-2.0
 *
 * Any answer of iscsidsc.dll: reading stays inside it and ends. The first bytes tell what it is, how many
 * structures it says to have, and where it believes itself to be.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/little_endian.h"
#include "iscsi/structures.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
  HEADER_BYTES = 4,
  ARENA_BYTES = 8 << 20,
  KINDS = 5,
};
#define BASE UINT64_C(0x10000)

static void require(bool condition) {
  if (!condition) abort();
}

static bool read_texts(struct csi_ctx *ctx, const struct csi_iscsi_reply *reply) {
  size_t units = reply->size_bytes / sizeof(uint16_t), count;
  uint16_t *list_w = malloc(units * sizeof *list_w + 1);
  const char **texts;
  require(list_w != NULL);
  for (size_t i = 0; i < units; i++)
    list_w[i] = csi_get_u16(reply->bytes + 2 * i);
  bool result = csi_iscsi_read_texts(ctx, list_w, units, &texts, &count);
  for (size_t i = 0; result && i < count; i++)
    require(texts[i][0] != '\0');
  free(list_w);
  return result;
}

static bool read_sessions(struct csi_ctx *ctx, const struct csi_iscsi_reply *reply) {
  const struct csi_iscsi_session *sessions;
  size_t count;
  if (!csi_iscsi_read_sessions(ctx, reply, &sessions, &count)) return false;
  require(count <= reply->count);
  for (size_t i = 0; i < count; i++)
    require(sessions[i].target[0] != '\0' && memchr(sessions[i].target, 0, sizeof sessions[i].target));
  return true;
}

static bool read(struct csi_ctx *ctx, const struct csi_iscsi_reply *reply, unsigned kind) {
  const struct csi_iscsi_portal *portals;
  const struct csi_iscsi_persistent_login *logins;
  const uint32_t *numbers;
  size_t count = 0;
  switch (kind % KINDS) {
  case 0:
    return read_sessions(ctx, reply);
  case 1:
    return csi_iscsi_read_portals(ctx, reply, &portals, &count);
  case 2:
    return csi_iscsi_read_persistent_logins(ctx, reply, &logins, &count);
  case 3:
    return csi_iscsi_read_disks(ctx, reply, &numbers, &count);
  default:
    return read_texts(ctx, reply);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < HEADER_BYTES) return 0;
  size_t left = size - HEADER_BYTES;
  uint8_t *bytes = malloc(left + 1); /* of that size, for the sanitizer to see its end */
  require(bytes != NULL);
  memcpy(bytes, data + HEADER_BYTES, left);
  struct csi_iscsi_reply reply = {
      .bytes = bytes, .size_bytes = left, .address = BASE, .count = csi_get_u16(data + 2)};
  struct csi_ctx ctx = {.arena = csi_arena_new(ARENA_BYTES), .deadline_ns = CSI_NO_DEADLINE};
  require(ctx.arena != NULL);
  bool result = read(&ctx, &reply, data[0]);
  require(result == csi_status_ok(&ctx.status));
  csi_arena_free(ctx.arena);
  free(bytes);
  return 0;
}
