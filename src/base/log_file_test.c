/* SPDX-License-Identifier: Apache-2.0
 *
 * Rotation by age, with a clock of our own. Rotation by size, and the files' names: log_test.c.
 */
#include "base/log_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#if !defined(_WIN32)
#include <signal.h>
#include <sys/resource.h>
#endif

#include "base/log_os.h"
#include "base/text.h"

enum {
  PATH_BYTES = 512,
};

static const int64_t hour_ms = 3600 * 1000;

static char directory[PATH_BYTES];
static char stem[64];
static int64_t clock_ms;

static int64_t fake_clock(void) {
  return clock_ms;
}

static size_t header(char *out, size_t out_bytes) {
  return (size_t)snprintf(out, out_bytes, "header\n");
}

static size_t loss(char *out, size_t out_bytes, uint64_t lost_bytes) {
  return (size_t)snprintf(out, out_bytes, "lost %u\n", (unsigned)lost_bytes);
}

static void set_up_file(struct csi_log_file *file) {
  *file = (struct csi_log_file){.limit_bytes = UINT64_MAX,
                                .max_age_ms = hour_ms,
                                .header = header,
                                .loss = loss,
                                .unix_ms = fake_clock};
  (void)snprintf(file->path, sizeof file->path, "%s%c%s.log", directory, CSI_LOG_OS_SEPARATOR, stem);
}

static void open_file(struct csi_log_file *file) {
  struct csi_status status = {0};
  set_up_file(file);
  assert_true(csi_log_file_open(file, &status));
}

static void write_line(struct csi_log_file *file, const char *line) {
  csi_log_file_write(file, line, strlen(line));
}

static void count_name(void *data, const char *name) {
  unsigned *count = data;
  *count += strncmp(name, stem, strlen(stem)) == 0;
}

static unsigned count_files(void) {
  unsigned count = 0;
  csi_log_os_each_name(directory, count_name, &count);
  return count;
}

static void remove_ours(void *data, const char *name) {
  char path[PATH_BYTES * 2];
  (void)data;
  if (strncmp(name, stem, strlen(stem)) != 0) return;
  (void)snprintf(path, sizeof path, "%s%c%s", directory, CSI_LOG_OS_SEPARATOR, name);
  csi_log_os_remove(path);
}

static int set_up(void **unused) {
  (void)unused;
  csi_log_os_temp_directory(directory, sizeof directory);
  size_t length = strlen(directory);
  if (length > 0 && directory[length - 1] == CSI_LOG_OS_SEPARATOR) directory[length - 1] = '\0';
  (void)snprintf(stem, sizeof stem, "csi-log-file-test-%lu", csi_log_os_process_id());
  clock_ms = csi_log_os_unix_ms();
  return 0;
}

static int tear_down(void **unused) {
  (void)unused;
  csi_log_os_each_name(directory, remove_ours, NULL);
  return 0;
}

static void assert_content(const struct csi_log_file *file, const char *expected) {
  char text[256];
  FILE *stream = fopen(file->path, "rb");
  assert_non_null(stream);
  text[fread(text, 1, sizeof text - 1, stream)] = '\0';
  (void)fclose(stream);
  assert_string_equal(text, expected);
}

static void test_old_file_is_renamed_with_the_next_line(void **unused) {
  (void)unused;
  struct csi_log_file file;
  open_file(&file);
  write_line(&file, "first\n");
  clock_ms += hour_ms - 1;
  write_line(&file, "second\n");
  assert_int_equal(count_files(), 1);
  clock_ms += 1;
  csi_log_file_flush(&file); /* nobody renames a file in which nothing happens */
  assert_int_equal(count_files(), 1);
  write_line(&file, "third\n");
  csi_log_file_flush(&file);
  assert_int_equal(count_files(), 2);
  assert_content(&file, "header\nthird\n");

  clock_ms += hour_ms - 1; /* the new one is as young as it is */
  write_line(&file, "fourth\n");
  assert_int_equal(count_files(), 2);
  csi_log_file_close(&file);
}

static void test_empty_file_is_not_renamed(void **unused) {
  (void)unused;
  struct csi_log_file file;
  open_file(&file);
  clock_ms += 5 * hour_ms;
  write_line(&file, "first\n");
  assert_int_equal(count_files(), 1);
  csi_log_file_close(&file);
}

