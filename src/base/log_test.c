/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <pthread.h>

#if defined(_WIN32)
#include <direct.h>
#define make_directory(path) _mkdir(path)
#else
#include <sys/wait.h>
#define make_directory(path) mkdir(path, 0700)
#endif

#include "base/log.h"
#include "base/log_os.h"
#include "base/text.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum {
  PATH_BYTES = 1024,
  TEXT_BYTES = 65536,
  MAX_ARGUMENTS = 20,
};

static char directory[PATH_BYTES];

/* --- What was logged, as the sink sees it. --- */

static char captured[TEXT_BYTES];
static enum csi_severity captured_severity;

static void capture(void *data, enum csi_severity severity, const char *line, size_t length_bytes) {
  (void)data;
  assert_int_equal(strlen(line), length_bytes);
  size_t used = strlen(captured);
  (void)snprintf(captured + used, sizeof captured - used, "%s", line);
  captured_severity = severity;
}

/* --- Command line, files. --- */

static enum csi_flags_result parse(struct csi_status *status, const char *const *arguments, size_t count) {
  char *argv[MAX_ARGUMENTS + 1] = {(char *)"program"};
  for (size_t i = 0; i < count; i++)
    argv[i + 1] = (char *)arguments[i];
  int rest;
  struct csi_flag_table table = csi_log_flags();
  csi_status_clear(status);
  return csi_flags_parse(&table, 1, (int)count + 1, argv, &rest, status);
}

#define USE_FLAGS(...)                                                                                       \
  do {                                                                                                       \
    static struct csi_status flags_status;                                                                   \
    const char *const flags_given[] = {"-v=0", __VA_ARGS__};                                                 \
    assert_int_equal(parse(&flags_status, flags_given, COUNT(flags_given)), CSI_FLAGS_OK);                   \
  } while (0)

static void assert_flag_refused(const char *argument, const char *expected) {
  struct csi_status status;
  assert_int_equal(parse(&status, &argument, 1), CSI_FLAGS_ERROR);
  assert_string_equal(status.text, expected);
}

static void open_log(void) {
  struct csi_status status = {.code = CSI_OK};
  assert_true(csi_log_open("log-test", &status));
}

static const char *in_directory(const char *name) {
  static char paths[4][PATH_BYTES * 2];
  static unsigned next;
  char *path = paths[next++ % 4];
  (void)snprintf(path, sizeof paths[0], "%s/%s", directory, name);
  return path;
}

static const char *log_file_flag(const char *name) {
  static char flag[PATH_BYTES * 3];
  (void)snprintf(flag, sizeof flag, "-log_file=%s", in_directory(name));
  return flag;
}

static char *read_text(const char *path) {
  static char texts[4][TEXT_BYTES];
  static unsigned next;
  char *text = texts[next++ % 4];
  FILE *stream = fopen(path, "rb");
  size_t length = stream == NULL ? 0 : fread(text, 1, TEXT_BYTES - 1, stream);
  text[length] = '\0';
  if (stream != NULL) (void)fclose(stream);
  return text;
}

static unsigned count_lines(const char *text) {
  unsigned lines = 0;
  for (; *text != '\0'; text++)
    lines += *text == '\n';
  return lines;
}

struct name_search {
  const char *part;
  unsigned count;
  char last[PATH_BYTES];
};

static void match_name(void *data, const char *name) {
  struct name_search *search = data;
  if (strstr(name, search->part) == NULL) return;
  search->count++;
  (void)snprintf(search->last, sizeof search->last, "%s", name);
}

static struct name_search find_names(const char *part) {
  struct name_search search = {.part = part};
  csi_log_os_each_name(directory, match_name, &search);
  return search;
}

static void remove_name(void *data, const char *name) {
  (void)data;
  if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0) csi_log_os_remove(in_directory(name));
}

static void empty_directory(void) {
  csi_log_os_each_name(directory, remove_name, NULL);
}

static int set_up(void **unused) {
  (void)unused;
  captured[0] = '\0';
  empty_directory();
  struct csi_status status;
  return parse(&status, NULL, 0) == CSI_FLAGS_OK ? 0 : -1;
}

