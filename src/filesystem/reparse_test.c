/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "filesystem/reparse.h"

/* UTF-16 of ASCII, two bytes a letter: what FSCTL_GET_REPARSE_POINT returns. */
#define W1(a) a, 0
#define W4(a, b, c, d) a, 0, b, 0, c, 0, d, 0

/* mklink /D x C:\a */
static const uint8_t absolute_symlink[] = {
    0x0C,
    0x00,
    0x00,
    0xA0,
    36,
    0,
    0,
    0, /* tag, length, reserved */
    8,
    0,
    16,
    0,
    0,
    0,
    8,
    0, /* substitute at 8 (16 bytes), print at 0 (8 bytes) */
    0,
    0,
    0,
    0, /* flags */
    W4('C', ':', '\\', 'a'),
    W4('\\', '?', '?', '\\'),
    W4('C', ':', '\\', 'a'),
};

/* mklink x ..\b */
static const uint8_t relative_symlink[] = {
    0x0C,
    0x00,
    0x00,
    0xA0,
    28,
    0,
    0,
    0,
    0,
    0,
    8,
    0,
    8,
    0,
    8,
    0,
    1,
    0,
    0,
    0,
    W4('.', '.', '\\', 'b'),
    W4('.', '.', '\\', 'b'),
};

/* mklink /J x c:\a: names end in NULs that their lengths do not count */
static const uint8_t junction[] = {
    0x03,
    0x00,
    0x00,
    0xA0,
    36,
    0,
    0,
    0,
    0,
    0,
    16,
    0,
    18,
    0,
    8,
    0,
    W4('\\', '?', '?', '\\'),
    W4('c', ':', '\\', 'a'),
    W1(0),
    W4('c', ':', '\\', 'a'),
    W1(0),
};

/* An application execution alias: a tag that is no link, with data of its own. */
static const uint8_t execution_alias[] = {0x1B, 0x00, 0x00, 0x80, 4, 0, 0, 0, 3, 0, 0, 0};
static const uint8_t container_layer[] = {0x18, 0x00, 0x00, 0x80, 0, 0, 0, 0};
static const uint8_t cloud_file[] = {0x1A, 0x30, 0x00, 0x90, 0, 0, 0, 0};

struct fixture {
  struct csi_ctx ctx;
  struct csi_reparse reparse;
};

static int set_up(void **state) {
  static struct fixture fixture;
  fixture = (struct fixture){.ctx = {.arena = csi_arena_new(1 << 20), .deadline_ns = CSI_NO_DEADLINE}};
  *state = &fixture;
  return fixture.ctx.arena == NULL;
}

static int tear_down(void **state) {
  struct fixture *f = *state;
  csi_arena_free(f->ctx.arena);
  return 0;
}

/* Parses a copy of exactly this size, so that the sanitizer sees any read beyond it. */
static bool parse(struct fixture *f, const uint8_t *bytes, size_t size) {
  uint8_t *copy = malloc(size == 0 ? 1 : size);
  assert_non_null(copy);
  if (size > 0) memcpy(copy, bytes, size);
  csi_status_clear(&f->ctx.status);
  bool parsed = csi_reparse_parse(&f->ctx, copy, size, &f->reparse);
  free(copy);
  return parsed;
}

static void assert_link(struct fixture *f, const uint8_t *bytes, size_t size, uint32_t tag,
                        enum csi_link_kind kind, const char *target, const char *print) {
  if (!parse(f, bytes, size)) fail_msg("%s", f->ctx.status.text);
  assert_int_equal(f->reparse.tag, tag);
  assert_int_equal(f->reparse.kind, kind);
  assert_string_equal(f->reparse.target, target);
  assert_string_equal(f->reparse.print, print);
}

static void test_links_as_windows_stores_them(void **state) {
  struct fixture *f = *state;
  assert_link(f, absolute_symlink, sizeof absolute_symlink, CSI_REPARSE_TAG_SYMLINK, CSI_LINK_DRIVE, "C:\\a",
              "C:\\a");
  assert_link(f, relative_symlink, sizeof relative_symlink, CSI_REPARSE_TAG_SYMLINK, CSI_LINK_RELATIVE,
              "..\\b", "..\\b");
  assert_link(f, junction, sizeof junction, CSI_REPARSE_TAG_MOUNT_POINT, CSI_LINK_DRIVE, "c:\\a", "c:\\a");
}

