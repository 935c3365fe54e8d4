/* SPDX-License-Identifier: Apache-2.0
 *
 * Device calls against what hangs like a device: a pipe that nobody writes to.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/call_timing.h"
#include "win32/device.h"

#include <winioctl.h>

enum {
  ARENA_BYTES = 64 * 1024,
  NS_PER_MS = 1000000,
};

#define PIPE_NAME L"\\\\.\\pipe\\csi-proxy-device-test"

static struct csi_ctx ctx;
static atomic_bool cancelled;

static int set_up(void **state) {
  (void)state;
  atomic_store(&cancelled, false);
  ctx = (struct csi_ctx){
      .arena = csi_arena_new(ARENA_BYTES), .deadline_ns = CSI_NO_DEADLINE, .cancelled = &cancelled};
  assert_non_null(ctx.arena);
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  csi_arena_free(ctx.arena);
  return 0;
}

static int64_t in_ms(int64_t ms) {
  return csi_now_ns() + ms * NS_PER_MS;
}

/* Both ends of a pipe. */
struct ends {
  HANDLE server, client;
};

static struct ends open_pipe(void) {
  struct ends ends;
  ends.server = CreateNamedPipeW(PIPE_NAME, PIPE_ACCESS_DUPLEX, PIPE_TYPE_BYTE, 1, 4096, 4096, 0, NULL);
  assert_ptr_not_equal(ends.server, INVALID_HANDLE_VALUE);
  assert_true(csi_device_open(&ctx, PIPE_NAME, GENERIC_READ | GENERIC_WRITE, "the pipe", &ends.client));
  return ends;
}

static void close_pipe(struct ends *ends) {
  CloseHandle(ends->client);
  CloseHandle(ends->server);
}

static void test_a_read_that_hangs_ends_with_the_deadline(void **unused) {
  (void)unused;
  struct ends ends = open_pipe();
  char bytes[8];
  int64_t begin_ns = csi_now_ns();
  ctx.deadline_ns = begin_ns + 500 * (int64_t)NS_PER_MS;
  assert_false(csi_device_read(&ctx, ends.client, 0, bytes, sizeof bytes, "disk 3"));
  int64_t took_ms = (csi_now_ns() - begin_ns) / NS_PER_MS;
  assert_in_range(took_ms, 490, 2000);
  assert_int_equal(ctx.status.code, CSI_DEADLINE_EXCEEDED);
  assert_non_null(strstr(ctx.status.text, "disk 3: ReadFile did not answer within 0."));
  close_pipe(&ends);
}

static void test_a_control_that_hangs_ends_with_its_limit(void **unused) {
  (void)unused;
  HANDLE server = CreateNamedPipeW(PIPE_NAME, PIPE_ACCESS_DUPLEX, PIPE_TYPE_BYTE, 1, 4096, 4096, 0, NULL);
  assert_ptr_not_equal(server, INVALID_HANDLE_VALUE);
  static const struct csi_control listen = {CTL_CODE(FILE_DEVICE_NAMED_PIPE, 2, METHOD_BUFFERED, 0),
                                            "FSCTL_PIPE_LISTEN"};
  assert_false(csi_device_control_for(&ctx, server, listen, NULL, 0, NULL, 0, NULL, "disk 3", 300));
  assert_int_equal(ctx.status.code, CSI_DEADLINE_EXCEEDED);
  assert_string_equal(ctx.status.text, "disk 3: FSCTL_PIPE_LISTEN did not answer within 0.3 s");
  assert_string_equal(ctx.status.call, "FSCTL_PIPE_LISTEN");
  CloseHandle(server);
}

static DWORD WINAPI go_away(void *unused) {
  (void)unused;
  Sleep(200);
  atomic_store(&cancelled, true);
  return 0;
}

static void test_a_client_that_goes_away_ends_the_call(void **unused) {
  (void)unused;
  struct ends ends = open_pipe();
  char bytes[8];
  HANDLE thread = CreateThread(NULL, 0, go_away, NULL, 0, NULL);
  int64_t begin_ns = csi_now_ns();
  assert_false(csi_device_read(&ctx, ends.client, 0, bytes, sizeof bytes, "disk 3"));
  assert_in_range((csi_now_ns() - begin_ns) / NS_PER_MS, 150, 2000);
  assert_int_equal(ctx.status.code, CSI_CANCELLED);
  assert_string_equal(ctx.status.text, "disk 3: ReadFile was given up: the request was cancelled");
  WaitForSingleObject(thread, INFINITE);
  CloseHandle(thread);
  close_pipe(&ends);
}

