/* SPDX-License-Identifier: Apache-2.0 */
#include "service/install_plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum {
  ARENA_BYTES = 1 << 20,
  MAX_ARGUMENTS = 32,
  TOLD_BYTES = 4096,
};

static int set_up(void **state) {
  *state = csi_arena_new(ARENA_BYTES);
  return *state == NULL;
}

static int tear_down(void **state) {
  csi_arena_free(*state);
  return 0;
}

/* The arguments behind the program, up to NULL. */
static enum csi_options_result parse(struct csi_arena *arena, struct csi_install_options *options,
                                     struct csi_status *status, const char *const *arguments) {
  static char *argv[MAX_ARGUMENTS];
  int argc = 1;
  argv[0] = (char *)"csi-proxy.exe";
  for (; arguments[argc - 1] != NULL; argc++)
    argv[argc] = (char *)arguments[argc - 1];
  *status = (struct csi_status){0};
  return csi_install_parse(arena, argc, argv, options, status);
}

#define PARSE(...) parse(*state, &options, &status, (const char *const[]){__VA_ARGS__, NULL})

static void assert_flags(const struct csi_service_flags *flags, const char *const *expected) {
  size_t count = 0;
  for (; expected[count] != NULL; count++) {
    assert_true(count < flags->count);
    assert_string_equal(flags->items[count], expected[count]);
  }
  assert_int_equal(flags->count, count);
}

#define FLAGS(...) ((const char *const[]){__VA_ARGS__, NULL})

static struct csi_service_flags read_flags(struct csi_arena *arena, const char *const *arguments) {
  struct csi_service_flags flags;
  struct csi_status status = {0};
  const char *ignored;
  char *argv[MAX_ARGUMENTS];
  size_t count = 0;
  for (; arguments[count] != NULL; count++)
    argv[count] = (char *)arguments[count];
  assert_true(csi_service_flags_read(arena, argv, count, &flags, &ignored, &status));
  assert_null(ignored);
  return flags;
}

static void only_the_first_argument_is_a_verb(void **unused) {
  (void)unused;
  char *install[] = {(char *)"p", (char *)"install"},
       *flags[] = {(char *)"p", (char *)"-v=5", (char *)"install"};
  char *unknown[] = {(char *)"p", (char *)"Install"};
  assert_int_equal(csi_install_verb(2, install), CSI_VERB_INSTALL);
  assert_int_equal(csi_install_verb(3, flags), CSI_VERB_NONE);
  assert_int_equal(csi_install_verb(2, unknown), CSI_VERB_NONE);
  assert_int_equal(csi_install_verb(1, install), CSI_VERB_NONE);
}

static void flags_go_where_they_belong(void **state) {
  struct csi_install_options options;
  struct csi_status status;
  assert_int_equal(PARSE("install", "-v", "5", "-name", "other", "--kubelet-path=D:\\k", "-start=false",
                         "-logtostderr=false", "-working-dir", "E:\\a b"),
                   CSI_OPTIONS_RUN);
  assert_int_equal(options.verb, CSI_VERB_INSTALL);
  assert_string_equal(options.name, "other");
  assert_string_equal(options.display_name, "CSI Proxy (other)");
  assert_false(options.start);
  assert_false(options.keep);
  assert_flags(&options.flags,
               FLAGS("-v=5", "-kubelet-path=D:\\k", "-logtostderr=false", "-working-dir=E:\\a b"));
}

static void defaults_are_those_of_the_recipe(void **state) {
  struct csi_install_options options;
  struct csi_status status;
  assert_int_equal(PARSE("install"), CSI_OPTIONS_RUN);
  assert_string_equal(options.name, "csiproxy");
  assert_string_equal(options.display_name, "CSI Proxy");
  assert_true(options.start);
  assert_int_equal(options.flags.count, 0);
  assert_true(csi_service_flags_add_log(*state, &options.flags, &status));
  assert_flags(&options.flags, FLAGS("-log_file=C:\\etc\\kubernetes\\logs\\csi-proxy.log",
                                     "-logtostderr=false", "-log_file_max_size=100"));
  assert_int_equal(PARSE("upgrade"), CSI_OPTIONS_RUN);
  assert_true(options.keep_flags);
  assert_string_equal(options.to, "");
}

static void a_log_of_ones_own_is_left_alone(void **state) {
  struct csi_install_options options;
  struct csi_status status;
  static const char *const own[] = {"-log_file=D:\\x.log", "-log_dir=D:\\logs", "-logtostderr"};
  for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
    assert_int_equal(PARSE("install", own[i]), CSI_OPTIONS_RUN);
    assert_true(csi_service_flags_add_log(*state, &options.flags, &status));
    assert_flags(&options.flags, FLAGS(own[i]));
  }
  assert_int_equal(PARSE("install", "-log_file_max_size=7"), CSI_OPTIONS_RUN);
  assert_true(csi_service_flags_add_log(*state, &options.flags, &status));
  assert_flags(&options.flags, FLAGS("-log_file=C:\\etc\\kubernetes\\logs\\csi-proxy.log",
                                     "-logtostderr=false", "-log_file_max_size=7"));
}

