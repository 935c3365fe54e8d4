/* SPDX-License-Identifier: Apache-2.0 */
#include "service/options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "system/group.h"

enum {
  MAX_ARGUMENTS = 80,
};

/* Parses arguments that end with NULL. */
static enum csi_options_result parse(struct csi_options *options, struct csi_status *status,
                                     const char *const *arguments) {
  static char *argv[MAX_ARGUMENTS];
  int argc = 0;
  argv[argc++] = (char *)"csi-proxy";
  for (; *arguments != NULL; arguments++) {
    assert_true(argc < MAX_ARGUMENTS);
    argv[argc++] = (char *)*arguments;
  }
  csi_status_clear(status);
  return csi_options_parse(options, argc, argv, status);
}

#define PARSE(options, status, ...) parse(options, status, (const char *const[]){__VA_ARGS__, NULL})

static void nothing_given_means_the_documented_defaults(void **unused) {
  (void)unused;
  struct csi_options options;
  struct csi_status status;
  assert_int_equal(PARSE(&options, &status, NULL), CSI_OPTIONS_RUN);
  assert_string_equal(options.kubelet_path, "C:\\var\\lib\\kubelet");
  assert_int_equal(options.working_dirs.count, 0);
  assert_false(options.windows_service);
  assert_true(options.require_privacy);
  assert_false(options.allow_system_disks);
  assert_int_equal(options.route, CSI_SMB_ROUTE_AUTO);
  assert_string_equal(options.protected_services, CSI_SYSTEM_PROTECTED_SERVICES);
  assert_string_equal(options.metrics_bind_address, "");
  assert_string_equal(options.pipe_sddl, "D:P(A;;GA;;;SY)(A;;GA;;;BA)");
  assert_string_equal(options.pipe_prefix, "\\\\.\\pipe\\csi-proxy-");
  assert_int_equal(options.max_path_bytes, 260);
  assert_int_equal(options.max_connections, 2048);
  assert_int_equal(csi_options_stop_grace_ms(&options), 30000);
  assert_string_equal(options.audit_log, "");
  assert_int_equal(options.events, CSI_EVENTS_OFF);
  assert_false(options.check_config);
  assert_false(options.version);
}

static void the_command_lines_of_existing_installations_are_accepted(void **unused) {
  (void)unused;
  struct csi_options options;
  struct csi_status status;
  assert_int_equal(PARSE(&options, &status, "-windows-service",
                         "-log_file=C:\\etc\\kubernetes\\logs\\csi-proxy.log", "-logtostderr=false"),
                   CSI_OPTIONS_RUN);
  assert_true(options.windows_service);
  assert_int_equal(PARSE(&options, &status, "-v=5", "-windows-service", "-log_file=C:\\csi-proxy.log",
                         "-logtostderr=false", "-metrics-bind-address=localhost:8888"),
                   CSI_OPTIONS_RUN);
  assert_string_equal(options.metrics_bind_address, "localhost:8888");
  assert_int_equal(PARSE(&options, &status, "--kubelet-path", "D:\\kubelet", "--require-privacy=false",
                         "-allow-system-disks"),
                   CSI_OPTIONS_RUN);
  assert_string_equal(options.kubelet_path, "D:\\kubelet");
  assert_false(options.require_privacy);
  assert_true(options.allow_system_disks);
  assert_int_equal(PARSE(&options, &status, "-smb-route=wnet"), CSI_OPTIONS_RUN);
  assert_int_equal(options.route, CSI_SMB_ROUTE_WNET);
  assert_int_equal(PARSE(&options, &status, "-smb-route=mi"), CSI_OPTIONS_RUN);
  assert_int_equal(options.route, CSI_SMB_ROUTE_MI);
  /* The logging flags are kept by base/log: put them back. */
  assert_int_equal(PARSE(&options, &status, NULL), CSI_OPTIONS_RUN);
}