/* What a device looks like that ignores cancellation. */
static DWORD WINAPI hang(void *let_go) {
  struct csi_ctx own = {.deadline_ns = CSI_NO_DEADLINE};
  struct csi_device_watch watch;
  if (!csi_device_watch_begin_on(&own, &watch, 100, "ReadFile", "disk 3")) return 1;
  WaitForSingleObject(let_go, INFINITE);
  return csi_device_watch_end(&watch, false) ? 0 : 2;
}

/* Whether a call on the object is refused; else it finds that there is no such device. */
static bool is_refused(const char *object) {
  HANDLE handle = NULL;
  csi_status_clear(&ctx.status);
  assert_false(csi_device_open(&ctx, L"\\\\.\\PhysicalDrive4711", 0, object, &handle));
  if (ctx.status.code != CSI_UNAVAILABLE) assert_int_equal(ctx.status.code, CSI_NOT_FOUND);
  return ctx.status.code == CSI_UNAVAILABLE;
}

static void test_a_device_that_ignores_cancellation_keeps_two_threads(void **unused) {
  (void)unused;
  HANDLE let_go = CreateEventW(NULL, TRUE, FALSE, NULL);
  HANDLE threads[2];
  threads[0] = CreateThread(NULL, 0, hang, let_go, 0, NULL);
  assert_int_equal(csi_device_count_hanging(), 0);
  Sleep(1500);
  assert_int_equal(csi_device_count_hanging(), 1);
  assert_false(is_refused("disk 3"));
  threads[1] = CreateThread(NULL, 0, hang, let_go, 0, NULL);
  Sleep(500);
  assert_false(is_refused("disk 3")); /* the second one may yet be on its way out */
  Sleep(1000);
  assert_true(is_refused("disk 3"));
  assert_non_null(strstr(ctx.status.text, "disk 3 has not answered for "));
  assert_non_null(strstr(ctx.status.text, " s (ReadFile); 2 calls hang in it"));
  assert_false(is_refused("disk 31"));
  SetEvent(let_go);
  for (int i = 0; i < 2; i++) {
    DWORD result = 4711;
    assert_int_equal(WaitForSingleObject(threads[i], 10000), WAIT_OBJECT_0);
    assert_true(GetExitCodeThread(threads[i], &result));
    assert_int_equal(result, 0);
    CloseHandle(threads[i]);
  }
  CloseHandle(let_go);
  assert_int_equal(csi_device_count_hanging(), 0);
  assert_false(is_refused("disk 3"));
}

static void test_nothing_is_begun_after_the_deadline(void **unused) {
  (void)unused;
  HANDLE handle = NULL;
  ctx.deadline_ns = csi_now_ns() - 1;
  assert_false(csi_device_open(&ctx, L"\\\\.\\PhysicalDrive0", 0, "disk 0", &handle));
  assert_int_equal(ctx.status.code, CSI_DEADLINE_EXCEEDED);
  assert_null(handle);
}

static void test_errors_name_call_and_object(void **unused) {
  (void)unused;
  HANDLE handle = NULL;
  assert_false(csi_device_open(&ctx, L"\\\\.\\PhysicalDrive4711", 0, "disk 4711", &handle));
  assert_int_equal(ctx.status.code, CSI_NOT_FOUND);
  assert_int_equal(ctx.status.number, ERROR_FILE_NOT_FOUND);
  assert_string_equal(ctx.status.call, "CreateFileW");
  assert_non_null(strstr(ctx.status.text, "disk 4711: "));

  struct ends ends = open_pipe();
  csi_status_clear(&ctx.status);
  assert_false(csi_device_control(&ctx, ends.client, CSI_CONTROL(IOCTL_DISK_GET_DRIVE_GEOMETRY_EX), NULL, 0,
                                  NULL, 0, NULL, "disk 3"));
  assert_string_equal(ctx.status.call, "IOCTL_DISK_GET_DRIVE_GEOMETRY_EX");
  assert_int_not_equal(ctx.status.number, 0);
  close_pipe(&ends);
}

/* The mount manager lists its mount points, and says MORE_DATA while they do not fit. */
/* What was told of calls, as a line of words: "ReadFile+ " succeeded, "ReadFile- " failed. */
static char told[256];

static void keep_told(void *context, const char *call, int64_t duration_ns, bool succeeded) {
  (void)context;
  size_t length = strlen(told);
  snprintf(told + length, sizeof told - length, "%s%s ", call, duration_ns < 0 ? "?" : succeeded ? "+" : "-");
}

