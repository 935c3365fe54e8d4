/* SPDX-License-Identifier: Apache-2.0
 *
 * Answers of iscsidsc.dll: those that are sound, and those that lie.
 */
#include "iscsi/structures.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/little_endian.h"

#define BASE UINT64_C(0x00000123456789A0) /* where the library believes the buffer to be */
#define IQN "iqn.2004-10.com.example:disk1"

enum {
  ROOM = 16 * 1024,
  ARENA_BYTES = 1 << 20,
};

/* A buffer that is being filled in, and what came out of it. */
struct scene {
  uint8_t bytes[ROOM];
  size_t size; /* of what is used */
  struct csi_ctx ctx;
};

static int set_up(void **state) {
  struct scene *scene = calloc(1, sizeof *scene);
  assert_non_null(scene);
  scene->ctx.arena = csi_arena_new(ARENA_BYTES);
  assert_non_null(scene->ctx.arena);
  scene->ctx.deadline_ns = CSI_NO_DEADLINE;
  *state = scene;
  return 0;
}

static int tear_down(void **state) {
  struct scene *scene = *state;
  csi_arena_free(scene->ctx.arena);
  free(scene);
  return 0;
}

static void put_text(uint8_t *at, const char *text) {
  for (; *text != '\0'; text++, at += 2)
    csi_put_u16(at, (uint8_t)*text);
  csi_put_u16(at, 0);
}

/* Puts a text behind what is there, and a pointer to it into a field. */
static void point(struct scene *scene, size_t field, const char *text) {
  csi_put_u64(scene->bytes + field, BASE + scene->size);
  put_text(scene->bytes + scene->size, text);
  scene->size += 2 * (strlen(text) + 1);
}

/* The reply in a copy of exactly its size, for the sanitizer to see its end. */
static struct csi_iscsi_reply copy(const struct scene *scene, size_t size, size_t count) {
  uint8_t *bytes = malloc(size > 0 ? size : 1);
  assert_non_null(bytes);
  memcpy(bytes, scene->bytes, size);
  return (struct csi_iscsi_reply){.bytes = bytes, .size_bytes = size, .address = BASE, .count = count};
}

static void release(struct csi_iscsi_reply *reply) {
  free((void *)reply->bytes);
}

static void assert_malformed(struct scene *scene, bool result) {
  assert_false(result);
  assert_int_equal(scene->ctx.status.code, CSI_INTERNAL);
  csi_status_clear(&scene->ctx.status);
}

/* ---- Sessions. ---- */

static void add_sessions(struct scene *scene, size_t count) {
  scene->size = count * CSI_ISCSI_SESSION_BYTES;
  for (size_t i = 0; i < count; i++) {
    size_t at = i * CSI_ISCSI_SESSION_BYTES;
    char name[64];
    snprintf(name, sizeof name, IQN "%zu", i);
    csi_put_u64(scene->bytes + at, UINT64_C(0xFFFFFA8012345678));
    csi_put_u64(scene->bytes + at + 8, 0x4000013700000001 + i);
    point(scene, at + CSI_ISCSI_SESSION_INITIATOR_AT, "iqn.1991-05.com.microsoft:node");
    point(scene, at + CSI_ISCSI_SESSION_NODE_NAME_AT, name);
    point(scene, at + CSI_ISCSI_SESSION_NAME_AT, name);
    csi_put_u32(scene->bytes + at + CSI_ISCSI_SESSION_CONNECTION_COUNT_AT, 1);
  }
}

static bool read_sessions(struct scene *scene, size_t size, size_t count,
                          const struct csi_iscsi_session **sessions_out, size_t *count_out) {
  struct csi_iscsi_reply reply = copy(scene, size, count);
  bool result = csi_iscsi_read_sessions(&scene->ctx, &reply, sessions_out, count_out);
  release(&reply);
  return result;
}

