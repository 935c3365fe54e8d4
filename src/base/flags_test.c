/* SPDX-License-Identifier: Apache-2.0
 *
 * The expectations are what programs built with Go's flag package print and do.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/flags.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *path;
static bool privacy, service;
static int64_t number, level, wait_ns;
static uint64_t size;
static struct csi_flag_list directories;
static int mode;

static bool set_mode(void *value, const char *text, char *reason, size_t reason_bytes) {
  if (strcmp(text, "fast") == 0 || strcmp(text, "slow") == 0) {
    *(int *)value = text[0];
    return true;
  }
  (void)snprintf(reason, reason_bytes, "neither fast nor slow");
  return false;
}

static const struct csi_flag first_flags[] = {
    {.name = "path",
     .type = CSI_FLAG_STRING,
     .value = &path,
     .default_text = "C:\\x",
     .usage = "A `directory`."},
    {.name = "privacy",
     .type = CSI_FLAG_BOOL,
     .value = &privacy,
     .default_text = "true",
     .usage = "Encrypt."},
    {.name = "service", .type = CSI_FLAG_BOOL, .value = &service, .usage = "Serve."},
    {.name = "n", .type = CSI_FLAG_INT, .value = &number, .usage = "Any number."},
};
static const struct csi_flag second_flags[] = {
    {.name = "level",
     .type = CSI_FLAG_INT,
     .value = &level,
     .default_text = "3",
     .usage = "Few.",
     .minimum = -5,
     .maximum = 5},
    {.name = "size", .type = CSI_FLAG_UINT, .value = &size, .default_text = "0", .usage = "Two\nlines."},
    {.name = "wait",
     .type = CSI_FLAG_DURATION,
     .value = &wait_ns,
     .default_text = "1s",
     .usage = "Patience."},
    {.name = "dir", .type = CSI_FLAG_STRING_LIST, .value = &directories, .usage = "Repeatable."},
    {.name = "mode",
     .type = CSI_FLAG_CUSTOM,
     .value = &mode,
     .set = set_mode,
     .default_text = "slow",
     .usage = "How."},
    {.name = "b", .type = CSI_FLAG_BOOL, .value = &(bool){false}, .usage = "Short."},
};
static const struct csi_flag_table tables[] = {{first_flags, COUNT(first_flags)},
                                               {second_flags, COUNT(second_flags)}};

enum {
  MAX_ARGUMENTS = 100,
};

static struct csi_status status;
static int rest;

static enum csi_flags_result parse(const char *const *arguments, size_t count) {
  char *argv[MAX_ARGUMENTS + 1] = {(char *)"program"};
  for (size_t i = 0; i < count; i++)
    argv[i + 1] = (char *)arguments[i];
  csi_status_clear(&status);
  rest = -1;
  return csi_flags_parse(tables, COUNT(tables), (int)count + 1, argv, &rest, &status);
}

#define PARSE(...) parse((const char *const[]){__VA_ARGS__}, COUNT(((const char *const[]){__VA_ARGS__})))

#define ASSERT_REFUSED(expected_text, ...)                                                                   \
  do {                                                                                                       \
    assert_int_equal(PARSE(__VA_ARGS__), CSI_FLAGS_ERROR);                                                   \
    assert_int_equal(status.code, CSI_INVALID_ARGUMENT);                                                     \
    assert_string_equal(status.text, expected_text);                                                         \
  } while (0)

static void test_defaults(void **unused) {
  (void)unused;
  assert_int_equal(PARSE("-path=y", "-privacy=false", "-service", "-n=1", "-level=1", "-size=1", "-wait=2s",
                         "-dir=a", "-mode=fast"),
                   CSI_FLAGS_OK);
  assert_int_equal(parse(NULL, 0), CSI_FLAGS_OK);
  assert_string_equal(path, "C:\\x");
  assert_true(privacy);
  assert_false(service);
  assert_int_equal(number, 0);
  assert_int_equal(level, 3);
  assert_int_equal(size, 0);
  assert_int_equal(wait_ns, 1000000000);
  assert_int_equal(directories.count, 0);
  assert_int_equal(mode, 's');
  assert_int_equal(rest, 1);
}

static void test_spellings(void **unused) {
  (void)unused;
  assert_int_equal(PARSE("-path", "a", "--n", "5", "--level=-2", "-mode", "fast"), CSI_FLAGS_OK);
  assert_string_equal(path, "a");
  assert_int_equal(number, 5);
  assert_int_equal(level, -2);
  assert_int_equal(mode, 'f');
  assert_int_equal(PARSE("-path=a=b", "-path="), CSI_FLAGS_OK);
  assert_string_equal(path, "");
  /* The value may look like a flag. */
  assert_int_equal(PARSE("-path", "-n", "-n", "-7"), CSI_FLAGS_OK);
  assert_string_equal(path, "-n");
  assert_int_equal(number, -7);
  assert_int_equal(PARSE("-path", "--"), CSI_FLAGS_OK);
  assert_string_equal(path, "--");
}

