/* SPDX-License-Identifier: Apache-2.0
 *
 * Lists of services as Windows hands them over, and lists that lie.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/little_endian.h"
#include "system/service_list.h"

#define ADDRESS UINT64_C(0x7FF612340000)

enum {
  ROOM = 4096,
};

struct list {
  uint8_t bytes[ROOM];
  size_t count, size;
};

static void add_name(struct list *list, const char *name) {
  for (;; name++, list->size += 2) {
    csi_put_u16(list->bytes + list->size, (uint8_t)*name);
    if (*name == '\0') break;
  }
  list->size += 2;
}

/* Room for `entries`, as many names, and display names besides. */
static struct list make(size_t entries, const char *const *names) {
  struct list list = {.count = entries, .size = entries * CSI_SERVICE_ENTRY_BYTES};
  for (size_t i = 0; i < entries; i++) {
    uint8_t *entry = list.bytes + i * CSI_SERVICE_ENTRY_BYTES;
    csi_put_u64(entry + 8, ADDRESS + list.size);
    add_name(&list, "A name for people");
    csi_put_u64(entry, ADDRESS + list.size);
    add_name(&list, names[i]);
  }
  return list;
}

/* Parses an exact copy, so that a sanitizer sees what is read behind it. */
static bool parse(struct csi_arena *arena, const struct list *list, size_t size, const char ***names_out) {
  uint8_t *copy = malloc(size > 0 ? size : 1);
  assert_non_null(copy);
  memcpy(copy, list->bytes, size);
  struct csi_status status = {.code = CSI_OK};
  const struct csi_bytes bytes = {.data = copy, .size_bytes = size};
  bool parsed = csi_service_list_parse(arena, &bytes, ADDRESS, list->count, names_out, &status);
  assert_int_equal(parsed, csi_status_ok(&status));
  if (!parsed) assert_int_equal(status.code, CSI_DATA_LOSS);
  free(copy);
  return parsed;
}

static void assert_malformed(const struct list *list, size_t size) {
  struct csi_arena *arena = csi_arena_new(1 << 20);
  const char **names;
  assert_false(parse(arena, list, size, &names));
  csi_arena_free(arena);
}

static const char *const two[] = {"MSiSCSI", "kubelet"};

static void test_names(void **state) {
  (void)state;
  struct csi_arena *arena = csi_arena_new(1 << 20);
  const char **names;
  struct list list = make(2, two);
  assert_true(parse(arena, &list, list.size, &names));
  assert_string_equal(names[0], "MSiSCSI");
  assert_string_equal(names[1], "kubelet");
  list.count = 0;
  assert_true(parse(arena, &list, list.size, &names));
  assert_true(parse(arena, &list, 0, &names));
  csi_arena_free(arena);
}

static void test_cut(void **state) {
  (void)state;
  struct list list = make(2, two);
  for (size_t size = 0; size < list.size; size++)
    assert_malformed(&list, size);
}

static void test_lies(void **state) {
  (void)state;
  static const uint64_t pointers[] = {0, ADDRESS - 1, ADDRESS + ROOM, UINT64_MAX};
  for (size_t i = 0; i < sizeof pointers / sizeof pointers[0]; i++) {
    struct list list = make(2, two);
    csi_put_u64(list.bytes + CSI_SERVICE_ENTRY_BYTES, pointers[i]);
    assert_malformed(&list, list.size);
  }
  struct list list = make(2, two);
  list.count = SIZE_MAX;
  assert_malformed(&list, list.size);
  list.count = 3; /* the third entry is made of letters */
  assert_malformed(&list, list.size);
}

static void test_no_names(void **state) {
  (void)state;
  char name[258];
  memset(name, 'n', sizeof name);
  name[257] = '\0';
  const char *const names[] = {name};
  struct list list = make(1, names);
  assert_malformed(&list, list.size);
  name[256] = '\0';
  list = make(1, names);
  struct csi_arena *arena = csi_arena_new(1 << 20);
  const char **parsed;
  assert_true(parse(arena, &list, list.size, &parsed));
  csi_arena_free(arena);
  const char *const empty[] = {""};
  list = make(1, empty);
  assert_malformed(&list, list.size);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_names),
      cmocka_unit_test(test_cut),
      cmocka_unit_test(test_lies),
      cmocka_unit_test(test_no_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