static int tear_down(void **unused) {
  (void)unused;
  csi_log_set_sink(NULL, NULL);
  csi_log_close();
  return 0;
}

/* --- Lines. --- */

static void test_line_format(void **unused) {
  (void)unused;
  csi_log_set_sink(capture, NULL);
  struct csi_log_time before, after;
  csi_log_os_now(&before);
  CSI_LOG(WARNING, "disk %d", 3);
  int line_number = __LINE__ - 1;
  csi_log_os_now(&after);
  int month, day, hour, minute, second, microsecond, source_line;
  unsigned long process_id;
  char level, source[32], message[32];
  int fields = sscanf(captured, "%c%2d%2d %2d:%2d:%2d.%6d %lu %31[^:]:%d] %31[^\n]", &level, &month, &day,
                      &hour, &minute, &second, &microsecond, &process_id, source, &source_line, message);
  assert_int_equal(fields, 11);
  assert_int_equal(level, 'W');
  assert_true(month == before.month || month == after.month);
  assert_true(day == before.day || day == after.day);
  assert_true(hour == before.hour || hour == after.hour);
  assert_int_equal(process_id, csi_log_os_process_id());
  assert_string_equal(source, "log_test.c");
  assert_int_equal(source_line, line_number);
  assert_string_equal(message, "disk 3");
  assert_int_equal(captured_severity, CSI_SEVERITY_WARNING);
  /* Columns: the process number is padded to seven. */
  assert_int_equal(captured[5], ' ');
  assert_int_equal(captured[14], '.');
  assert_int_equal(captured[21], ' ');
  assert_int_equal(captured[29], ' ');
  assert_memory_equal(captured + 30, "log_test.c:", 11);
}

static void test_message_is_one_line(void **unused) {
  (void)unused;
  USE_FLAGS("-skip_headers");
  csi_log_set_sink(capture, NULL);
  CSI_LOG(INFO, "path %s", "a\nI0101 00:00:00 forged\x1B\xFF");
  assert_string_equal(captured, "path a\\nI0101 00:00:00 forged\\x1b\\xff\n");
}

static void test_long_message_is_cut(void **unused) {
  (void)unused;
  USE_FLAGS("-skip_headers");
  csi_log_set_sink(capture, NULL);
  static char euros[3 * 10000 + 1], controls[5000];
  for (size_t i = 0; i < 10000; i++)
    memcpy(euros + 3 * i, "\xE2\x82\xAC", 4);
  memset(controls, 1, sizeof controls - 1);
  const char *const texts[] = {euros, controls};
  for (size_t i = 0; i < COUNT(texts); i++) {
    captured[0] = '\0';
    CSI_LOG(INFO, "%s", texts[i]);
    size_t length = strlen(captured);
    assert_true(length > CSI_LOG_LINE_BYTES - 20 && length < CSI_LOG_LINE_BYTES);
    assert_string_equal(captured + length - 4, "...\n");
    assert_true(csi_utf8_is_valid(captured, length));
    assert_int_equal(count_lines(captured), 1);
  }
  assert_null(strstr(captured, "\\xe2"));
}

static void test_directory_of_the_source(void **unused) {
  (void)unused;
  USE_FLAGS("-add_dir_header");
  csi_log_set_sink(capture, NULL);
  csi_log_write(CSI_SEVERITY_INFO, "/home/x/src/disk/handlers.c", 7, "m");
  assert_non_null(strstr(captured, " disk/handlers.c:7] m\n"));
  csi_log_write(CSI_SEVERITY_INFO, "x.c", 8, "m");
  assert_non_null(strstr(captured, " x.c:8] m\n"));
  csi_log_write(CSI_SEVERITY_INFO, "C:\\src\\smb\\y.c", 9, "m");
  assert_non_null(strstr(captured, " smb\\y.c:9] m\n"));
}

/* --- Levels. --- */

static int evaluated;

static int evaluate(void) {
  return ++evaluated;
}

static void test_verbosity(void **unused) {
  (void)unused;
  USE_FLAGS("-v=3", "-skip_headers");
  csi_log_set_sink(capture, NULL);
  evaluated = 0;
  CSI_V(3, "three %d", evaluate());
  CSI_V(4, "four %d", evaluate());
  assert_string_equal(captured, "three 1\n");
  assert_int_equal(evaluated, 1);
  assert_true(CSI_V_IS_ON(0));
  assert_false(CSI_V_IS_ON(4));
}