static void test_sessions(void **state) {
  struct scene *scene = *state;
  const struct csi_iscsi_session *sessions;
  size_t count;
  add_sessions(scene, 2);
  assert_true(read_sessions(scene, scene->size, 2, &sessions, &count));
  assert_int_equal(count, 2);
  assert_string_equal(sessions[0].target, IQN "0");
  assert_string_equal(sessions[1].target, IQN "1");
  assert_true(sessions[1].id.adapter_unique == UINT64_C(0xFFFFFA8012345678));
  assert_true(sessions[1].id.adapter_specific == 0x4000013700000002);
  assert_true(sessions[0].has_connection && sessions[1].has_connection);
  csi_put_u32(scene->bytes + CSI_ISCSI_SESSION_BYTES + CSI_ISCSI_SESSION_CONNECTION_COUNT_AT, 0);
  assert_true(read_sessions(scene, scene->size, 2, &sessions, &count));
  assert_int_equal(count, 2);
  assert_true(sessions[0].has_connection && !sessions[1].has_connection);
  assert_true(read_sessions(scene, scene->size, 0, &sessions, &count));
  assert_int_equal(count, 0);
  assert_true(read_sessions(scene, 0, 0, &sessions, &count));
}

/* The two names may stand the other way round, or one may be missing; a session without any is for discovery.
 */
static void test_names_of_sessions(void **state) {
  static const struct {
    const char *node_name, *name, *target; /* NULL = a null pointer, no session */
  } rows[] = {
      {IQN, NULL, IQN},
      {NULL, IQN, IQN},
      {"Friendly name", IQN, IQN},
      {IQN, "Friendly name", IQN},
      {"odd-name", NULL, "odd-name"},
      {NULL, NULL, NULL},
      {"", "", NULL},
  };
  struct scene *scene = *state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const struct csi_iscsi_session *sessions;
    size_t count;
    memset(scene->bytes, 0, sizeof scene->bytes);
    scene->size = CSI_ISCSI_SESSION_BYTES;
    if (rows[i].node_name != NULL) point(scene, CSI_ISCSI_SESSION_NODE_NAME_AT, rows[i].node_name);
    if (rows[i].name != NULL) point(scene, CSI_ISCSI_SESSION_NAME_AT, rows[i].name);
    assert_true(read_sessions(scene, scene->size, 1, &sessions, &count));
    assert_int_equal(count, rows[i].target != NULL);
    if (count == 1) assert_string_equal(sessions[0].target, rows[i].target);
  }
}

static void test_sessions_that_lie(void **state) {
  static const uint64_t pointers[] = {
      1,
      BASE - 2,
      BASE + 1,
      BASE + ROOM,
      BASE + ROOM - 2,
      UINT64_MAX,
      UINT64_MAX - 1,
      UINT64_C(0x8000000000000000),
  };
  struct scene *scene = *state;
  const struct csi_iscsi_session *sessions;
  size_t count;
  add_sessions(scene, 2);
  for (size_t size = 0; size < scene->size; size++)
    assert_malformed(scene, read_sessions(scene, size, 2, &sessions, &count));
  for (size_t i = 0; i < sizeof pointers / sizeof pointers[0]; i++) {
    csi_put_u64(scene->bytes + CSI_ISCSI_SESSION_NODE_NAME_AT, pointers[i]);
    assert_malformed(scene, read_sessions(scene, scene->size, 2, &sessions, &count));
  }
  assert_malformed(scene, read_sessions(scene, scene->size, SIZE_MAX, &sessions, &count));
  assert_malformed(scene, read_sessions(scene, scene->size, 4097, &sessions, &count));
}

/* A text without end may not be read beyond the buffer. */
static void test_text_without_end(void **state) {
  struct scene *scene = *state;
  const struct csi_iscsi_session *sessions;
  size_t count;
  scene->size = CSI_ISCSI_SESSION_BYTES;
  point(scene, CSI_ISCSI_SESSION_NODE_NAME_AT, IQN);
  scene->size -= 2;
  assert_malformed(scene, read_sessions(scene, scene->size, 1, &sessions, &count));
  scene->size++; /* half of the NUL is there */
  assert_malformed(scene, read_sessions(scene, scene->size, 1, &sessions, &count));
}