static void wrong_usage_is_refused(void **state) {
  struct csi_install_options options;
  struct csi_status status;
  static const struct {
    const char *arguments[4];
    const char *text;
  } cases[] = {
      {{"install", "-no-such-flag"}, "flag provided but not defined: -no-such-flag"},
      {{"install", "stray"}, "argument is not a flag: stray"},
      {{"install", "-logtostderr", "false"}, "argument is not a flag: false"},
      {{"install", "-name=a\\b"},
       "-name: a service's name has 1 to 256 characters and no slash or backslash"},
      {{"install", "-name="}, "-name: a service's name has 1 to 256 characters and no slash or backslash"},
      {{"install", "-exe=C:\\a.exe", "-to=C:\\b.exe"}, "-exe and -to exclude each other"},
      {{"install", "-upgrade", "-keep"}, "-upgrade excludes -exe and -keep"},
      {{"install", "-check-config"}, "a service cannot have -check-config"},
      {{"install", "-delete-program"}, "flag provided but not defined: -delete-program"},
      {{"install", "-name"}, "flag needs an argument: -name"},
      {{"uninstall", "-v=5"}, "flag provided but not defined: -v"},
      {{"install", "-keep", "-start=false"}, "-keep excludes -start=false"},
      {{"uninstall", "-to=C:\\csi-proxy.exe"},
       "-to goes with -delete-program, and its name must begin with csi-proxy"},
      {{"uninstall", "-delete-program", "-to=C:\\svchost.exe"},
       "-to goes with -delete-program, and its name must begin with csi-proxy"},
      {{"upgrade", "-keep"}, "flag provided but not defined: -keep"},
      {{"upgrade", "-timeout=0s"}, NULL},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    assert_int_equal(parse(*state, &options, &status, cases[i].arguments), CSI_OPTIONS_INVALID);
    assert_int_equal(status.code, CSI_INVALID_ARGUMENT);
    if (cases[i].text != NULL) assert_string_equal(status.text, cases[i].text);
  }
  assert_int_equal(PARSE("upgrade", "-help"), CSI_OPTIONS_HELP);
}

static void spellings_become_one(void **state) {
  struct csi_service_flags flags = read_flags(
      *state, FLAGS("-windows-service", "--v", "3", "-v=5", "-logtostderr=F", "-windows-service=true",
                    "-require-privacy=1", "-working-dir=D:\\a", "-working-dir", "D:\\b", "-log_file="));
  assert_flags(&flags, FLAGS("-v=5", "-logtostderr=false", "-require-privacy", "-working-dir=D:\\a",
                             "-working-dir=D:\\b", "-log_file="));
  assert_string_equal(csi_service_flag_value(&flags, "v"), "5");
  assert_string_equal(csi_service_flag_value(&flags, "log_file"), "");
  assert_null(csi_service_flag_value(&flags, "require-privacy"));
  assert_null(csi_service_flag_value(&flags, "log"));
}

/* Every flag that the original knows, as installed command lines have them. */
static void flags_of_the_original_are_kept(void **state) {
  struct csi_install_config config = {0};
  struct csi_status status = {0};
  assert_true(csi_install_config_read_command(
      *state,
      "C:\\etc\\kubernetes\\node\\bin\\csi-proxy.exe -windows-service -kubelet-path C:\\k -working-dir=D:\\w "
      "-require-privacy=false -metrics-bind-address :9090 -logtostderr=false -alsologtostderr "
      "-alsologtostderrthreshold 1 -stderrthreshold WARNING -legacy_stderr_threshold_behavior=false "
      "-log_file=C:\\etc\\kubernetes\\logs\\csi-proxy.log -log_file_max_size 7 -log_dir C:\\l -one_output "
      "-skip_log_headers -skip_headers -add_dir_header -v=4 -vmodule a=1 -log_backtrace_at a.go:1",
      &config, &status));
  assert_string_equal(config.executable, "C:\\etc\\kubernetes\\node\\bin\\csi-proxy.exe");
  assert_false(config.ambiguous);
  assert_null(config.ignored);
  assert_int_equal(config.flags.count, 19);
  struct csi_options options;
  size_t count;
  char **arguments = csi_service_arguments(*state, &config, &count, &status);
  assert_non_null(arguments);
  assert_int_equal(count, 21);
  assert_string_equal(arguments[1], "-windows-service");
  assert_int_equal(csi_options_parse(&options, (int)count, arguments, &status), CSI_OPTIONS_RUN);
  assert_string_equal(options.metrics_bind_address, ":9090");
}

static void what_the_original_ignores_is_named(void **state) {
  struct csi_install_config config = {0};
  struct csi_status status = {0};
  assert_true(csi_install_config_read_command(
      *state, "C:\\Program Files\\csi-proxy.exe -v=1 -logtostderr false -v=5", &config, &status));
  assert_true(config.ambiguous);
  assert_string_equal(config.executable, "C:\\Program Files\\csi-proxy.exe");
  assert_string_equal(config.ignored, "false");
  assert_flags(&config.flags, FLAGS("-v=1", "-logtostderr"));
}

