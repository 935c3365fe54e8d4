/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "smb/remote_path.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum {
  ARENA_BYTES = 1 << 17,
  PATH_BYTES = 2048,
};

struct fixture {
  struct csi_ctx ctx;
  struct csi_remote_path path;
};

static int set_up(void **state) {
  static struct fixture fixture;
  fixture = (struct fixture){.ctx = {.arena = csi_arena_new(ARENA_BYTES), .deadline_ns = CSI_NO_DEADLINE}};
  *state = &fixture;
  return fixture.ctx.arena == NULL;
}

static int tear_down(void **state) {
  struct fixture *f = *state;
  csi_arena_free(f->ctx.arena);
  return 0;
}

static bool parse(struct fixture *f, const char *text) {
  csi_status_clear(&f->ctx.status);
  bool result = csi_remote_path_parse(&f->ctx, text, &f->path);
  assert_int_equal(result, csi_status_ok(&f->ctx.status));
  return result;
}

static void assert_path(struct fixture *f, const char *text, const char *root, const char *target) {
  if (!parse(f, text)) fail_msg("%s", f->ctx.status.text);
  assert_string_equal(f->path.root, root);
  assert_string_equal(f->path.target, target);
}

static void assert_refused(struct fixture *f, const char *text, const char *reason) {
  if (parse(f, text)) fail_msg("%s is taken for %s", text, f->path.root);
  assert_int_equal(f->ctx.status.code, CSI_INVALID_ARGUMENT);
  if (strstr(f->ctx.status.text, reason) == NULL) fail_msg("%s: %s", text, f->ctx.status.text);
}

static void test_spellings(void **state) {
  struct fixture *f = *state;
  assert_path(f, "\\\\hostname\\path", "\\\\hostname\\path", "\\\\hostname\\path\\");
  assert_path(f, "\\\\hostname\\path\\", "\\\\hostname\\path", "\\\\hostname\\path\\");
  assert_path(f, "\\\\hostname\\path\\subpath", "\\\\hostname\\path", "\\\\hostname\\path\\subpath\\");
  assert_path(f, "//Host/Share/Sub Dir/", "\\\\host\\share", "\\\\Host\\Share\\Sub Dir\\");
  assert_path(f, "h\\s", "\\\\h\\s", "\\\\h\\s\\");
  assert_path(f, "/h\\\\s//x\\\\", "\\\\h\\s", "\\\\h\\s\\x\\");
  assert_path(f, "\\\\\\\\h\\s", "\\\\h\\s", "\\\\h\\s\\");
  assert_path(f, "\\\\h\\My Share.v1$", "\\\\h\\my share.v1$", "\\\\h\\My Share.v1$\\");
  assert_string_equal(f->path.given, "\\\\h\\My Share.v1$");
}

static void test_hosts(void **state) {
  struct fixture *f = *state;
  static const char *const good[] = {"h",
                                     "server-1",
                                     "SRV_2",
                                     "a.b.c",
                                     "account.file.core.windows.net",
                                     "fqdn.example.com.",
                                     "10.0.0.4",
                                     "0x",
                                     "4you",
                                     "1a.2b",
                                     "xn--bcher-kva.example",
                                     "fe80--1.ipv6-literal.net",
                                     "--1.ipv6-literal.net",
                                     "2001-db8-0-0-1-2-3-4.ipv6-literal.net",
                                     "fe80--1s4.ipv6-literal.net",
                                     "FE80--ABCD.IPv6-Literal.Net"};
  char text[PATH_BYTES];
  for (size_t i = 0; i < COUNT(good); i++) {
    snprintf(text, sizeof text, "\\\\%s\\s", good[i]);
    if (!parse(f, text)) fail_msg("%s", f->ctx.status.text);
  }
  assert_path(f, "\\\\B\u00dcCHER\\\u00c4\u0416\u03a9", "\\\\b\u00fccher\\\u00e4\u0436\u03c9",
              "\\\\B\u00dcCHER\\\u00c4\u0416\u03a9\\");
}