static void the_event_log_is_on_for_services(void **unused) {
  (void)unused;
  struct csi_options options;
  struct csi_status status;
  assert_int_equal(PARSE(&options, &status, "-windows-service"), CSI_OPTIONS_RUN);
  assert_int_equal(options.events, CSI_EVENTS_ALL);
  assert_int_equal(PARSE(&options, &status, "-windows-service", "-event-log=off"), CSI_OPTIONS_RUN);
  assert_int_equal(options.events, CSI_EVENTS_OFF);
  assert_int_equal(PARSE(&options, &status, "-event-log=important", "-audit-log=C:\\audit.json"),
                   CSI_OPTIONS_RUN);
  assert_int_equal(options.events, CSI_EVENTS_IMPORTANT);
  assert_string_equal(options.audit_log, "C:\\audit.json");
  /* A service that does not start for its flags must be able to say so. */
  assert_int_equal(PARSE(&options, &status, "-no-such-flag", "-windows-service"), CSI_OPTIONS_INVALID);
  assert_int_equal(options.events, CSI_EVENTS_ALL);
}

static void the_audit_log_is_a_file_of_its_own(void **unused) {
  (void)unused;
  struct csi_options options;
  struct csi_status status;
  assert_int_equal(PARSE(&options, &status, "-audit-log=C:\\a.json"), CSI_OPTIONS_RUN);
  assert_int_equal(options.audit_log_max_backups, 0);
  assert_int_equal(
      PARSE(&options, &status, "-audit-log=C:\\a.json", "-audit-log-max-backups=7", "-log_file=C:\\a.log"),
      CSI_OPTIONS_RUN);
  assert_int_equal(options.audit_log_max_backups, 7);
  assert_int_equal(PARSE(&options, &status, "-audit-log=C:\\Logs\\a", "-log_file=C:\\logs\\A"),
                   CSI_OPTIONS_INVALID);
  assert_string_equal(status.text, "-audit-log must not be the -log_file: C:\\Logs\\a");
  assert_int_equal(PARSE(&options, &status, NULL), CSI_OPTIONS_RUN);
}

static void working_directories_keep_their_order_and_the_kubelet_comes_last(void **unused) {
  (void)unused;
  struct csi_options options;
  struct csi_status status;
  assert_int_equal(
      PARSE(&options, &status, "-working-dir", "D:\\b", "-kubelet-path=C:\\k", "-working-dir=D:\\a"),
      CSI_OPTIONS_RUN);
  const char *roots[CSI_FLAG_LIST_ITEMS + 1];
  assert_int_equal(csi_options_roots(&options, roots), 3);
  assert_string_equal(roots[0], "D:\\b");
  assert_string_equal(roots[1], "D:\\a");
  assert_string_equal(roots[2], "C:\\k");
}

static void as_many_working_directories_as_a_list_holds_fit_the_roots(void **unused) {
  (void)unused;
  const char *arguments[CSI_FLAG_LIST_ITEMS + 1] = {0};
  for (size_t i = 0; i < CSI_FLAG_LIST_ITEMS; i++)
    arguments[i] = "-working-dir=D:\\x";
  struct csi_options options;
  struct csi_status status;
  assert_int_equal(parse(&options, &status, arguments), CSI_OPTIONS_RUN);
  const char *roots[CSI_FLAG_LIST_ITEMS + 1];
  assert_int_equal(csi_options_roots(&options, roots), CSI_FLAG_LIST_ITEMS + 1);
}