static void test_installed_service_command_line(void **unused) {
  (void)unused;
  assert_int_equal(PARSE("-service", "-path=C:\\var\\lib", "-privacy=false", "-dir=D:\\a", "-dir", "E:\\b"),
                   CSI_FLAGS_OK);
  assert_true(service);
  assert_false(privacy);
  assert_int_equal(directories.count, 2);
  assert_string_equal(directories.items[0], "D:\\a");
  assert_string_equal(directories.items[1], "E:\\b");
}

static void test_booleans_take_values_behind_an_equals_sign_only(void **unused) {
  (void)unused;
  static const char *const yes[] = {"1", "t", "T", "true", "TRUE", "True"};
  static const char *const no[] = {"0", "f", "F", "false", "FALSE", "False"};
  for (size_t i = 0; i < COUNT(yes); i++) {
    char argument[32];
    (void)snprintf(argument, sizeof argument, "-service=%s", yes[i]);
    assert_int_equal(PARSE(argument), CSI_FLAGS_OK);
    assert_true(service);
    (void)snprintf(argument, sizeof argument, "--privacy=%s", no[i]);
    assert_int_equal(PARSE(argument), CSI_FLAGS_OK);
    assert_false(privacy);
  }
  assert_int_equal(PARSE("-privacy", "false", "-n=3"), CSI_FLAGS_OK);
  assert_true(privacy);
  assert_int_equal(rest, 2);
  assert_int_equal(number, 0);
  ASSERT_REFUSED("invalid boolean value \"yes\" for -service: parse error", "-service=yes");
  ASSERT_REFUSED("invalid boolean value \"\" for -service: parse error", "-service=");
  ASSERT_REFUSED("invalid boolean value \"tRUE\" for -service: parse error", "-service=tRUE");
}

static void test_end_of_flags(void **unused) {
  (void)unused;
  assert_int_equal(PARSE("-n=1", "--", "-n=2"), CSI_FLAGS_OK);
  assert_int_equal(number, 1);
  assert_int_equal(rest, 3);
  assert_int_equal(PARSE("-n=1", "word", "-n=2"), CSI_FLAGS_OK);
  assert_int_equal(rest, 2);
  assert_int_equal(PARSE("-"), CSI_FLAGS_OK);
  assert_int_equal(rest, 1);
  assert_int_equal(PARSE("", "-n=2"), CSI_FLAGS_OK);
  assert_int_equal(rest, 1);
}

static void test_errors_read_as_in_go(void **unused) {
  (void)unused;
  ASSERT_REFUSED("flag provided but not defined: -foo", "-foo");
  ASSERT_REFUSED("flag provided but not defined: -foo", "--foo=bar");
  ASSERT_REFUSED("flag provided but not defined: -serv", "-serv");
  ASSERT_REFUSED("flag provided but not defined: -service2", "-service2");
  ASSERT_REFUSED("flag provided but not defined: -a\\nb", "-a\nb");
  ASSERT_REFUSED("flag needs an argument: -path", "-path");
  ASSERT_REFUSED("flag needs an argument: -n", "--n");
  ASSERT_REFUSED("bad flag syntax: ---n", "---n");
  ASSERT_REFUSED("bad flag syntax: -=n", "-=n");
  ASSERT_REFUSED("bad flag syntax: --=", "--=");
  ASSERT_REFUSED("invalid value \"x\\\"\\\\\" for flag -n: parse error", "-n=x\"\\");
  ASSERT_REFUSED("invalid value \"quick\" for flag -mode: neither fast nor slow", "-mode=quick");
  assert_int_equal(rest, -1);
}

static void test_help(void **unused) {
  (void)unused;
  assert_int_equal(PARSE("-h"), CSI_FLAGS_HELP);
  assert_int_equal(PARSE("--help"), CSI_FLAGS_HELP);
  assert_int_equal(PARSE("-n=1", "-help=x", "-foo"), CSI_FLAGS_HELP);
  ASSERT_REFUSED("flag provided but not defined: -helper", "-helper");
}

static void assert_number(const char *text, int64_t expected) {
  char argument[64];
  (void)snprintf(argument, sizeof argument, "-n=%s", text);
  assert_int_equal(PARSE(argument), CSI_FLAGS_OK);
  assert_true(number == expected);
}

static void test_integers(void **unused) {
  (void)unused;
  assert_number("0", 0);
  assert_number("+5", 5);
  assert_number("-0x1F", -31);
  assert_number("0b101", 5);
  assert_number("0o17", 15);
  assert_number("017", 15);
  assert_number("1_000_000", 1000000);
  assert_number("0x_ff", 255);
  assert_number("9223372036854775807", INT64_MAX);
  assert_number("-9223372036854775808", INT64_MIN);
  static const char *const bad[] = {"",   "+",  "-",  "x",    "1x",  "1.0", " 1",  "1 ",  "0x",
                                    "08", "1_", "_1", "1__0", "0b2", "0o8", "--1", "1e3", "0x_"};
  for (size_t i = 0; i < COUNT(bad); i++) {
    char argument[64], expected[128];
    (void)snprintf(argument, sizeof argument, "-n=%s", bad[i]);
    (void)snprintf(expected, sizeof expected, "invalid value \"%s\" for flag -n: parse error", bad[i]);
    ASSERT_REFUSED(expected, argument);
  }
  ASSERT_REFUSED("invalid value \"9223372036854775808\" for flag -n: value out of range",
                 "-n=9223372036854775808");
  ASSERT_REFUSED("invalid value \"99999999999999999999999\" for flag -n: value out of range",
                 "-n=99999999999999999999999");
  ASSERT_REFUSED("invalid value \"6\" for flag -level: value out of range", "-level=6");
  ASSERT_REFUSED("invalid value \"-6\" for flag -level: value out of range", "-level=-6");
}