static void test_bad_hosts(void **state) {
  struct fixture *f = *state;
  static const struct {
    const char *host, *reason;
  } bad[] = {
      {"?", "verbatim"},
      {".", "verbatim"},
      {"??", "verbatim"},
      {"..", "empty part"},
      {"a..b", "empty part"},
      {".a", "empty part"},
      {"C:", "local path"},
      {"host:445", "colon"},
      {"fe80::1", "colon"},
      {"[fe80::1]", "colon"},
      {"host@SSL", "WebDAV"},
      {"host@8080", "WebDAV"},
      {"a b", "character"},
      {"a*", "character"},
      {"a%b", "character"},
      {"a\"b", "character"},
      {"a\x01", "character"},
      {"a\x7f", "character"},
      {"1.2.3", "IPv4"},
      {"1.2.3.256", "IPv4"},
      {"1.2.3.4.5", "IPv4"},
      {"127.1", "IPv4"},
      {"1.2.3.4.", "IPv4"},
      {"0001.2.3.4", "IPv4"},
      {"x.ipv6-literal.net", "IPv6"},
      {"1--2--3.ipv6-literal.net", "IPv6"},
      {"12345--1.ipv6-literal.net", "IPv6"},
      {"1-2-3.ipv6-literal.net", "IPv6"},
      {"-1-2-3-4-5-6-7-8.ipv6-literal.net", "IPv6"},
      {"1-2-3-4-5-6-7-8-.ipv6-literal.net", "IPv6"},
      {"1-2-3-4-5-6-7-8--.ipv6-literal.net", "IPv6"},
      {"---.ipv6-literal.net", "IPv6"},
      {"fe80--1s.ipv6-literal.net", "IPv6"},
      {"fe80--1sx.ipv6-literal.net", "IPv6"},
  };
  char text[PATH_BYTES];
  for (size_t i = 0; i < COUNT(bad); i++) {
    snprintf(text, sizeof text, "\\\\%s\\share", bad[i].host);
    assert_refused(f, text, bad[i].reason);
  }
}

static void test_bad_paths(void **state) {
  struct fixture *f = *state;
  static const struct {
    const char *path, *reason;
  } bad[] = {
      {"", "remote path is empty"},
      {"\\", "remote path (\\) is invalid"},
      {"//", "remote path (\\\\) is invalid"},
      {"hostname", "remote path (hostname) is invalid"},
      {"\\\\hostname\\", "names no share"},
      {"C:\\x\\y", "local path"},
      {"\\\\?\\UNC\\h\\s", "verbatim"},
      {"\\\\.\\pipe\\x", "verbatim"},
      {"\\??\\UNC\\h\\s", "verbatim"},
      {"\\\\h\\..", "ends in a dot"},
      {"\\\\h\\.\\s", "ends in a dot"},
      {"\\\\h\\s\\..\\t", "ends in a dot"},
      {"\\\\h\\s\\.", "ends in a dot"},
      {"\\\\h\\s\\a.", "ends in a dot"},
      {"\\\\h\\s ", "ends in a blank"},
      {"\\\\h\\s:stream", "no name may hold"},
      {"\\\\h\\s\\file:stream", "no name may hold"},
      {"\\\\h\\s\\a*", "no name may hold"},
      {"\\\\h\\s\\a\nb", "control character"},
      {"\\\\h\\s\\NUL", "name of a device"},
      {"\\\\h\\COM1", "name of a device"},
      {"\\\\h\\a+b", "no share may have"},
      {"\\\\h\\a;b", "no share may have"},
      {"\\\\h\\[a]", "no share may have"},
      {"\\\\h\\IPC$", "not a share of files"},
      {"\\\\h\\ipc$\\x", "not a share of files"},
      {"\\\\h\\pipe\\spoolss", "not a share of files"},
      {"\\\\h\\MailSlot\\x", "not a share of files"},
      {"\\\\h\\s\xff", "not UTF-8"},
  };
  for (size_t i = 0; i < COUNT(bad); i++)
    assert_refused(f, bad[i].path, bad[i].reason);
}

