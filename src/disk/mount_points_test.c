/* SPDX-License-Identifier: Apache-2.0
 *
 * Replies of the mount manager: the name of a volume among others, and replies that lie.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/little_endian.h"
#include "base/text.h"
#include "disk/mount_points.h"

#define DEVICE "\\Device\\HarddiskVolume3"
#define GUID_TEXT "0123abcd-4567-89ef-0123-456789abcdef"
#define NAME "\\??\\Volume{" GUID_TEXT "}"

enum {
  ROOM = 2048,
  HEADER = 8,
  POINT = 24,
};

struct reply {
  uint8_t bytes[ROOM];
  size_t points; /* room for so many */
  size_t count;
  size_t size;
};

static struct reply new_reply(size_t points) {
  return (struct reply){.points = points, .size = HEADER + points * POINT};
}

static void put_name(struct reply *reply, uint8_t *fields, const char *name) {
  csi_put_u32(fields, (uint32_t)reply->size);
  csi_put_u16(fields + 4, (uint16_t)(2 * strlen(name)));
  for (; *name != '\0'; name++, reply->size += 2)
    csi_put_u16(reply->bytes + reply->size, (uint8_t)*name);
}

static void add(struct reply *reply, const char *link, const char *device) {
  uint8_t *point = reply->bytes + HEADER + reply->count++ * POINT;
  put_name(reply, point, link);
  put_name(reply, point + 16, device);
  csi_put_u32(reply->bytes, (uint32_t)reply->size);
  csi_put_u32(reply->bytes + 4, (uint32_t)reply->count);
}

static bool find_in(const struct reply *reply, size_t size, struct csi_guid *guid_out) {
  uint16_t device_w[64];
  size_t units = strlen(DEVICE);
  for (size_t i = 0; i < units; i++)
    device_w[i] = (uint8_t)DEVICE[i];
  uint8_t *bytes = malloc(size > 0 ? size : 1);
  assert_non_null(bytes);
  memcpy(bytes, reply->bytes, size);
  bool found = csi_mount_points_find_volume(bytes, size, device_w, units, guid_out);
  free(bytes);
  return found;
}

static void assert_found(const struct reply *reply) {
  struct csi_guid guid;
  char text[CSI_GUID_TEXT_BYTES];
  assert_true(find_in(reply, reply->size, &guid));
  csi_guid_format(&guid, text);
  assert_string_equal(text, GUID_TEXT);
}

static void assert_not_found(const struct reply *reply) {
  struct csi_guid guid;
  assert_false(find_in(reply, reply->size, &guid));
}

static void test_found(void **state) {
  (void)state;
  struct reply reply = new_reply(4);
  add(&reply, "\\DosDevices\\D:", DEVICE);
  assert_not_found(&reply);
  add(&reply, "\\??\\Volume{ffffffff-0000-0000-0000-000000000000}", "\\Device\\HarddiskVolume33");
  assert_not_found(&reply);
  add(&reply, NAME, "\\device\\harddiskvolume3");
  assert_found(&reply);
  add(&reply, "\\??\\Volume{ffffffff-0000-0000-0000-000000000000}", DEVICE);
  assert_found(&reply);
}

static void test_other_names(void **state) {
  (void)state;
  static const char *const names[] = {
      "",
      "\\??\\Volume{" GUID_TEXT,
      "\\??\\Volume{" GUID_TEXT "}\\",
      "\\??\\Volume{" GUID_TEXT ")",
      "\\\\?\\" NAME,
      "\\??\\Volume{0123abcd-4567-89ef-0123-456789abcdeg}",
      "#{" GUID_TEXT "}",
  };
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    struct reply reply = new_reply(1);
    add(&reply, names[i], DEVICE);
    assert_not_found(&reply);
  }
  struct reply reply = new_reply(1); /* characters beyond a byte are not cut to one */
  add(&reply, NAME, DEVICE);
  reply.bytes[csi_get_u32(reply.bytes + HEADER) + 2 * 12 + 1] = 1;
  assert_not_found(&reply);
}

static void test_lies(void **state) {
  (void)state;
  struct reply reply = new_reply(1);
  add(&reply, NAME, DEVICE);
  struct csi_guid guid;
  for (size_t size = 0; size < reply.size; size++)
    assert_false(find_in(&reply, size, &guid));
  static const struct {
    size_t at;
    uint32_t value;
  } lies[] = {
      {4, 0},
      {4, UINT32_MAX},
      {HEADER, UINT32_MAX},
      {HEADER, 1 << 20},
      {HEADER + 16, ROOM},
      {HEADER + 4, UINT16_MAX},
      {HEADER + 4, 2 * 48 + 1},
      {HEADER + 20, UINT16_MAX},
  };
  for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
    struct reply lying = reply;
    csi_put_u32(lying.bytes + lies[i].at, lies[i].value);
    assert_not_found(&lying);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_found),
      cmocka_unit_test(test_other_names),
      cmocka_unit_test(test_lies),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