static void test_verbosity_of_single_files(void **unused) {
  (void)unused;
  USE_FLAGS("-v=1", "-vmodule=handlers=5,log_*=4,pipe[0-9]=3,off=0,x?z=2");
  assert_true(CSI_V_IS_ON(4));
  assert_false(CSI_V_IS_ON(5));
  assert_true(csi_log_level_is_on(5, "/a/handlers.c"));
  assert_false(csi_log_level_is_on(2, "/a/handlers2.c"));
  assert_true(csi_log_level_is_on(1, "/a/other.c"));
  assert_true(csi_log_level_is_on(3, "C:\\a\\pipe7.cc"));
  assert_false(csi_log_level_is_on(3, "pipes.c"));
  assert_true(csi_log_level_is_on(2, "xyz.c"));
  assert_false(csi_log_level_is_on(2, "xz.c"));
  assert_true(csi_log_level_is_on(1, "off.c"));
  USE_FLAGS("-vmodule=[^a-c]*[x-]=2,a*b*c=3");
  assert_true(csi_log_level_is_on(2, "d-x.c"));
  assert_true(csi_log_level_is_on(2, "d-.c"));
  assert_false(csi_log_level_is_on(2, "a-x.c"));
  assert_true(csi_log_level_is_on(3, "a1b2b3c.c"));
  assert_false(csi_log_level_is_on(3, "a1b2b3d.c"));
  assert_int_equal(atomic_load(&csi_log_highest_level), 3);
}

static void test_bad_values_are_refused(void **unused) {
  (void)unused;
  assert_flag_refused("-v=x",
                      "invalid value \"x\" for flag -v: strconv.ParseInt: parsing \"x\": invalid syntax");
  assert_flag_refused("-v=99999999999",
                      "invalid value \"99999999999\" for flag -v: strconv.ParseInt: parsing \"99999999999\": "
                      "value out of range");
  static const char syntax[] = "syntax error: expect comma-separated list of filename=N";
  static const char *const bad[] = {"x", "=1", "x=", "x=-1", "x=1y", "a=1,b"};
  for (size_t i = 0; i < COUNT(bad); i++) {
    char argument[64], expected[256];
    (void)snprintf(argument, sizeof argument, "-vmodule=%s", bad[i]);
    (void)snprintf(expected, sizeof expected, "invalid value \"%s\" for flag -vmodule: %s", bad[i], syntax);
    assert_flag_refused(argument, expected);
  }
  assert_flag_refused("-log_backtrace_at=x.c",
                      "invalid value \"x.c\" for flag -log_backtrace_at: syntax error: expect file.c:234");
  assert_flag_refused("-log_backtrace_at=x.c:0",
                      "invalid value \"x.c:0\" for flag -log_backtrace_at: syntax error: expect file.c:234");
  assert_flag_refused("-stderrthreshold=LOUD", "invalid value \"LOUD\" for flag -stderrthreshold: "
                                               "strconv.ParseInt: parsing \"LOUD\": invalid syntax");
  USE_FLAGS("-stderrthreshold=warning", "-alsologtostderrthreshold=2", "-vmodule=a=1,,b=2,");
}

static void test_backtrace_at_one_line(void **unused) {
  (void)unused;
  USE_FLAGS("-log_backtrace_at=some.c:42", "-skip_headers");
  csi_log_set_sink(capture, NULL);
  csi_log_write(CSI_SEVERITY_INFO, "/x/some.c", 41, "no");
  csi_log_write(CSI_SEVERITY_INFO, "/x/awesome.c", 42, "no");
  assert_string_equal(captured, "no\nno\n");
  csi_log_write(CSI_SEVERITY_INFO, "/x/some.c", 42, "yes");
  assert_memory_equal(captured, "no\nno\nyes\ncalled from: ", 22);
}

/* --- Files. --- */