/* Names that no request could give are no names. */
static void test_text_too_long(void **state) {
  struct scene *scene = *state;
  char name[600];
  const struct csi_iscsi_session *sessions;
  size_t count;
  static const size_t lengths[] = {223, 224, 256, 257, sizeof name - 1};
  for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
    memset(name, 'a', sizeof name);
    name[lengths[i]] = '\0';
    memset(scene->bytes, 0, sizeof scene->bytes);
    scene->size = CSI_ISCSI_SESSION_BYTES;
    point(scene, CSI_ISCSI_SESSION_NODE_NAME_AT, name);
    assert_true(read_sessions(scene, scene->size, 1, &sessions, &count));
    assert_int_equal(count, lengths[i] == 223);
  }
}

/* ---- Portals. ---- */

static void put_portal(struct scene *scene, size_t index, const char *address, uint16_t port) {
  uint8_t *structure = scene->bytes + index * CSI_ISCSI_PORTAL_INFO_BYTES;
  put_text(structure + CSI_ISCSI_PORTAL_INFO_ADDRESS_AT, address);
  csi_put_u16(structure + CSI_ISCSI_PORTAL_INFO_SOCKET_AT, port);
  scene->size = (index + 1) * CSI_ISCSI_PORTAL_INFO_BYTES;
}

static void test_portals(void **state) {
  struct scene *scene = *state;
  const struct csi_iscsi_portal *portals;
  size_t count;
  put_portal(scene, 0, "192.0.2.1", 3260);
  put_portal(scene, 1, "192.0.2.1", 3260); /* by another adapter */
  put_portal(scene, 2, "fd00::1", 3261);
  put_portal(scene, 3, "", 0);
  struct csi_iscsi_reply reply = copy(scene, scene->size, 4);
  assert_true(csi_iscsi_read_portals(&scene->ctx, &reply, &portals, &count));
  assert_int_equal(count, 2);
  assert_string_equal(portals[0].address, "192.0.2.1");
  assert_int_equal(portals[0].port, 3260);
  assert_string_equal(portals[1].address, "fd00::1");
  assert_int_equal(portals[1].port, 3261);
  reply.count = 5;
  assert_malformed(scene, csi_iscsi_read_portals(&scene->ctx, &reply, &portals, &count));
  reply.count = 4;
  reply.size_bytes--;
  assert_malformed(scene, csi_iscsi_read_portals(&scene->ctx, &reply, &portals, &count));
  release(&reply);
}

/* An array of characters may be full, without a NUL. */
static void test_portal_without_end(void **state) {
  struct scene *scene = *state;
  const struct csi_iscsi_portal *portals;
  size_t count;
  put_portal(scene, 0, "", 3260);
  for (size_t i = 0; i < CSI_ISCSI_TEXT_UNITS; i++)
    csi_put_u16(scene->bytes + CSI_ISCSI_PORTAL_INFO_ADDRESS_AT + 2 * i, 'a');
  struct csi_iscsi_reply reply = copy(scene, scene->size, 1);
  assert_true(csi_iscsi_read_portals(&scene->ctx, &reply, &portals, &count));
  assert_int_equal(count, 0);
  release(&reply);
}

/* ---- Persistent logins, devices. ---- */

static void test_error_spaces(void **state) {
  (void)state;
  assert_int_equal(csi_iscsi_error_space(CSI_ISDSC_AUTHENTICATION_FAILURE), CSI_SPACE_ISDSC);
  assert_int_equal(csi_iscsi_error_space(CSI_ISDSC_OPERATION_NOT_ALL_SUCCESS), CSI_SPACE_ISDSC);
  assert_int_equal(csi_iscsi_error_space(1722), CSI_SPACE_WIN32);
  assert_int_equal(csi_iscsi_error_space(UINT32_C(0x80070005)), CSI_SPACE_WIN32);
}

