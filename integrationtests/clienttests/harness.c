/* SPDX-License-Identifier: Apache-2.0 */
#include "harness.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
  LONG_TIME_MS = 120000,
  VERSIONS_MAX = 8,
  RPCS_MAX = 16,
};

/* ---- Checks. ---- */

bool check(struct run *run, bool holds, const char *format, ...) {
  if (holds || run->failed) return holds;
  run->failed = true;
  va_list args;
  va_start(args, format);
  vsnprintf(run->why, sizeof run->why, format, args);
  va_end(args);
  return false;
}

void check_refusal(struct run *run, enum csi_code code, enum csi_code precise_code, uint32_t number,
                   const char *beginning) {
  const struct csi_error *error = &run->error;
  check(run, error->code == code, "code is %s, not %s (%s)", csi_code_name(error->code), csi_code_name(code),
        error->text);
  check(run, strncmp(error->text, beginning, strlen(beginning)) == 0,
        "text is \"%s\", and does not begin with \"%s\"", error->text, beginning);
  check(run, error->precise_code == precise_code, "precise code is %s, not %s (%s)",
        csi_code_name(error->precise_code), csi_code_name(precise_code), error->text);
  check(run, error->number == number && error->space == (number != 0 ? CSI_SPACE_WIN32 : CSI_SPACE_NONE),
        "system error is %s %u, not %u (%s)", csi_error_space_name(error->space), (unsigned)error->number,
        (unsigned)number, error->text);
}

const char *path(struct run *run, const char *format, ...) {
  if (!check(run, run->path_count < PATHS_PER_CASE, "the case makes more than %d paths", PATHS_PER_CASE))
    return "";
  char *text = run->paths[run->path_count++];
  va_list args;
  va_start(args, format);
  int length = vsnprintf(text, PATH_TEXT_BYTES, format, args);
  va_end(args);
  check(run, length >= 0 && length < PATH_TEXT_BYTES, "the case makes a path that is too long");
  return text;
}

struct csi_call_options call_options(const struct run *run) {
  return (struct csi_call_options){.timeout_ms = run->timeout_ms != 0 ? run->timeout_ms : LONG_TIME_MS};
}

bool connect_group(struct run *run, const char *group, const char *version, struct csi_client **client_out) {
  const char *const only[] = {version, NULL};
  return csi_client_connect(group, only, &run->options, client_out, &run->error) == CSI_OK;
}

int64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void sleep_ms(unsigned duration_ms) {
  struct timespec duration = {.tv_sec = duration_ms / 1000, .tv_nsec = (long)(duration_ms % 1000) * 1000000};
  nanosleep(&duration, NULL);
}

/* ---- Counting. ---- */

struct tally {
  unsigned passed;
  unsigned failed;
  unsigned skipped;
};

/* Of the suite that runs: [version][rpc][bad, good]. */
static struct tally table[VERSIONS_MAX][RPCS_MAX][2];
static struct tally total;

static void count(struct tally *tally, const char *verdict) {
  if (verdict[0] == 'P') tally->passed++;
  if (verdict[0] == 'F') tally->failed++;
  if (verdict[0] == 'S') tally->skipped++;
}

static void report(const struct suite *suite, size_t version, const struct test_case *test,
                   const char *verdict, const char *why) {
  count(&total, verdict);
  for (size_t rpc = 0; suite != NULL && suite->rpcs[rpc] != NULL; rpc++) {
    if (strcmp(suite->rpcs[rpc], test->rpc) == 0) count(&table[version][rpc][test->good], verdict);
  }
  printf("%s %-8s %-13s %s: %s\n", verdict, suite != NULL ? suite->versions[version] : "-", test->rpc,
         test->good ? "good" : "bad ", test->name);
  if (why[0] != '\0') printf("     %s\n", why);
  fflush(stdout);
}

static void cell(char text[64], const struct tally tallies[2]) {
  unsigned good = tallies[true].passed + tallies[true].failed;
  unsigned bad = tallies[false].passed + tallies[false].failed;
  snprintf(text, 64, "%u/%u + %u/%u", tallies[true].passed, good, tallies[false].passed, bad);
  if (good + bad == 0) snprintf(text, 64, tallies[0].skipped + tallies[1].skipped > 0 ? "skipped" : "-");
}

/* One row an RPC: there are more of them than versions. */
static void print_table(const struct suite *suite) {
  printf("\nPassed of run, for good + bad input; group %s:\n%-33s", suite->group, "");
  for (size_t version = 0; suite->versions[version] != NULL; version++)
    printf("%-15s", suite->versions[version]);
  printf("\n");
  for (size_t rpc = 0; suite->rpcs[rpc] != NULL; rpc++) {
    printf("%-33s", suite->rpcs[rpc]);
    for (size_t version = 0; suite->versions[version] != NULL; version++) {
      char text[64];
      cell(text, table[version][rpc]);
      printf("%-15s", text);
    }
    printf("\n");
  }
  fflush(stdout);
}