static void test_single_file(void **unused) {
  (void)unused;
  USE_FLAGS("-logtostderr=false", log_file_flag("x.log"), "-stderrthreshold=FATAL");
  open_log();
  CSI_LOG(INFO, "one");
  CSI_LOG(WARNING, "two");
  CSI_LOG(INFO, "three");
  csi_log_close();
  char *text = read_text(in_directory("x.log"));
  assert_memory_equal(text, "Log file created at: ", 21);
  assert_non_null(strstr(text, "\nRunning on machine: "));
  assert_non_null(strstr(text, "\nBinary: Built with "));
  assert_non_null(strstr(text, "\nLog line format: [IWEF]mmdd hh:mm:ss.uuuuuu threadid file:line] msg\nI"));
  assert_non_null(strstr(text, "] one\nW"));
  assert_non_null(strstr(text, "] two\nI"));
  assert_non_null(strstr(text, "] three\n"));
  assert_int_equal(count_lines(text), 7);
}

static void test_restart_appends(void **unused) {
  (void)unused;
  for (int i = 0; i < 2; i++) {
    USE_FLAGS("-logtostderr=false", log_file_flag("x.log"), "-skip_log_headers", "-skip_headers");
    open_log();
    CSI_LOG(INFO, "start %d", i);
    csi_log_close();
  }
  assert_string_equal(read_text(in_directory("x.log")), "start 0\nstart 1\n");
}

static void test_warnings_are_flushed_at_once(void **unused) {
  (void)unused;
  USE_FLAGS("-logtostderr=false", log_file_flag("x.log"), "-skip_log_headers", "-skip_headers",
            "-stderrthreshold=FATAL");
  open_log();
  CSI_LOG(INFO, "quiet");
  assert_string_equal(read_text(in_directory("x.log")), "");
  CSI_LOG(WARNING, "loud");
  assert_string_equal(read_text(in_directory("x.log")), "quiet\nloud\n");
  CSI_LOG(INFO, "more");
  csi_log_flush();
  assert_string_equal(read_text(in_directory("x.log")), "quiet\nloud\nmore\n");
}

static void test_information_is_flushed_soon(void **unused) {
  (void)unused;
  USE_FLAGS("-logtostderr=false", log_file_flag("x.log"), "-skip_log_headers", "-skip_headers");
  open_log();
  CSI_LOG(INFO, "patience");
  const char *text = "";
  for (int tenths = 0; tenths < 100 && text[0] == '\0'; tenths++) {
    (void)usleep(100000);
    text = read_text(in_directory("x.log"));
  }
  assert_string_equal(text, "patience\n");
}

static void test_unusable_file_is_an_error(void **unused) {
  (void)unused;
  USE_FLAGS("-logtostderr=false", log_file_flag("no/such/x.log"));
  struct csi_status status = {.code = CSI_OK};
  assert_false(csi_log_open("log-test", &status));
  assert_int_equal(status.code, CSI_NOT_FOUND);
  assert_non_null(strstr(status.text, "open "));
  assert_non_null(strstr(status.text, "x.log: "));
}

static void test_file_is_ignored_with_stderr(void **unused) {
  (void)unused;
  USE_FLAGS("-logtostderr=true", log_file_flag("x.log"));
  open_log();
  assert_int_equal(find_names("x.log").count, 0);
}

/* Logs lines of 1024 bytes. */
static void fill(unsigned kilobytes, unsigned number) {
  char line[1021];
  memset(line, 'a', sizeof line);
  line[sizeof line - 1] = '\0';
  for (unsigned i = 0; i < kilobytes; i++)
    CSI_LOG(INFO, "%03u %s", number, line + 1);
}