static void test_persistent_logins(void **state) {
  struct scene *scene = *state;
  const struct csi_iscsi_persistent_login *logins;
  size_t count;
  put_text(scene->bytes + CSI_ISCSI_PERSISTENT_TARGET_AT, IQN);
  put_text(scene->bytes + CSI_ISCSI_PERSISTENT_INITIATOR_AT, "ROOT\\ISCSIPRT\\0000_0");
  csi_put_u32(scene->bytes + CSI_ISCSI_PERSISTENT_INITIATOR_PORT_AT, UINT32_MAX);
  put_text(scene->bytes + CSI_ISCSI_PERSISTENT_PORTAL_NAME_AT, "a portal");
  put_text(scene->bytes + CSI_ISCSI_PERSISTENT_ADDRESS_AT, "192.0.2.1");
  csi_put_u16(scene->bytes + CSI_ISCSI_PERSISTENT_SOCKET_AT, 3260);
  scene->size = CSI_ISCSI_PERSISTENT_BYTES;
  struct csi_iscsi_reply reply = copy(scene, scene->size, 1);
  assert_true(csi_iscsi_read_persistent_logins(&scene->ctx, &reply, &logins, &count));
  assert_int_equal(count, 1);
  assert_string_equal(logins[0].target, IQN);
  assert_string_equal(logins[0].initiator, "ROOT\\ISCSIPRT\\0000_0");
  assert_true(logins[0].initiator_port == UINT32_MAX);
  assert_string_equal(logins[0].portal_name, "a portal");
  assert_string_equal(logins[0].portal.address, "192.0.2.1");
  assert_int_equal(logins[0].portal.port, 3260);
  reply.size_bytes--;
  assert_malformed(scene, csi_iscsi_read_persistent_logins(&scene->ctx, &reply, &logins, &count));
  release(&reply);
}

static void put_device(struct scene *scene, size_t index, uint32_t type, uint32_t number) {
  uint8_t *structure = scene->bytes + index * CSI_ISCSI_DEVICE_BYTES;
  csi_put_u32(structure + CSI_ISCSI_DEVICE_TYPE_AT, type);
  csi_put_u32(structure + CSI_ISCSI_DEVICE_NUMBER_AT, number);
  scene->size = (index + 1) * CSI_ISCSI_DEVICE_BYTES;
}

static void test_disks(void **state) {
  struct scene *scene = *state;
  const uint32_t *numbers;
  size_t count;
  put_device(scene, 0, 7, 5);
  put_device(scene, 1, 7, UINT32_MAX); /* has no number yet */
  put_device(scene, 2, 31, 6);         /* a tape */
  put_device(scene, 3, 0, 0);          /* a controller */
  put_device(scene, 4, 7, 0);
  struct csi_iscsi_reply reply = copy(scene, scene->size, 5);
  assert_true(csi_iscsi_read_disks(&scene->ctx, &reply, &numbers, &count));
  assert_int_equal(count, 2);
  assert_int_equal(numbers[0], 5);
  assert_int_equal(numbers[1], 0);
  reply.count = 6;
  assert_malformed(scene, csi_iscsi_read_disks(&scene->ctx, &reply, &numbers, &count));
  release(&reply);
}

/* ---- Lists of texts. ---- */

static void test_texts(void **state) {
  static const uint16_t list_w[] = {'a', 'b', 0, 'c', 0, 0, 'x', 0};
  struct scene *scene = *state;
  const char **texts;
  size_t count;
  assert_true(csi_iscsi_read_texts(&scene->ctx, list_w, 8, &texts, &count));
  assert_int_equal(count, 2);
  assert_string_equal(texts[0], "ab");
  assert_string_equal(texts[1], "c");
  assert_true(csi_iscsi_read_texts(&scene->ctx, list_w, 5, &texts, &count)); /* without the last NUL */
  assert_int_equal(count, 2);
  assert_true(csi_iscsi_read_texts(&scene->ctx, list_w, 0, &texts, &count));
  assert_int_equal(count, 0);
  assert_true(csi_iscsi_read_texts(&scene->ctx, list_w + 5, 1, &texts, &count));
  assert_int_equal(count, 0);
  assert_malformed(scene, csi_iscsi_read_texts(&scene->ctx, list_w, 2, &texts, &count));
  assert_malformed(scene, csi_iscsi_read_texts(&scene->ctx, list_w, 4, &texts, &count));
}