/* The age is that of the file, not of the program. */
static void test_age_survives_a_restart(void **unused) {
  (void)unused;
  struct csi_log_file file;
  open_file(&file);
  write_line(&file, "first\n");
  csi_log_file_close(&file);

  clock_ms += hour_ms / 2;
  open_file(&file);
  write_line(&file, "second\n");
  csi_log_file_close(&file);
  assert_int_equal(count_files(), 1);

  clock_ms += hour_ms / 2 + 60 * 1000; /* the real clock has gone on by less than that */
  open_file(&file);
  write_line(&file, "third\n");
  csi_log_file_close(&file);
  assert_int_equal(count_files(), 2);
  assert_content(&file, "header\nthird\n");
}

static void test_no_age_no_rotation(void **unused) {
  (void)unused;
  struct csi_log_file file;
  struct csi_status status = {0};
  set_up_file(&file);
  file.max_age_ms = 0;
  assert_true(csi_log_file_open(&file, &status));
  write_line(&file, "first\n");
  clock_ms += 10000 * hour_ms;
  write_line(&file, "second\n");
  assert_int_equal(count_files(), 1);
  csi_log_file_close(&file);
}

static void test_backups_are_counted(void **unused) {
  (void)unused;
  struct csi_log_file file;
  open_file(&file);
  file.max_backups = 2;
  for (int i = 0; i < 5; i++) {
    write_line(&file, "line\n");
    clock_ms += hour_ms;
  }
  csi_log_file_close(&file);
  assert_int_equal(count_files(), 3);
}

/* A clock that is set back does not make a file old. */
static void test_clock_set_back(void **unused) {
  (void)unused;
  struct csi_log_file file;
  open_file(&file);
  write_line(&file, "first\n");
  clock_ms -= 10 * hour_ms;
  write_line(&file, "second\n");
  assert_int_equal(count_files(), 1);
  csi_log_file_close(&file);
}

static void each_taken_name(void (*visit)(const char *path)) {
  struct csi_log_time now;
  csi_log_os_now(&now);
  for (int second = 0; second < 60; second++)
    for (int attempt = 1; attempt <= 100; attempt++) {
      char path[PATH_BYTES * 2], number[16] = "";
      if (attempt > 1) (void)snprintf(number, sizeof number, "-%d", attempt);
      (void)snprintf(path, sizeof path, "%s%c%s.%04d%02d%02d-%02d%02d%02d%s.log", directory,
                     CSI_LOG_OS_SEPARATOR, stem, now.year, now.month, now.day, now.hour, now.minute, second,
                     number);
      visit(path);
    }
}

static void take(const char *path) {
  FILE *stream = fopen(path, "wb");
  assert_non_null(stream);
  (void)fclose(stream);
}

/* When the file cannot be renamed it goes on, and is tried again after an eighth of the age. Every name it
 * could get is taken, for the minute in which the test runs. */
static void test_rename_that_fails(void **unused) {
  (void)unused;
  struct csi_log_file file;
  struct csi_log_time now;
  csi_log_os_now(&now);
  while (now.second > 50) { /* the minute is about to end */
    (void)usleep(200000);
    csi_log_os_now(&now);
  }
  open_file(&file);
  write_line(&file, "first\n");
  each_taken_name(take);
  const unsigned taken = count_files();
  clock_ms += hour_ms;
  write_line(&file, "second\n");
  assert_int_equal(count_files(), taken);
  each_taken_name(csi_log_os_remove);
  write_line(&file, "third\n");
  assert_int_equal(count_files(), 1);
  clock_ms += hour_ms / 8;
  write_line(&file, "fourth\n");
  assert_int_equal(count_files(), 2);
  csi_log_file_close(&file);
  assert_content(&file, "header\nfourth\n");
}