static void test_growth(void **unused) {
  (void)unused;
  told[0] = '\0';
  csi_call_timing_listen(keep_told, NULL);
  static const struct csi_control query = {CTL_CODE('m', 2, METHOD_BUFFERED, FILE_ANY_ACCESS),
                                           "IOCTL_MOUNTMGR_QUERY_POINTS"};
  static const uint8_t every_point[24]; /* MOUNTMGR_MOUNT_POINT without any name */
  HANDLE manager;
  assert_true(csi_device_open(&ctx, L"\\\\.\\MountPointManager", 0, "the mount manager", &manager));
  const uint8_t *bytes = NULL;
  size_t size_bytes = 0;
  assert_true(csi_device_control_grow(&ctx, manager, query, every_point, sizeof every_point, 32, 16384,
                                      &bytes, &size_bytes, "the mount manager"));
  uint32_t wanted_bytes; /* MOUNTMGR_MOUNT_POINTS.Size */
  memcpy(&wanted_bytes, bytes, sizeof wanted_bytes);
  assert_true(size_bytes >= wanted_bytes && wanted_bytes > 40);
  /* An answer that wants more room is none that failed. */
  assert_ptr_equal(strstr(told, "CreateFileW+ IOCTL_MOUNTMGR_QUERY_POINTS+ "), told);
  assert_null(strchr(told, '-'));

  assert_false(csi_device_control_grow(&ctx, manager, query, every_point, sizeof every_point, 32, 40, &bytes,
                                       &size_bytes, "the mount manager"));
  assert_int_equal(ctx.status.number, ERROR_MORE_DATA);
  assert_string_equal(ctx.status.call, "IOCTL_MOUNTMGR_QUERY_POINTS");
  told[0] = '\0';
  csi_status_clear(&ctx.status);
  assert_false(csi_device_flush(&ctx, NULL, "nothing"));
  assert_string_equal(told, "FlushFileBuffers- ");
  csi_call_timing_listen(NULL, NULL);
  CloseHandle(manager);
}

/* Calls that return at the very moment they are cancelled, followed by calls that must not be hit. */
static DWORD WINAPI write_now_and_then(void *context) {
  HANDLE server = context;
  for (int i = 0; i < 200; i++) {
    DWORD written;
    Sleep(10);
    if (!WriteFile(server, "x", 1, &written, NULL)) break;
  }
  return 0;
}

static void test_a_later_call_is_never_hit(void **unused) {
  (void)unused;
  struct ends ends = open_pipe();
  HANDLE writer = CreateThread(NULL, 0, write_now_and_then, ends.server, 0, NULL);
  unsigned overdue = 0;
  for (int got = 0; got < 200;) {
    char byte;
    ctx.deadline_ns = in_ms(got % 3 == 0 ? 1 : 10);
    csi_status_clear(&ctx.status);
    if (csi_device_read(&ctx, ends.client, 0, &byte, 1, "the pipe")) {
      got++;
    } else {
      assert_int_equal(ctx.status.code, CSI_DEADLINE_EXCEEDED);
      overdue++;
    }
    /* Not watched: nothing may cancel it, though it is short after a watched one. */
    DWORD bytes;
    assert_true(PeekNamedPipe(ends.client, NULL, 0, NULL, &bytes, NULL));
    while (bytes > 0 && got < 200) {
      assert_true(ReadFile(ends.client, &byte, 1, &bytes, NULL));
      got++;
      assert_true(PeekNamedPipe(ends.client, NULL, 0, NULL, &bytes, NULL));
    }
  }
  assert_int_equal(WaitForSingleObject(writer, 10000), WAIT_OBJECT_0);
  CloseHandle(writer);
  close_pipe(&ends);
  printf("%u reads were given up, none lost a byte\n", overdue);
}

int main(void) {
#define DEVICE_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      DEVICE_TEST(test_a_read_that_hangs_ends_with_the_deadline),
      DEVICE_TEST(test_a_control_that_hangs_ends_with_its_limit),
      DEVICE_TEST(test_a_client_that_goes_away_ends_the_call),
      DEVICE_TEST(test_a_device_that_ignores_cancellation_keeps_two_threads),
      DEVICE_TEST(test_nothing_is_begun_after_the_deadline),
      DEVICE_TEST(test_errors_name_call_and_object),
      DEVICE_TEST(test_growth),
      DEVICE_TEST(test_a_later_call_is_never_hit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