static void test_too_many_texts(void **state) {
  struct scene *scene = *state;
  const char **texts;
  size_t count, units = 2 * 4097;
  uint16_t *list_w = calloc(units, sizeof *list_w);
  assert_non_null(list_w);
  for (size_t i = 0; i < units; i += 2)
    list_w[i] = 'a';
  assert_malformed(scene, csi_iscsi_read_texts(&scene->ctx, list_w, units, &texts, &count));
  assert_true(csi_iscsi_read_texts(&scene->ctx, list_w, units - 2, &texts, &count));
  assert_int_equal(count, 4096);
  free(list_w);
}

static void test_mechanisms(void **state) {
  static const struct {
    const char *mechanism;
    bool matches; /* 192.0.2.1:3260 */
  } rows[] = {
      {"SendTargets:*192.0.2.1 0003260 Root\\ISCSIPRT\\0000_0 ", true},
      {"SendTargets:*192.0.2.1 0003260 Root\\ISCSIPRT\\0000_0", true},
      {"SendTargets:*192.0.2.1 0003260", true},
      {"sendtargets: 192.0.2.1  3260 ", true},
      {"SendTargets:192.0.2.1 3260", true},
      {"SendTargets:*192.0.2.1 0003261 Root\\ISCSIPRT\\0000_0 ", false},
      {"SendTargets:*192.0.2.10 0003260 Root\\ISCSIPRT\\0000_0 ", false},
      {"SendTargets:*192.0.2.1 0068796 ", false}, /* 3260 in 16 bits */
      {"SendTargets:*192.0.2.1 99999999999999999999 ", false},
      {"SendTargets:*192.0.2.1 3260x ", false},
      {"SendTargets:*192.0.2.1", false},
      {"SendTargets:*192.0.2.1 ", false},
      {"SendTargets:* 3260", false},
      {"SendTargets:", false},
      {"SendTargets", false},
      {"iSNS:192.0.2.1 0003260", false},
      {"Static:192.0.2.1 0003260", false},
      {"", false},
  };
  (void)state;
  const struct csi_iscsi_portal portal = {.address = "192.0.2.1", .port = 3260};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    if (csi_iscsi_mechanism_is_portal(rows[i].mechanism, &portal) != rows[i].matches)
      fail_msg("%s", rows[i].mechanism);
  const struct csi_iscsi_portal six = {.address = "fd00::1", .port = 3260};
  assert_true(csi_iscsi_mechanism_is_portal("SendTargets:*FD00:0::1 0003260 Root\\ISCSIPRT\\0000_0 ", &six));
  assert_true(csi_iscsi_mechanism_is_portal("SendTargets:*[fd00::1] 0003260 Root\\ISCSIPRT\\0000_0 ", &six));
}

/* ---- Memory. ---- */

static void test_memory_is_short(void **state) {
  struct scene *scene = *state;
  const struct csi_iscsi_session *sessions;
  size_t count;
  add_sessions(scene, 2);
  for (unsigned nth = 1;; nth++) {
    csi_arena_fail_after(nth);
    bool result = read_sessions(scene, scene->size, 2, &sessions, &count);
    bool struck = csi_arena_fail_after(0) == 0;
    assert_int_equal(result, !struck);
    if (!struck) break;
    assert_int_equal(scene->ctx.status.code, CSI_RESOURCE_EXHAUSTED);
    csi_status_clear(&scene->ctx.status);
  }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_sessions),
      TEST(test_names_of_sessions),
      TEST(test_sessions_that_lie),
      TEST(test_text_without_end),
      TEST(test_text_too_long),
      TEST(test_portals),
      TEST(test_portal_without_end),
      TEST(test_error_spaces),
      TEST(test_persistent_logins),
      TEST(test_disks),
      TEST(test_texts),
      TEST(test_too_many_texts),
      TEST(test_mechanisms),
      TEST(test_memory_is_short),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
