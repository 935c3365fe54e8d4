/* SPDX-License-Identifier: Apache-2.0 */
#include "harness.h"

#include <pthread.h>
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

void check_ok(struct run *run, const char *what, enum csi_code code) {
  check(run, code == CSI_OK, "%s: %s", what, run->error.text);
}

void check_refusal_in(struct run *run, enum csi_error_space space, enum csi_code code,
                      enum csi_code precise_code, uint32_t number, const char *beginning) {
  const struct csi_error *error = &run->error;
  check(run, error->code == code, "code is %s, not %s (%s)", csi_code_name(error->code), csi_code_name(code),
        error->text);
  check(run, strncmp(error->text, beginning, strlen(beginning)) == 0,
        "text is \"%s\", and does not begin with \"%s\"", error->text, beginning);
  check(run, error->precise_code == precise_code, "precise code is %s, not %s (%s)",
        csi_code_name(error->precise_code), csi_code_name(precise_code), error->text);
  check(run, error->number == number && error->space == (number != 0 ? space : CSI_SPACE_NONE),
        "system error is %s %u, not %u (%s)", csi_error_space_name(error->space), (unsigned)error->number,
        (unsigned)number, error->text);
}

void check_refusal(struct run *run, enum csi_code code, enum csi_code precise_code, uint32_t number,
                   const char *beginning) {
  check_refusal_in(run, CSI_SPACE_WIN32, code, precise_code, number, beginning);
}

void check_says(struct run *run, const char *text) {
  check(run, strstr(run->error.text, text) != NULL, "\"%s\" does not say \"%s\"", run->error.text, text);
}

void check_does_not_say(struct run *run, const char *secret) {
  check(run, strstr(run->error.text, secret) == NULL, "\"%s\" has a secret in it", run->error.text);
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

int64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void sleep_ms(unsigned duration_ms) {
  struct timespec duration = {.tv_sec = duration_ms / 1000, .tv_nsec = (long)(duration_ms % 1000) * 1000000};
  nanosleep(&duration, NULL);
}

const char *text_of_bytes(size_t length) {
  static char text[1 << 17];
  if (length >= sizeof text) length = sizeof text - 1;
  memset(text, 'x', length);
  text[length] = '\0';
  return text;
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
  if (lacking & NEEDS_WINDOWS) return "this node neither tries credentials nor knows dependents of services";
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
static void start_next(struct run *run) {
  run->directory = NULL;
  run->error = (struct csi_error){0};
  run->timeout_ms = 0;
  run->failed = false;
  run->why[0] = '\0';
  run->path_count = 0;
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
  start_next(run);
  char name[64];
  snprintf(name, sizeof name, "%s-%zu", run->version, number);
  suite->prepare(run, name);
  if (!run->failed) test->body(run);
  run->timeout_ms = 0;
  suite->clean_up(run);
  report(suite, version, test, run->failed ? "FAIL" : "PASS", run->failed ? run->why : "");
}

/* list: names between commas; NULL = all. */
static bool is_listed(const char *list, const char *name) {
  size_t length = strlen(name);
  for (const char *at = list; at != NULL; at = strchr(at, ',')) {
    at += *at == ',';
    if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == '\0')) return true;
  }
  return list == NULL;
}

static const struct {
  const char *group;
  size_t offset; /* in struct run */
} clients[] = {
    {"filesystem", offsetof(struct run, client)}, {"disk", offsetof(struct run, disk)},
    {"volume", offsetof(struct run, volume)},     {"smb", offsetof(struct run, smb)},
    {"iscsi", offsetof(struct run, iscsi)},       {"system", offsetof(struct run, system)},
};
enum { GROUPS = sizeof clients / sizeof clients[0] };

static struct csi_client **client_at(struct run *run, size_t number) {
  return (struct csi_client **)(void *)((char *)run + clients[number].offset);
}

static bool connect_group(struct run *run, const char *group, const char *version) {
  const char *const only[] = {version, NULL};
  for (size_t i = 0; i < GROUPS; i++) {
    if (strcmp(clients[i].group, group) == 0)
      return csi_client_connect(group, only, &run->options, client_at(run, i), &run->error) == CSI_OK;
  }
  return false;
}

static bool connect_all(struct run *run) {
  const char *const *others = run->suite->other_groups;
  bool connected = connect_group(run, run->suite->group, run->version);
  for (size_t i = 0; connected && others != NULL && others[i] != NULL; i++)
    connected = connect_group(run, others[i], "v1");
  return connected;
}

static void disconnect_all(struct run *run) {
  for (size_t i = 0; i < GROUPS; i++)
    csi_client_close(*client_at(run, i));
}

/* ---- Several clients at once. ---- */

struct companion {
  struct run run;
  pthread_t thread;
  unsigned number;
  void (*body)(struct run *own, unsigned number);
};

static void *run_companion(void *context) {
  struct companion *companion = context;
  struct run *run = &companion->run;
  if (check(run, connect_group(run, run->suite->group, run->version), "connecting: %s", run->error.text))
    companion->body(run, companion->number);
  disconnect_all(run);
  return NULL;
}

void run_together(struct run *run, unsigned count, void (*body)(struct run *own, unsigned number)) {
  struct companion *companions = calloc(count, sizeof *companions);
  unsigned started = 0;
  if (!check(run, companions != NULL, "out of memory")) return;
  for (unsigned i = 0; i < count; i++) {
    struct companion *companion = &companions[i];
    start(&companion->run, run->settings);
    companion->run.suite = run->suite;
    companion->run.version = run->version;
    companion->run.directory = run->directory;
    companion->number = i;
    companion->body = body;
    if (!check(run, pthread_create(&companion->thread, NULL, run_companion, companion) == 0, "no thread"))
      break;
    started++;
  }
  for (unsigned i = 0; i < started; i++) {
    pthread_join(companions[i].thread, NULL);
    check(run, !companions[i].run.failed, "client %u: %s", i, companions[i].run.why);
  }
  free(companions);
}

/* ---- Running, continued. ---- */

static void run_version(const struct settings *settings, const struct suite *suite, size_t version) {
  static const struct test_case connecting = {
      .rpc = "connect", .good = true, .name = "the version is served"};
  static struct run run;
  start(&run, settings);
  run.suite = suite;
  run.version = suite->versions[version];
  bool connected = connect_all(&run);
  report(suite, version, &connecting, connected ? "PASS" : "FAIL", connected ? "" : run.error.text);
  for (size_t i = 0; connected && i < suite->case_count; i++)
    run_case(&run, suite, version, i);
  disconnect_all(&run);
}

void run_suite(const struct settings *settings, const struct suite *suite) {
  if (!is_listed(settings->groups, suite->group)) return;
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