/* `before`, count times `unit`, `after`. */
static const char *repeated(const char *before, const char *unit, size_t count, const char *after) {
  static char texts[2][PATH_BYTES]; /* in turns: what it is given may be its own */
  static int turn;
  char *text = texts[turn ^= 1];
  size_t at = (size_t)snprintf(text, PATH_BYTES, "%s", before);
  for (; count > 0; count--)
    at += (size_t)snprintf(text + at, PATH_BYTES - at, "%s", unit);
  snprintf(text + at, PATH_BYTES - at, "%s", after);
  return text;
}

static void test_lengths(void **state) {
  struct fixture *f = *state;
  assert_true(parse(f, repeated("\\\\", "a", 63, "\\s")));
  assert_refused(f, repeated("\\\\", "a", 64, "\\s"), "a part of the host is too long");
  assert_true(parse(f, repeated("\\\\a", ".a", 127, "\\s")));
  assert_refused(f, repeated("\\\\aa", ".a", 127, "\\s"), "the host is too long");
  assert_true(parse(f, repeated("\\\\h\\", "s", 80, "")));
  assert_refused(f, repeated("\\\\h\\", "s", 81, ""), "the share is too long");
  assert_true(parse(f, repeated("\\\\h\\", "\u4e2d", 80, "")));
  assert_refused(f, repeated("\\\\h\\", "\u4e2d", 81, ""), "the share is too long");
  assert_true(parse(f, repeated("\\\\h\\", "\U0001F4BE", 40, "")));
  assert_refused(f, repeated("\\\\h\\", "\U0001F4BE", 41, ""), "the share is too long");
  assert_refused(f, repeated(repeated("\\\\a", ".a", 60, "\\"), "\u4e2d", 80, ""),
                 "host and share are too long");
  assert_true(parse(f, repeated("\\\\h\\s\\", "d", 255, "\\x")));
  assert_refused(f, repeated("\\\\h\\s\\", "d", 256, "\\x"), "too long a name");
}

static void test_administrative_shares(void **state) {
  struct fixture *f = *state;
  static const char *const administrative[] = {"h\\C$",     "h\\z$\\x", "h\\ADMIN$",
                                               "h\\print$", "h\\data$", "h\\C$$"};
  static const char *const others[] = {"h\\c", "h\\$c", "h\\c\\d$"};
  for (size_t i = 0; i < COUNT(administrative); i++)
    assert_true(parse(f, administrative[i]) && f->path.is_administrative);
  for (size_t i = 0; i < COUNT(others); i++)
    assert_true(parse(f, others[i]) && !f->path.is_administrative);
}

static void test_memory_is_short(void **state) {
  struct fixture *f = *state;
  for (unsigned nth = 1;; nth++) {
    csi_arena_fail_after(nth);
    bool result = parse(f, "//Host/share/x");
    bool struck = csi_arena_fail_after(0) == 0;
    if (!result) assert_int_equal(f->ctx.status.code, CSI_RESOURCE_EXHAUSTED);
    assert_int_equal(result, !struck);
    if (!struck) break;
  }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

static void test_this_node(void **state) {
  struct fixture *f = *state;
  static const char *const loopback[] = {"localhost\\s",
                                         "LocalHost.\\s",
                                         "a.localhost\\s",
                                         "127.0.0.1\\s",
                                         "127.1.2.3\\s",
                                         "0.0.0.0\\s",
                                         "--1.ipv6-literal.net\\s",
                                         "0-0-0-0-0-0-0-1.ipv6-literal.net\\s",
                                         "0--1s4.IPv6-literal.NET\\s"};
  static const char *const others[] = {
      "mylocalhost\\s",           "localhost.example\\s",        "128.0.0.1\\s", "--2.ipv6-literal.net\\s",
      "--12.ipv6-literal.net\\s", "fe80--1.ipv6-literal.net\\s", "h\\localhost"};
  for (size_t i = 0; i < sizeof loopback / sizeof *loopback; i++)
    if (!parse(f, loopback[i]) || !f->path.is_loopback) fail_msg("%s is this node", loopback[i]);
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (!parse(f, others[i]) || f->path.is_loopback) fail_msg("%s is not this node", others[i]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_spellings),       TEST(test_hosts),     TEST(test_bad_hosts),
      TEST(test_bad_paths),       TEST(test_lengths),   TEST(test_administrative_shares),
      TEST(test_memory_is_short), TEST(test_this_node),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