static void test_other_tags_are_no_links(void **state) {
  struct fixture *f = *state;
  const struct {
    const uint8_t *bytes;
    size_t size;
    uint32_t tag;
  } rows[] = {{execution_alias, sizeof execution_alias, 0x8000001B},
              {container_layer, sizeof container_layer, 0x80000018},
              {cloud_file, sizeof cloud_file, 0x9000301A}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    assert_true(parse(f, rows[i].bytes, rows[i].size));
    assert_int_equal(f->reparse.tag, rows[i].tag);
    assert_int_equal(f->reparse.kind, CSI_LINK_NONE);
    assert_null(f->reparse.target);
  }
}

/* Builds a mount point, or an absolute symbolic link, from ASCII. */
static size_t make_link(uint8_t *bytes, uint32_t tag, const char *substitute) {
  size_t units = strlen(substitute);
  bool symlink = tag == CSI_REPARSE_TAG_SYMLINK;
  size_t names_at = symlink ? 20 : 16;
  memset(bytes, 0, names_at);
  memcpy(bytes, &tag, 4);
  bytes[4] = (uint8_t)(names_at - 8 + 2 * units);
  bytes[10] = (uint8_t)(2 * units);
  bytes[12] = (uint8_t)(2 * units);
  for (size_t i = 0; i < units; i++) {
    bytes[names_at + 2 * i] = (uint8_t)substitute[i];
    bytes[names_at + 2 * i + 1] = 0;
  }
  return names_at + 2 * units;
}

#define GUID "{01234567-89ab-CDEF-0123-456789abcdef}"

static void test_kinds_of_targets(void **state) {
  struct fixture *f = *state;
  static const struct {
    const char *substitute;
    enum csi_link_kind kind;
    const char *target;
    bool volume_root;
  } rows[] = {
      {"\\??\\Volume" GUID "\\", CSI_LINK_VOLUME, "\\\\?\\Volume" GUID "\\", true},
      {"\\??\\Volume" GUID, CSI_LINK_VOLUME, "\\\\?\\Volume" GUID, true},
      {"\\??\\volume" GUID "\\Windows", CSI_LINK_VOLUME, "\\\\?\\volume" GUID "\\Windows", false},
      {"\\??\\Volume{not-a-guid}\\", CSI_LINK_OTHER, "\\\\?\\Volume{not-a-guid}\\", false},
      {"\\??\\Volume" GUID "x", CSI_LINK_OTHER, "\\\\?\\Volume" GUID "x", false},
      {"\\??\\UNC\\host\\share\\", CSI_LINK_UNC, "\\\\host\\share\\", false},
      {"\\??\\unc\\host\\share", CSI_LINK_UNC, "\\\\host\\share", false},
      {"\\\\host\\share", CSI_LINK_UNC, "\\\\host\\share", false},
      {"\\??\\GLOBALROOT\\Device\\Mup\\host\\x", CSI_LINK_OTHER, "\\\\?\\GLOBALROOT\\Device\\Mup\\host\\x",
       false},
      {"\\Device\\Mup\\host\\x", CSI_LINK_OTHER, "\\Device\\Mup\\host\\x", false},
      {"\\??\\C:", CSI_LINK_DRIVE, "C:", false},
      {"\\??\\C:x", CSI_LINK_OTHER, "\\\\?\\C:x", false},
      {"\\??\\", CSI_LINK_OTHER, "\\\\?\\", false},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    uint8_t bytes[512];
    for (int tag = 0; tag < 2; tag++) {
      size_t size = make_link(bytes, tag == 0 ? CSI_REPARSE_TAG_MOUNT_POINT : CSI_REPARSE_TAG_SYMLINK,
                              rows[i].substitute);
      if (!parse(f, bytes, size)) fail_msg("%s: %s", rows[i].substitute, f->ctx.status.text);
      assert_int_equal(f->reparse.kind, rows[i].kind);
      assert_string_equal(f->reparse.target, rows[i].target);
      assert_int_equal(csi_reparse_is_volume_root(&f->reparse), rows[i].volume_root);
    }
  }
}