static void test_full_file_is_kept_under_another_name(void **unused) {
  (void)unused;
  USE_FLAGS("-logtostderr=false", log_file_flag("x.y.log"), "-skip_log_headers", "-skip_headers",
            "-log_file_max_size=1", "-log_file_max_backups=2");
  open_log();
  fill(1024, 1); /* fits exactly */
  fill(1, 2);
  csi_log_flush();
  assert_int_equal(find_names("x.y.").count, 2);
  struct name_search backup = find_names("x.y.2");
  assert_int_equal(backup.count, 1);
  unsigned date, time_of_day;
  char extension[16];
  assert_int_equal(sscanf(backup.last, "x.y.%8u-%6u%15s", &date, &time_of_day, extension), 3);
  assert_string_equal(extension, ".log");
  assert_memory_equal(read_text(in_directory(backup.last)), "001 a", 5);
  struct stat information;
  assert_int_equal(stat(in_directory(backup.last), &information), 0);
  assert_true(information.st_size <= 1024 * 1024 && information.st_size > 1023 * 1024);

  for (unsigned i = 3; i < 6; i++)
    fill(1024, i);
  csi_log_flush();
  assert_int_equal(find_names("x.y.2").count, 2);
  assert_memory_equal(read_text(in_directory("x.y.log")), "005 a", 5);
  assert_int_equal(stat(in_directory(backup.last), &information), -1); /* the oldest one went */
}

/* More about age: log_file_test.c. */
static void test_old_file_is_kept_under_another_name(void **unused) {
  (void)unused;
  USE_FLAGS("-logtostderr=false", log_file_flag("x.log"), "-skip_log_headers", "-skip_headers",
            "-log_file_max_size=1", "-log_file_max_backups=0", "-log_file_max_age=1ms");
  open_log();
  CSI_LOG(INFO, "old");
  (void)usleep(20000);
  CSI_LOG(INFO, "new");
  csi_log_close();
  USE_FLAGS("-log_file_max_age=0");
  assert_string_equal(read_text(in_directory("x.log")), "new\n");
  assert_string_equal(read_text(in_directory(find_names("x.2").last)), "old\n");
}

static void test_all_backups_are_kept_when_asked(void **unused) {
  (void)unused;
  USE_FLAGS("-logtostderr=false", log_file_flag("x.log"), "-skip_headers", "-log_file_max_size=1",
            "-log_file_max_backups=0");
  (void)fclose(fopen(in_directory("x.20000101-000000.txt"), "wb"));
  open_log();
  for (unsigned i = 0; i < 4; i++)
    fill(1024, i);
  csi_log_close();
  assert_int_equal(find_names("x.2").count, 5);
}

static void test_foreign_files_are_not_deleted(void **unused) {
  (void)unused;
  static const char *const foreign[] = {"x.20000101-000000.txt",  "x.2000010-000000.log",
                                        "y.20000101-000000.log",  "x.20000101-000000-.log",
                                        "xx.20000101-000000.log", "x.log.1"};
  for (size_t i = 0; i < COUNT(foreign); i++)
    (void)fclose(fopen(in_directory(foreign[i]), "wb"));
  (void)fclose(fopen(in_directory("x.20000101-000000.log"), "wb"));
  (void)fclose(fopen(in_directory("x.20000101-000000-10.log"), "wb"));
  USE_FLAGS("-logtostderr=false", log_file_flag("x.log"), "-skip_headers", "-log_file_max_size=1",
            "-log_file_max_backups=1");
  open_log();
  fill(1100, 0);
  csi_log_close();
  for (size_t i = 0; i < COUNT(foreign); i++)
    assert_int_equal(find_names(foreign[i]).count, 1);
  assert_int_equal(find_names("x.20000101-000000.log").count, 1); /* the one of xx */
  assert_int_equal(find_names("x.20000101-000000-10.log").count, 0);
}

static void test_one_file_per_severity(void **unused) {
  (void)unused;
  char flag[PATH_BYTES * 2];
  (void)snprintf(flag, sizeof flag, "-log_dir=%s", directory);
  USE_FLAGS("-logtostderr=false", flag, "-skip_log_headers", "-skip_headers", "-stderrthreshold=FATAL");
  open_log();
  CSI_LOG(INFO, "i");
  assert_int_equal(find_names("log-test.").count, 1);
  CSI_LOG(ERROR, "e");
  CSI_LOG(WARNING, "w");
  csi_log_close();
  assert_string_equal(read_text(in_directory(find_names(".log.INFO.").last)), "i\ne\nw\n");
  assert_string_equal(read_text(in_directory(find_names(".log.WARNING.").last)), "e\nw\n");
  assert_string_equal(read_text(in_directory(find_names(".log.ERROR.").last)), "e\n");
  assert_int_equal(find_names(".log.FATAL.").count, 0);
  char process_id[32];
  (void)snprintf(process_id, sizeof process_id, ".%lu", csi_log_os_process_id());
  const char *name = find_names(".log.INFO.").last;
  assert_non_null(strstr(name, process_id));
}