/* A file of an earlier run that ended in the middle of a line. */
static void test_cut_line_is_ended(void **unused) {
  (void)unused;
  struct csi_log_file file;
  set_up_file(&file);
  file.header = NULL;
  FILE *stream = fopen(file.path, "wb");
  assert_non_null(stream);
  assert_true(fputs("whole\nhal", stream) >= 0);
  assert_int_equal(fclose(stream), 0);
  struct csi_status status = {0};
  for (int i = 0; i < 2; i++) {
    assert_true(csi_log_file_open(&file, &status));
    write_line(&file, "next\n");
    csi_log_file_close(&file);
  }
  assert_content(&file, "whole\nhal\nnext\nnext\n");
}

#if !defined(_WIN32)
static void allow_file_bytes(rlim_t bytes) {
  struct rlimit limit;
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
  limit.rlim_cur = bytes;
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* A disk that takes up to `room` bytes, and after three flushes everything. */
static void fill_disk(struct csi_log_file *file, rlim_t room) {
  struct csi_status status = {0};
  set_up_file(file);
  file->header = NULL;
  (void)signal(SIGXFSZ, SIG_IGN);
  assert_true(csi_log_file_open(file, &status));
  allow_file_bytes(room);
  for (int i = 0; i < 3; i++) {
    write_line(file, "0123456\n");
    write_line(file, "abcdefg\n");
    csi_log_file_flush(file);
  }
  allow_file_bytes(RLIM_INFINITY);
}

/* Wherever the disk was full: no line is cut or glued to another, and what is missing is told where it is. */
static void test_full_disk(void **unused) {
  (void)unused;
  for (rlim_t room = 0; room <= 70; room++) {
    struct csi_log_file file;
    const uint64_t all_before = csi_log_file_lost_bytes();
    fill_disk(&file, room);
    write_line(&file, "last\n");
    csi_log_file_flush(&file);
    assert_int_equal(file.lost_bytes, 0);
    csi_log_file_close(&file);

    FILE *stream = fopen(file.path, "rb");
    assert_non_null(stream);
    char text[64];
    uint64_t written = 0, told = 0;
    bool last = false;
    while (fgets(text, sizeof text, stream)) {
      last = strcmp(text, "last\n") == 0;
      if (strncmp(text, "lost ", 5) == 0)
        told += strtoull(text + 5, NULL, 10);
      else if (strcmp(text, "0123456\n") == 0 || strcmp(text, "abcdefg\n") == 0)
        written += 8;
      else if (!last)
        fail_msg("room for %u bytes: \"%s\"", (unsigned)room, text);
    }
    assert_true(last);
    (void)fclose(stream);
    assert_int_equal(written + told, 48);
    assert_int_equal(csi_log_file_lost_bytes() - all_before, told);
    csi_log_os_remove(file.path);
  }
}

/* Nothing is left that could be told in the file: the counter has it. */
static void test_disk_full_until_the_end(void **unused) {
  (void)unused;
  for (rlim_t room = 0; room <= 20; room++) {
    struct csi_log_file file;
    const uint64_t all_before = csi_log_file_lost_bytes();
    fill_disk(&file, 0);
    const uint64_t before_close = csi_log_file_lost_bytes() - all_before;
    assert_int_equal(before_close, 48);
    write_line(&file, "last\n");
    allow_file_bytes(room);
    csi_log_file_close(&file);
    allow_file_bytes(RLIM_INFINITY);
    uint64_t size = 0;
    FILE *stream = fopen(file.path, "rb");
    assert_non_null(stream);
    while (fgetc(stream) != EOF)
      size++;
    (void)fclose(stream);
    const uint64_t note = strlen("lost 48\n"), whole = note + strlen("last\n");
    const uint64_t missing = size >= note ? whole - size : strlen("last\n");
    assert_int_equal(csi_log_file_lost_bytes() - all_before, 48 + missing);
    csi_log_os_remove(file.path);
  }
}
#endif

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
    TEST(test_old_file_is_renamed_with_the_next_line),
    TEST(test_empty_file_is_not_renamed),
    TEST(test_age_survives_a_restart),
    TEST(test_no_age_no_rotation),
    TEST(test_backups_are_counted),
    TEST(test_clock_set_back),
    TEST(test_rename_that_fails),
    TEST(test_cut_line_is_ended),
#if !defined(_WIN32)
    TEST(test_full_disk),
    TEST(test_disk_full_until_the_end),
#endif
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