static void assert_malformed(struct fixture *f, const uint8_t *bytes, size_t size) {
  assert_false(parse(f, bytes, size));
  assert_int_equal(f->ctx.status.code, CSI_DATA_LOSS);
  assert_memory_equal(f->ctx.status.text, "malformed reparse point: ", 25);
}

static void test_cut_short_anywhere(void **state) {
  struct fixture *f = *state;
  for (size_t size = 0; size < sizeof absolute_symlink; size++)
    assert_malformed(f, absolute_symlink, size);
  for (size_t size = 0; size < sizeof junction; size++)
    assert_malformed(f, junction, size);
}

/* Changes one 16-bit field of the junction. */
static void assert_malformed_field(struct fixture *f, size_t offset, unsigned value) {
  uint8_t bytes[sizeof junction];
  memcpy(bytes, junction, sizeof bytes);
  bytes[offset] = (uint8_t)value;
  bytes[offset + 1] = (uint8_t)(value >> 8);
  assert_malformed(f, bytes, sizeof bytes);
}

static void test_fields_that_contradict_each_other(void **state) {
  struct fixture *f = *state;
  assert_malformed_field(f, 4, 7);       /* data too short for the fields */
  assert_malformed_field(f, 4, 37);      /* data longer than the buffer */
  assert_malformed_field(f, 4, 30);      /* print name ends beyond the data */
  assert_malformed_field(f, 8, 1);       /* odd offset */
  assert_malformed_field(f, 10, 15);     /* odd length */
  assert_malformed_field(f, 10, 0);      /* no target */
  assert_malformed_field(f, 10, 18);     /* a NUL inside */
  assert_malformed_field(f, 8, 0xFFFE);  /* far beyond */
  assert_malformed_field(f, 10, 0xFFFE); /* far too long */
  assert_malformed_field(f, 12, 30);     /* print name straddles the end */
}

static void test_lone_surrogates_are_shown_not_refused(void **state) {
  struct fixture *f = *state;
  uint8_t bytes[sizeof junction];
  memcpy(bytes, junction, sizeof bytes);
  bytes[16 + 14] = 0x3D; /* the last unit of the substitute name becomes D83D */
  bytes[16 + 15] = 0xD8;
  assert_true(parse(f, bytes, sizeof bytes));
  assert_string_equal(f->reparse.target, "c:\\\uFFFD");
}

static void assert_round_trip(struct fixture *f, const char *target, enum csi_link_kind kind) {
  uint8_t bytes[CSI_REPARSE_BYTES_MAX];
  size_t size = 0;
  csi_status_clear(&f->ctx.status);
  assert_true(csi_reparse_build_symlink(&f->ctx, target, bytes, &size));
  assert_link(f, bytes, size, CSI_REPARSE_TAG_SYMLINK, kind, target, target);
}

static void test_built_links_read_back(void **state) {
  struct fixture *f = *state;
  assert_round_trip(f, "C:\\var\\lib\\kubelet\\plugins\\x\\globalmount", CSI_LINK_DRIVE);
  assert_round_trip(f, "c:\\\u00e4\u4e2d\U0001F4BE", CSI_LINK_DRIVE);
  assert_round_trip(f, "\\\\host\\share\\sub dir\\\u00e4\\", CSI_LINK_UNC);
  char longest[4500] = "C:\\";
  memset(longest + 3, 'a', 4084);
  assert_round_trip(f, longest, CSI_LINK_DRIVE);
  memcpy(longest, "\\\\h", 3);
  assert_round_trip(f, longest, CSI_LINK_UNC);
  longest[4087] = 'a';
  uint8_t bytes[CSI_REPARSE_BYTES_MAX];
  size_t size;
  assert_false(csi_reparse_build_symlink(&f->ctx, longest, bytes, &size));
  assert_int_equal(f->ctx.status.code, CSI_INVALID_ARGUMENT);
}