static void changes_go_on_top(void **state) {
  struct csi_service_flags base =
      read_flags(*state, FLAGS("-v=2", "-working-dir=D:\\a", "-logtostderr=false"));
  struct csi_service_flags changes = read_flags(
      *state, FLAGS("-logtostderr", "-working-dir=D:\\b", "-working-dir=D:\\a", "-log_dir=x", "-v=4"));
  struct csi_service_flags merged;
  struct csi_status status = {0};
  assert_true(csi_service_flags_merge(*state, &base, &changes, &merged, &status));
  assert_flags(&merged,
               FLAGS("-v=4", "-working-dir=D:\\a", "-logtostderr", "-working-dir=D:\\b", "-log_dir=x"));
  assert_flags(&base, FLAGS("-v=2", "-working-dir=D:\\a", "-logtostderr=false"));
}

static void append(void *context, const char *line) {
  char *told = context;
  size_t length = strlen(told);
  snprintf(told + length, TOLD_BYTES - length, "%s\n", line);
}

static void differences_are_named(void **state) {
  struct csi_install_config installed = {.executable = "C:\\A.exe",
                                         .flags = read_flags(*state, FLAGS("-v=2", "-log_dir=x")),
                                         .display_name = "CSI Proxy",
                                         .account = "localsystem",
                                         .own_process = true,
                                         .auto_start = true};
  struct csi_install_config wanted = installed;
  wanted.executable = "c:\\a.EXE";
  wanted.account = "LocalSystem";
  wanted.flags = read_flags(*state, FLAGS("-log_dir=x", "-v=2"));
  char told[TOLD_BYTES] = "";
  assert_int_equal(csi_install_config_compare(&installed, &wanted, append, told), 0);
  assert_string_equal(told, "");

  wanted.executable = "C:\\b.exe";
  wanted.flags = read_flags(*state, FLAGS("-log_dir=x", "-v=3"));
  installed.auto_start = false;
  installed.ambiguous = true;
  installed.ignored = "false";
  installed.account = "NT AUTHORITY\\LocalService";
  assert_int_equal(csi_install_config_compare(&installed, &wanted, append, told), 7);
  assert_string_equal(
      told, "program: installed is C:\\A.exe, wanted is C:\\b.exe\n"
            "flag: installed is -v=2, wanted is without it\n"
            "flag: installed is without it, wanted is -v=3\n"
            "command line: installed is a path with blanks and no quotes, wanted is the path in quotes\n"
            "argument that is no flag: installed is false, wanted is without it\n"
            "account: installed is NT AUTHORITY\\LocalService, wanted is LocalSystem\n"
            "start: installed is not automatic, wanted is automatic\n");
}

static void a_csi_proxy_is_known_by_its_name(void **unused) {
  (void)unused;
  assert_true(csi_install_is_csi_proxy("C:\\bin\\csi-proxy.exe"));
  assert_true(csi_install_is_csi_proxy("Z:/x/CSI-Proxy-v2.exe"));
  assert_false(csi_install_is_csi_proxy("C:\\csi-proxy\\svchost.exe"));
  assert_false(csi_install_is_csi_proxy(""));
}

/* Whatever allocation fails, the answer is a failure and not a crash. */
static void short_memory_is_a_failure(void **unused) {
  (void)unused;
  char *argv[] = {(char *)"p", (char *)"install", (char *)"-name=x", (char *)"-v=1", (char *)"-log_dir=y"};
  for (unsigned failing = 1;; failing++) {
    struct csi_arena *arena = csi_arena_new(ARENA_BYTES);
    struct csi_install_options options;
    struct csi_status status = {0};
    csi_arena_fail_after(failing);
    bool parsed = csi_install_parse(arena, 5, argv, &options, &status) == CSI_OPTIONS_RUN &&
                  csi_service_flags_add_log(arena, &options.flags, &status);
    bool failed = csi_arena_fail_after(0) == 0;
    assert_int_equal(parsed, !failed);
    if (failed) assert_int_equal(status.code, CSI_RESOURCE_EXHAUSTED);
    csi_arena_free(arena);
    if (!failed) return;
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(only_the_first_argument_is_a_verb),
      cmocka_unit_test_setup_teardown(flags_go_where_they_belong, set_up, tear_down),
      cmocka_unit_test_setup_teardown(defaults_are_those_of_the_recipe, set_up, tear_down),
      cmocka_unit_test_setup_teardown(a_log_of_ones_own_is_left_alone, set_up, tear_down),
      cmocka_unit_test_setup_teardown(wrong_usage_is_refused, set_up, tear_down),
      cmocka_unit_test_setup_teardown(spellings_become_one, set_up, tear_down),
      cmocka_unit_test_setup_teardown(flags_of_the_original_are_kept, set_up, tear_down),
      cmocka_unit_test_setup_teardown(what_the_original_ignores_is_named, set_up, tear_down),
      cmocka_unit_test_setup_teardown(changes_go_on_top, set_up, tear_down),
      cmocka_unit_test_setup_teardown(differences_are_named, set_up, tear_down),
      cmocka_unit_test(a_csi_proxy_is_known_by_its_name),
      cmocka_unit_test(short_memory_is_a_failure),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