static void test_one_output(void **unused) {
  (void)unused;
  char flag[PATH_BYTES * 2];
  (void)snprintf(flag, sizeof flag, "-log_dir=%s", directory);
  USE_FLAGS("-logtostderr=false", flag, "-skip_log_headers", "-skip_headers", "-one_output",
            "-stderrthreshold=FATAL");
  open_log();
  CSI_LOG(ERROR, "e");
  CSI_LOG(INFO, "i");
  csi_log_close();
  assert_string_equal(read_text(in_directory(find_names(".log.INFO.").last)), "i\n");
  assert_string_equal(read_text(in_directory(find_names(".log.ERROR.").last)), "e\n");
  assert_int_equal(find_names(".log.WARNING.").count, 0);
}

/* --- Threads. --- */

enum {
  THREADS = 4,
  LINES = 500,
};

static void *log_lines(void *data) {
  for (int i = 0; i < LINES; i++)
    CSI_LOG(INFO, "thread %d line %d", *(int *)data, i);
  return NULL;
}

static void test_lines_of_threads_do_not_mix(void **unused) {
  (void)unused;
  USE_FLAGS("-logtostderr=false", log_file_flag("x.log"), "-skip_log_headers", "-skip_headers");
  open_log();
  pthread_t threads[THREADS];
  int numbers[THREADS], next[THREADS] = {0};
  for (int i = 0; i < THREADS; i++) {
    numbers[i] = i;
    assert_int_equal(pthread_create(&threads[i], NULL, log_lines, &numbers[i]), 0);
  }
  for (int i = 0; i < THREADS; i++)
    (void)pthread_join(threads[i], NULL);
  csi_log_close();
  for (char *at = read_text(in_directory("x.log")); *at != '\0'; at = strchr(at, '\n') + 1) {
    int thread, line, end = 0;
    assert_int_equal(sscanf(at, "thread %d line %d%n", &thread, &line, &end), 2);
    assert_int_equal(at[end], '\n');
    assert_int_equal(line, next[thread]++);
  }
  for (int i = 0; i < THREADS; i++)
    assert_int_equal(next[i], LINES);
}

/* --- Standard error and the end of the process; both need a process of their own. --- */

#if !defined(_WIN32)
struct outcome {
  int exit_code;
  char *errors;
};

static struct outcome run_apart(void (*action)(void)) {
  const char *path = in_directory("stderr");
  pid_t child = fork();
  if (child == 0) {
    if (freopen(path, "w", stderr) == NULL) _Exit(99);
    action();
    csi_log_close();
    _Exit(0);
  }
  int result = -1;
  assert_int_equal(waitpid(child, &result, 0), child);
  return (struct outcome){.exit_code = WIFEXITED(result) ? WEXITSTATUS(result) : -1,
                          .errors = read_text(path)};
}

static void log_all(void) {
  struct csi_status status = {.code = CSI_OK};
  if (!csi_log_open("log-test", &status)) _Exit(98);
  CSI_LOG(INFO, "i");
  CSI_LOG(WARNING, "w");
  CSI_LOG(ERROR, "e");
}

static void assert_stderr(const char *expected) {
  struct outcome outcome = run_apart(log_all);
  assert_int_equal(outcome.exit_code, 0);
  assert_string_equal(outcome.errors, expected);
}

static void test_what_goes_to_stderr(void **unused) {
  (void)unused;
  USE_FLAGS("-skip_headers");
  assert_stderr("i\nw\ne\n");
  USE_FLAGS("-skip_headers", "-stderrthreshold=WARNING");
  assert_stderr("i\nw\ne\n");
  USE_FLAGS("-skip_headers", "-stderrthreshold=WARNING", "-legacy_stderr_threshold_behavior=false");
  assert_stderr("w\ne\n");
  USE_FLAGS("-skip_headers", "-logtostderr=false", log_file_flag("x.log"));
  assert_stderr("e\n");
  USE_FLAGS("-skip_headers", "-logtostderr=false", log_file_flag("x.log"), "-alsologtostderr");
  assert_stderr("i\nw\ne\n");
  USE_FLAGS("-skip_headers", "-logtostderr=false", log_file_flag("x.log"), "-alsologtostderr",
            "-alsologtostderrthreshold=1");
  assert_stderr("w\ne\n");
}