static void test_built_bytes_are_what_windows_expects(void **state) {
  struct fixture *f = *state;
  static const uint8_t expected[] = {
      0x0C,
      0x00,
      0x00,
      0xA0,
      36,
      0,
      0,
      0,
      0,
      0,
      16,
      0,
      16,
      0,
      8,
      0,
      0,
      0,
      0,
      0,
      W4('\\', '?', '?', '\\'),
      W4('C', ':', '\\', 'a'),
      W4('C', ':', '\\', 'a'),
  };
  uint8_t bytes[CSI_REPARSE_BYTES_MAX];
  size_t size = 0;
  assert_true(csi_reparse_build_symlink(&f->ctx, "C:\\a", bytes, &size));
  assert_int_equal(size, sizeof expected);
  assert_memory_equal(bytes, expected, sizeof expected);
}

/* `\??\UNC\h\s\`, and for people `\\h\s\`. */
static void test_built_link_to_a_share(void **state) {
  struct fixture *f = *state;
  static const uint8_t header[] = {0x0C, 0, 0, 0xA0, 48, 0, 0, 0, 0, 0, 24, 0, 24, 0, 12, 0, 0, 0, 0, 0};
  static const uint8_t names[] = {W4('\\', '?', '?', '\\'),
                                  W4('U', 'N', 'C', '\\'),
                                  W4('h', '\\', 's', '\\'),
                                  W4('\\', '\\', 'h', '\\'),
                                  W1('s'),
                                  W1('\\')};
  uint8_t bytes[CSI_REPARSE_BYTES_MAX];
  size_t size = 0;
  assert_true(csi_reparse_build_symlink(&f->ctx, "\\\\h\\s\\", bytes, &size));
  assert_int_equal(size, sizeof header + sizeof names);
  assert_memory_equal(bytes, header, sizeof header);
  assert_memory_equal(bytes + sizeof header, names, sizeof names);
}

/* The layout that Windows insists on: the name, a NUL, no second name, another NUL. */
static void test_built_mounted_folder(void **state) {
  struct fixture *f = *state;
  static const char volume[] = "\\\\?\\Volume{01234567-89ab-cdef-0123-456789abcdef}\\";
  enum { NAME_BYTES = 2 * (sizeof volume - 1) };
  uint8_t bytes[CSI_REPARSE_BYTES_MAX];
  size_t size = 0;
  memset(bytes, 0xAA, sizeof bytes);
  assert_true(csi_reparse_build_mounted_folder(&f->ctx, volume, bytes, &size));
  assert_link(f, bytes, size, CSI_REPARSE_TAG_MOUNT_POINT, CSI_LINK_VOLUME, volume, "");
  assert_true(csi_reparse_is_volume_root(&f->reparse));
  static const uint8_t header[] = {
      0x03,           0x00, 0x00, 0xA0, NAME_BYTES + 12,         0, 0, 0, 0, 0, NAME_BYTES, 0,
      NAME_BYTES + 2, 0,    0,    0,    W4('\\', '?', '?', '\\')};
  assert_int_equal(size, 16 + NAME_BYTES + 4);
  assert_memory_equal(bytes, header, sizeof header);
  static const uint8_t nuls[4];
  assert_memory_equal(bytes + size - sizeof nuls, nuls, sizeof nuls);
  assert_false(csi_reparse_build_mounted_folder(&f->ctx, "C:", bytes, &size));
}

static void test_every_allocation_may_fail(void **state) {
  struct fixture *f = *state;
  unsigned nth = 1;
  for (bool done = false; !done; nth++) {
    csi_status_clear(&f->ctx.status);
    csi_arena_fail_after(nth);
    bool parsed = csi_reparse_parse(&f->ctx, junction, sizeof junction, &f->reparse);
    done = csi_arena_fail_after(0) != 0;
    assert_int_equal(parsed, done);
    if (!done) assert_int_equal(f->ctx.status.code, CSI_RESOURCE_EXHAUSTED);
  }
  assert_true(nth > 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_links_as_windows_stores_them, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_other_tags_are_no_links, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_kinds_of_targets, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_cut_short_anywhere, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_fields_that_contradict_each_other, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_lone_surrogates_are_shown_not_refused, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_built_links_read_back, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_built_bytes_are_what_windows_expects, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_built_link_to_a_share, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_built_mounted_folder, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_every_allocation_may_fail, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
