/* SPDX-License-Identifier: Apache-2.0
 *
 * Answers that are shorter than the structure: of a pipe, about what is in it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "win32/device_query.h"

#include <winioctl.h>

enum {
  ARENA_BYTES = 64 * 1024,
};

static const struct csi_control peek = {
    CTL_CODE(FILE_DEVICE_NAMED_PIPE, 3, METHOD_BUFFERED, FILE_READ_ACCESS), "FSCTL_PIPE_PEEK"};

/* FILE_PIPE_PEEK_BUFFER. */
struct answer {
  ULONG pipe_state, available_bytes, message_count, message_bytes;
  uint8_t data[4];
};

static void test_short_answers(void **unused) {
  (void)unused;
  struct csi_ctx ctx = {.arena = csi_arena_new(ARENA_BYTES), .deadline_ns = CSI_NO_DEADLINE};
  assert_non_null(ctx.arena);
  HANDLE in, out;
  DWORD written;
  struct answer answer;
  assert_true(CreatePipe(&in, &out, NULL, 0));
  assert_true(WriteFile(out, "ab", 2, &written, NULL));
  size_t short_bytes = offsetof(struct answer, data) + 2;

  memset(&answer, 0xFF, sizeof answer);
  if (!csi_device_query(&ctx, in, peek, &answer, sizeof answer, short_bytes, "disk 3"))
    fail_msg("%s", ctx.status.text);
  assert_int_equal(answer.available_bytes, 2);
  assert_memory_equal(answer.data, "ab\0\0", sizeof answer.data);

  assert_false(csi_device_query(&ctx, in, peek, &answer, sizeof answer, sizeof answer, "disk 3"));
  assert_int_equal(ctx.status.code, CSI_DATA_LOSS);
  assert_string_equal(ctx.status.text, "disk 3: FSCTL_PIPE_PEEK returned 18 bytes instead of 20");
  CloseHandle(in);
  CloseHandle(out);
  csi_arena_free(ctx.arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_short_answers)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
