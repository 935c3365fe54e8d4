/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include <cmocka.h>

#include "metrics/process.h"

static void facts_are_about_this_process(void **unused) {
  (void)unused;
  struct csi_process_facts facts;
  assert_true(csi_process_facts(&facts));
  int64_t now_ms = (int64_t)time(NULL) * 1000;
  assert_in_range(now_ms - facts.start_unix_ms + 5000, 0, 3600 * 1000);
  assert_in_range(facts.threads, 1, 100);
  assert_true(facts.resident_bytes > 100 * 1024);
  assert_true(facts.private_bytes > 100 * 1024);
  assert_true(facts.handles_max >= facts.handles);
}

static void an_open_file_counts(void **unused) {
  (void)unused;
  struct csi_process_facts before, after;
  assert_true(csi_process_facts(&before));
  FILE *file = tmpfile();
  assert_non_null(file);
  assert_true(csi_process_facts(&after));
  fclose(file);
  if (after.handles == 0) {
    print_message("SKIP an_open_file_counts: Wine does not count handles\n");
    skip();
  }
  assert_int_equal(after.handles, before.handles + 1);
}

static void work_costs_time(void **unused) {
  (void)unused;
  struct csi_process_facts before, after;
  assert_true(csi_process_facts(&before));
  after = before;
  while (after.cpu_ns == before.cpu_ns) {
    for (volatile int i = 0; i < 1000000; i++)
      continue;
    assert_true(csi_process_facts(&after));
  }
  assert_true(after.cpu_ns > before.cpu_ns);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(facts_are_about_this_process),
      cmocka_unit_test(an_open_file_counts),
      cmocka_unit_test(work_costs_time),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