static void log_without_stderr(void) {
  (void)close(STDERR_FILENO);
  log_all();
}

static void test_works_without_stderr(void **unused) {
  (void)unused;
  USE_FLAGS("-skip_headers", "-skip_log_headers", "-logtostderr=false", log_file_flag("x.log"),
            "-alsologtostderr");
  assert_int_equal(run_apart(log_without_stderr).exit_code, 0);
  /* The log file got descriptor 2 here: every line stands in it twice, and none is lost. */
  assert_non_null(strstr(read_text(in_directory("x.log")), "i\n"));
  assert_non_null(strstr(read_text(in_directory("x.log")), "e\n"));
}

static void log_fatally(void) {
  struct csi_status status = {.code = CSI_OK};
  if (!csi_log_open("log-test", &status)) _Exit(98);
  CSI_LOG(INFO, "before");
  CSI_LOG(FATAL, "the end");
  CSI_LOG(INFO, "after");
}

static void test_fatal_ends_the_process(void **unused) {
  (void)unused;
  USE_FLAGS("-skip_headers", "-skip_log_headers", "-logtostderr=false", log_file_flag("x.log"));
  struct outcome outcome = run_apart(log_fatally);
  assert_int_equal(outcome.exit_code, 255);
  static const char expected[] = "before\nthe end\ncalled from: 0x";
  assert_memory_equal(read_text(in_directory("x.log")), expected, sizeof expected - 1);
  assert_null(strstr(read_text(in_directory("x.log")), "after"));
  assert_memory_equal(outcome.errors, "the end\n", 8);
}

static void log_to_full_disk(void) {
  struct csi_status status = {.code = CSI_OK};
  if (!csi_log_open("log-test", &status)) _Exit(98);
  for (int i = 0; i < 20000; i++)
    CSI_LOG(WARNING, "nobody reads this");
}

static void test_full_disk_does_no_harm(void **unused) {
  (void)unused;
  USE_FLAGS("-logtostderr=false", "-log_file=/dev/full", "-stderrthreshold=FATAL");
  assert_int_equal(run_apart(log_to_full_disk).exit_code, 0);
}
#endif

static const char *temporary_directory(void) {
  static char path[PATH_BYTES / 2];
  csi_log_os_temp_directory(path, sizeof path);
  return path;
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
    TEST(test_line_format),
    TEST(test_message_is_one_line),
    TEST(test_long_message_is_cut),
    TEST(test_directory_of_the_source),
    TEST(test_verbosity),
    TEST(test_verbosity_of_single_files),
    TEST(test_bad_values_are_refused),
    TEST(test_backtrace_at_one_line),
    TEST(test_single_file),
    TEST(test_restart_appends),
    TEST(test_warnings_are_flushed_at_once),
    TEST(test_information_is_flushed_soon),
    TEST(test_unusable_file_is_an_error),
    TEST(test_file_is_ignored_with_stderr),
    TEST(test_full_file_is_kept_under_another_name),
    TEST(test_old_file_is_kept_under_another_name),
    TEST(test_all_backups_are_kept_when_asked),
    TEST(test_foreign_files_are_not_deleted),
    TEST(test_one_file_per_severity),
    TEST(test_one_output),
    TEST(test_lines_of_threads_do_not_mix),
#if !defined(_WIN32)
    TEST(test_what_goes_to_stderr),
    TEST(test_works_without_stderr),
    TEST(test_fatal_ends_the_process),
    TEST(test_full_disk_does_no_harm),
#endif
  };
  (void)snprintf(directory, sizeof directory, "%s/csi-log-test-%lu", temporary_directory(),
                 csi_log_os_process_id());
  if (make_directory(directory) != 0) return 1;
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  empty_directory();
  (void)rmdir(directory);
  return failed;
}