/* ---- Running. ---- */

static const char *missing(unsigned needs, unsigned can) {
  unsigned lacking = needs & ~can;
  if (lacking & NEEDS_LINKS) return "this node makes no symbolic links";
  if (lacking & NEEDS_NO_LINKS) return "this node makes symbolic links";
  if (lacking & NEEDS_FILES) return "the node's files are out of this program's reach";
  if (lacking & NEEDS_FAKE) return "only the node in memory can do that";
  return NULL;
}

void make_case_directory(struct run *run, const char *name) {
  const char *directory = path(run, "%s\\csi-client-tests\\%s", run->settings->working_directory, name);
  run->directory = directory;
  check(run, rmdir_at(run, directory, true) == CSI_OK, "before the case: %s", run->error.text);
  check_made(run, directory);
}

void remove_case_directory(struct run *run) {
  check(run, rmdir_at(run, run->directory, true) == CSI_OK, "after the case: %s", run->error.text);
}

static void start(struct run *run, const struct settings *settings) {
  memset(run, 0, sizeof *run);
  run->settings = settings;
  run->options.endpoint_format = settings->endpoint_format;
}

/* Keeps the clients and forgets the case before. */
static void start_next(struct run *run, const struct suite *suite, size_t version) {
  struct run last = {.client = run->client, .disk = run->disk, .volume = run->volume};
  start(run, run->settings);
  run->client = last.client;
  run->disk = last.disk;
  run->volume = last.volume;
  run->suite = suite;
  run->version = suite->versions[version];
}

static bool is_wanted(const struct settings *settings, const struct test_case *test) {
  return settings->only == NULL || strstr(test->name, settings->only) != NULL;
}

static void run_case(struct run *run, const struct suite *suite, size_t version, size_t number) {
  const struct test_case *test = &suite->cases[number];
  const struct settings *settings = run->settings;
  if (!is_wanted(settings, test) ||
      (suite->has_rpc != NULL && !suite->has_rpc(suite->versions[version], test->rpc)))
    return;
  const char *lacking = missing(test->needs, settings->can);
  if (lacking != NULL) {
    report(suite, version, test, "SKIP", lacking);
    return;
  }
  start_next(run, suite, version);
  char name[64];
  snprintf(name, sizeof name, "%s-%zu", run->version, number);
  suite->prepare(run, name);
  if (!run->failed) test->body(run);
  run->timeout_ms = 0;
  suite->clean_up(run);
  report(suite, version, test, run->failed ? "FAIL" : "PASS", run->failed ? run->why : "");
}

static bool is_listed(const char *list, const char *version) {
  size_t length = strlen(version);
  for (const char *at = list; at != NULL; at = strchr(at, ',')) {
    at += *at == ',';
    if (strncmp(at, version, length) == 0 && (at[length] == ',' || at[length] == '\0')) return true;
  }
  return list == NULL;
}

static void run_version(const struct settings *settings, const struct suite *suite, size_t version) {
  static const struct test_case connecting = {
      .rpc = "connect", .good = true, .name = "the version is served"};
  static struct run run;
  start(&run, settings);
  run.suite = suite;
  run.version = suite->versions[version];
  bool connected = suite->connect(&run);
  report(suite, version, &connecting, connected ? "PASS" : "FAIL", connected ? "" : run.error.text);
  for (size_t i = 0; connected && i < suite->case_count; i++)
    run_case(&run, suite, version, i);
  suite->disconnect(&run);
}

void run_suite(const struct settings *settings, const struct suite *suite) {
  memset(table, 0, sizeof table);
  for (size_t version = 0; suite->versions[version] != NULL; version++)
    if (is_listed(settings->versions, suite->versions[version])) run_version(settings, suite, version);
  print_table(suite);
}

void run_cases(const struct settings *settings, const struct test_case *cases, size_t case_count) {
  static struct run run;
  for (size_t i = 0; i < case_count; i++) {
    if (!is_wanted(settings, &cases[i])) continue;
    const char *lacking = missing(cases[i].needs, settings->can);
    start(&run, settings);
    if (lacking == NULL) cases[i].body(&run);
    const char *verdict = lacking != NULL ? "SKIP" : run.failed ? "FAIL" : "PASS";
    report(NULL, 0, &cases[i], verdict, lacking != NULL ? lacking : run.why);
  }
}

int finish(void) {
  printf("\n%u passed, %u failed, %u skipped\n", total.passed, total.failed, total.skipped);
  return total.failed == 0 && total.passed > 1 ? EXIT_SUCCESS : EXIT_FAILURE;
}
