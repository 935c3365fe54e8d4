/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "transport/transport.h"

static struct csi_arena *arena;

static int set_up(void **unused) {
  (void)unused;
  arena = csi_arena_new(1 << 16);
  return arena == NULL ? -1 : 0;
}

static int tear_down(void **unused) {
  (void)unused;
  csi_arena_free(arena);
  return 0;
}

static void test_pipe(void **unused) {
  (void)unused;
  struct csi_peer peer;
  csi_peer_parse(arena, "pipe:1234:2:S-1-5-18:a1-b2:C:\\Program Files\\x:y.exe", &peer);
  assert_int_equal(peer.process_id, 1234);
  assert_int_equal(peer.session_id, 2);
  assert_string_equal(peer.account, "S-1-5-18");
  assert_string_equal(peer.container, "a1-b2");
  assert_string_equal(peer.image_path, "C:\\Program Files\\x:y.exe");
}

static void test_what_windows_did_not_tell(void **unused) {
  (void)unused;
  struct csi_peer peer;
  csi_peer_parse(arena, "pipe:7::::", &peer);
  assert_int_equal(peer.process_id, 7);
  assert_true(peer.session_id == CSI_NO_SESSION_ID);
  assert_string_equal(peer.account, "");
  assert_string_equal(peer.container, "");
  assert_string_equal(peer.image_path, "");
}

static void test_foreign_text(void **unused) {
  (void)unused;
  static const char *const texts[] = {
      "", "pipe:", "pipe:7", "pipe:7:1:S-1-5-18:image", "ipv4:127.0.0.1:80", "fd:-1"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    struct csi_peer peer;
    csi_peer_parse(arena, texts[i], &peer);
    assert_int_equal(peer.process_id, 0);
    assert_true(peer.session_id == CSI_NO_SESSION_ID);
    assert_string_equal(peer.image_path, "");
    assert_string_equal(peer.account, "");
    assert_string_equal(peer.container, "");
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_pipe),
      cmocka_unit_test(test_what_windows_did_not_tell),
      cmocka_unit_test(test_foreign_text),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