static void test_unsigned_integers(void **unused) {
  (void)unused;
  assert_int_equal(PARSE("-size=18446744073709551615"), CSI_FLAGS_OK);
  assert_true(size == UINT64_MAX);
  ASSERT_REFUSED("invalid value \"18446744073709551616\" for flag -size: value out of range",
                 "-size=18446744073709551616");
  ASSERT_REFUSED("invalid value \"-1\" for flag -size: parse error", "-size=-1");
  ASSERT_REFUSED("invalid value \"+1\" for flag -size: parse error", "-size", "+1");
}

static void assert_duration(const char *text, int64_t expected_ns) {
  char argument[64];
  (void)snprintf(argument, sizeof argument, "-wait=%s", text);
  assert_int_equal(PARSE(argument), CSI_FLAGS_OK);
  assert_true(wait_ns == expected_ns);
}

static void test_durations(void **unused) {
  (void)unused;
  assert_duration("0", 0);
  assert_duration("300ms", INT64_C(300000000));
  assert_duration("-1.5h", INT64_C(-5400000000000));
  assert_duration("1h15m30.918s", INT64_C(4530918000000));
  assert_duration("5us", 5000);
  assert_duration("5\xC2\xB5s", 5000);
  assert_duration(".5s", 500000000);
  assert_duration("1.s", 1000000000);
  assert_duration("7ns", 7);
  static const char *const bad[] = {"", "3", "-", "s", ".s", "1d", "1h3", "9999999h", "1m-1s", "1.2.3s"};
  for (size_t i = 0; i < COUNT(bad); i++) {
    char argument[64];
    (void)snprintf(argument, sizeof argument, "-wait=%s", bad[i]);
    assert_int_equal(PARSE(argument), CSI_FLAGS_ERROR);
    assert_non_null(strstr(status.text, ": parse error"));
  }
}

static void test_lists_have_an_end(void **unused) {
  (void)unused;
  const char *arguments[CSI_FLAG_LIST_ITEMS + 1];
  for (size_t i = 0; i < COUNT(arguments); i++)
    arguments[i] = "-dir=x";
  assert_int_equal(parse(arguments, CSI_FLAG_LIST_ITEMS), CSI_FLAGS_OK);
  assert_int_equal(directories.count, CSI_FLAG_LIST_ITEMS);
  assert_int_equal(parse(arguments, CSI_FLAG_LIST_ITEMS + 1), CSI_FLAGS_ERROR);
  assert_string_equal(status.text, "invalid value \"x\" for flag -dir: more than 64 values");
}

static void test_usage_layout(void **unused) {
  (void)unused;
  char text[4096] = "";
  FILE *stream = tmpfile();
  assert_non_null(stream);
  csi_flags_print_usage(stream, "csi-proxy.exe", tables, COUNT(tables));
  rewind(stream);
  size_t length = fread(text, 1, sizeof text - 1, stream);
  (void)fclose(stream);
  text[length] = '\0';
  assert_string_equal(text, "Usage of csi-proxy.exe:\n"
                            "  -b\tShort.\n"
                            "  -dir value\n"
                            "    \tRepeatable.\n"
                            "  -level int\n"
                            "    \tFew. (default 3)\n"
                            "  -mode value\n"
                            "    \tHow. (default slow)\n"
                            "  -n int\n"
                            "    \tAny number.\n"
                            "  -path directory\n"
                            "    \tA directory. (default \"C:\\\\x\")\n"
                            "  -privacy\n"
                            "    \tEncrypt. (default true)\n"
                            "  -service\n"
                            "    \tServe.\n"
                            "  -size uint\n"
                            "    \tTwo\n"
                            "    \tlines.\n"
                            "  -wait duration\n"
                            "    \tPatience. (default 1s)\n");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_defaults),
      cmocka_unit_test(test_spellings),
      cmocka_unit_test(test_installed_service_command_line),
      cmocka_unit_test(test_booleans_take_values_behind_an_equals_sign_only),
      cmocka_unit_test(test_end_of_flags),
      cmocka_unit_test(test_errors_read_as_in_go),
      cmocka_unit_test(test_help),
      cmocka_unit_test(test_integers),
      cmocka_unit_test(test_unsigned_integers),
      cmocka_unit_test(test_durations),
      cmocka_unit_test(test_lists_have_an_end),
      cmocka_unit_test(test_usage_layout),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