static void what_cannot_be_used_is_refused_with_a_reason(void **unused) {
  (void)unused;
  static const struct {
    const char *argument;
    const char *reason;
  } cases[] = {
      {"-no-such-flag", "flag provided but not defined: -no-such-flag"},
      {"stray", "argument is not a flag: stray"},
      {"-windows-service=maybe", "-windows-service"},
      {"-max-connections=0", "-max-connections"},
      {"-max-connections=65537", "-max-connections"},
      {"-max-path-length=15", "-max-path-length"},
      {"-max-path-length=32768", "-max-path-length"},
      {"-stop-grace-period=30", "-stop-grace-period"},
      {"-stop-grace-period=-1s", "-stop-grace-period"},
      {"-stop-grace-period=1h1ms", "-stop-grace-period"},
      {"-pipe-prefix=", "-pipe-prefix must not be empty"},
      {"-pipe-prefix=\\\\.\\pipe\\%n", "-pipe-prefix must not contain '%'"},
      {"-smb-route=wmi", "-smb-route is auto, wnet or mi, not \"wmi\""},
      {"-event-log=some", "-event-log is off, important or all, not \"some\""},
      {"-log_file_max_age=1", "-log_file_max_age"},
      {"-log_file_max_age=-1h", "-log_file_max_age"},
      {"-audit-log-max-backups=-1", "-audit-log-max-backups"},
      {"-kubelet-path", "flag needs an argument: -kubelet-path"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct csi_options options;
    struct csi_status status;
    assert_int_equal(PARSE(&options, &status, cases[i].argument), CSI_OPTIONS_INVALID);
    assert_int_equal(status.code, CSI_INVALID_ARGUMENT);
    if (strstr(status.text, cases[i].reason) == NULL)
      fail_msg("%s: got \"%s\", wanted \"%s\"", cases[i].argument, status.text, cases[i].reason);
  }
}

static void a_prefix_longer_than_a_pipe_name_is_refused(void **unused) {
  (void)unused;
  char argument[sizeof "-pipe-prefix=" + CSI_OPTIONS_PREFIX_BYTES + 1] = "-pipe-prefix=";
  size_t length = strlen(argument);
  memset(argument + length, 'x', CSI_OPTIONS_PREFIX_BYTES + 1);
  struct csi_options options;
  struct csi_status status;
  assert_int_equal(PARSE(&options, &status, argument), CSI_OPTIONS_INVALID);
  argument[length + CSI_OPTIONS_PREFIX_BYTES] = '\0';
  assert_int_equal(PARSE(&options, &status, argument), CSI_OPTIONS_RUN);
}

static void a_refused_service_command_line_is_known_to_be_a_service(void **unused) {
  (void)unused;
  struct csi_options options;
  struct csi_status status;
  assert_int_equal(PARSE(&options, &status, "-windows-service", "-bad"), CSI_OPTIONS_INVALID);
  assert_true(options.windows_service);
}

static void a_service_is_recognised_wherever_its_flag_stands(void **unused) {
  (void)unused;
  static const struct {
    const char *argument;
    bool service;
  } cases[] = {
      {"-windows-service", true},        {"--windows-service", true}, {"-windows-service=true", true},
      {"-windows-service=false", false}, {"windows-service", false},  {"-windows-services", false},
      {"-windows-service=", false},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char *argv[] = {(char *)"csi-proxy", (char *)"-no-such-flag", (char *)cases[i].argument, NULL};
    assert_int_equal(csi_options_ask_for_service(3, argv), cases[i].service);
  }
}

static void limits_are_inclusive(void **unused) {
  (void)unused;
  struct csi_options options;
  struct csi_status status;
  assert_int_equal(
      PARSE(&options, &status, "-max-connections=65536", "-max-path-length=32767", "-stop-grace-period=1h"),
      CSI_OPTIONS_RUN);
  assert_int_equal(csi_options_stop_grace_ms(&options), 3600000);
  assert_int_equal(
      PARSE(&options, &status, "-max-connections=1", "-max-path-length=16", "-stop-grace-period=0"),
      CSI_OPTIONS_RUN);
  assert_int_equal(csi_options_stop_grace_ms(&options), 0);
}

static void the_endpoint_format_is_the_prefix_and_two_names(void **unused) {
  (void)unused;
  struct csi_options options;
  struct csi_status status;
  assert_int_equal(PARSE(&options, &status, "-pipe-prefix=\\\\.\\pipe\\test-"), CSI_OPTIONS_RUN);
  char format[64];
  csi_options_endpoint_format(&options, format, sizeof format);
  assert_string_equal(format, "\\\\.\\pipe\\test-%s-%s");
}

static void usage_names_every_flag(void **unused) {
  (void)unused;
  static const char *const names[] = {
      "-kubelet-path",
      "-working-dir",
      "-windows-service",
      "-require-privacy",
      "-allow-system-disks",
      "-metrics-bind-address",
      "-pipe-sddl",
      "-pipe-prefix",
      "-admin-pipe",
      "-max-connections",
      "-max-path-length",
      "-stop-grace-period",
      "-audit-log",
      "-audit-log-max-backups",
      "-check-config",
      "-version",
      "-logtostderr",
      "-log_file",
      "-v ",
      "-vmodule",
  };
  static char text[32768];
  FILE *stream = tmpfile();
  assert_non_null(stream);
  csi_options_print_usage(stream, "csi-proxy");
  rewind(stream);
  text[fread(text, 1, sizeof text - 1, stream)] = '\0';
  fclose(stream);
  assert_non_null(strstr(text, "Usage of csi-proxy:"));
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (strstr(text, names[i]) == NULL) fail_msg("%s is not in the usage text", names[i]);

  struct csi_options options;
  struct csi_status status;
  assert_int_equal(PARSE(&options, &status, "-help"), CSI_OPTIONS_HELP);
  assert_int_equal(PARSE(&options, &status, "-h"), CSI_OPTIONS_HELP);
}

static void flags_that_differ_from_their_defaults_are_listed(void **unused) {
  (void)unused;
  struct csi_options options;
  struct csi_status status;
  const char **flags;
  size_t count;
  struct csi_arena *arena = csi_arena_new(1 << 16);
  assert_int_equal(PARSE(&options, &status, "-v=4", "-max-connections", "7", "--require-privacy=true", "-v",
                         "2", "-allow-system-disks", "-working-dir=C:\\a", "-working-dir", "C:\\b",
                         "-smb-route=mi", "-smb-route=auto"),
                   CSI_OPTIONS_RUN);
  assert_true(csi_options_list_changed(&options, arena, &flags, &count));
  static const char *const expected[] = {"-max-connections=7", "-v=2", "-allow-system-disks=true",
                                         "-working-dir=C:\\a", "-working-dir=C:\\b"};
  assert_int_equal(count, sizeof expected / sizeof *expected);
  for (size_t i = 0; i < count; i++)
    assert_string_equal(flags[i], expected[i]);
  assert_int_equal(PARSE(&options, &status, NULL), CSI_OPTIONS_RUN);
  assert_true(csi_options_list_changed(&options, arena, &flags, &count));
  assert_int_equal(count, 0);
  csi_arena_free(arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(flags_that_differ_from_their_defaults_are_listed),
      cmocka_unit_test(nothing_given_means_the_documented_defaults),
      cmocka_unit_test(the_command_lines_of_existing_installations_are_accepted),
      cmocka_unit_test(the_event_log_is_on_for_services),
      cmocka_unit_test(the_audit_log_is_a_file_of_its_own),
      cmocka_unit_test(working_directories_keep_their_order_and_the_kubelet_comes_last),
      cmocka_unit_test(as_many_working_directories_as_a_list_holds_fit_the_roots),
      cmocka_unit_test(what_cannot_be_used_is_refused_with_a_reason),
      cmocka_unit_test(a_prefix_longer_than_a_pipe_name_is_refused),
      cmocka_unit_test(a_refused_service_command_line_is_known_to_be_a_service),
      cmocka_unit_test(a_service_is_recognised_wherever_its_flag_stands),
      cmocka_unit_test(limits_are_inclusive),
      cmocka_unit_test(the_endpoint_format_is_the_prefix_and_two_names),
      cmocka_unit_test(usage_names_every_flag),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
