/* SPDX-License-Identifier: Apache-2.0 */
#include "system/fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
  ARENA_BYTES = 4 << 20,
  WAITING_MAX = 16,
  NS_PER_MS = 1000000,
};

void use_options(struct fixture *fixture, const char *protected_services, uint32_t patience_ms) {
  const struct csi_system_options options = {.protected_services = protected_services,
                                             .patience_ms = patience_ms};
  csi_system_free(fixture->group);
  fixture->group =
      csi_system_new(&options, csi_fake_system_host(fixture->system), fixture->locks, &fixture->status);
  assert_non_null(fixture->group);
}

int fixture_set_up(void **state) {
  struct fixture *fixture = calloc(1, sizeof *fixture);
  assert_non_null(fixture);
  fixture->network = csi_fake_network_new();
  fixture->system = csi_fake_system_new(fixture->network);
  fixture->locks = csi_keyed_locks_new(WAITING_MAX);
  assert_non_null(fixture->locks);
  use_options(fixture, "kubelet", 0);
  *state = fixture;
  return 0;
}

int fixture_tear_down(void **state) {
  struct fixture *fixture = *state;
  csi_system_free(fixture->group);
  csi_keyed_locks_free(fixture->locks);
  csi_fake_system_free(fixture->system);
  csi_fake_network_free(fixture->network);
  free(fixture);
  return 0;
}

static struct csi_ctx begin(struct fixture *fixture) {
  struct csi_ctx ctx = {
      .arena = csi_arena_new(ARENA_BYTES), .deadline_ns = CSI_NO_DEADLINE, .cancelled = &fixture->cancelled};
  assert_non_null(ctx.arena);
  if (fixture->limit_ms > 0) ctx.deadline_ns = csi_now_ns() + (int64_t)fixture->limit_ms * NS_PER_MS;
  csi_arena_fail_after(fixture->fail_allocation);
  return ctx;
}

/* Takes every lock that a call could have left behind. */
static void assert_unlocked(struct fixture *fixture) {
  static const char *const keys[] = {"service a", "service b", "service c", "service d", "service kubelet"};
  struct csi_ctx ctx = {.arena = csi_arena_new(ARENA_BYTES),
                        .deadline_ns = csi_now_ns() + INT64_C(10000) * NS_PER_MS};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    if (!csi_keyed_lock(fixture->locks, &ctx, keys[i], "test")) fail_msg("%s", ctx.status.text);
    csi_keyed_unlock(fixture->locks, keys[i]);
  }
  csi_arena_free(ctx.arena);
}

static bool end(struct fixture *fixture, struct csi_ctx *ctx, bool result) {
  fixture->allocation_failed = fixture->fail_allocation > 0 && csi_arena_fail_after(0) == 0;
  fixture->status = ctx->status;
  csi_arena_free(ctx->arena);
  assert_unlocked(fixture);
  if (result != csi_status_ok(&fixture->status)) fail_msg("result %d: %s", result, fixture->status.text);
  return result;
}

static void copy(char text_out[FIXTURE_TEXT_BYTES], const char *text) {
  snprintf(text_out, FIXTURE_TEXT_BYTES, "%s", text == NULL ? "(null)" : text);
}

bool call_get_serial(struct fixture *fixture, char text_out[FIXTURE_TEXT_BYTES]) {
  struct csi_system_get_bios_serial_number_request request = {0};
  struct csi_system_get_bios_serial_number_response response = {0};
  struct csi_ctx ctx = begin(fixture);
  bool result = csi_system_serve_get_bios_serial_number(&ctx, fixture->group, &request, &response);
  copy(text_out, response.serial_number);
  return end(fixture, &ctx, result);
}

bool call_start(struct fixture *fixture, const char *name) {
  struct csi_system_start_service_request request = {.name = name};
  struct csi_system_start_service_response response = {0};
  struct csi_ctx ctx = begin(fixture);
  return end(fixture, &ctx, csi_system_serve_start_service(&ctx, fixture->group, &request, &response));
}

bool call_stop(struct fixture *fixture, const char *name, bool force) {
  struct csi_system_stop_service_request request = {.name = name, .force = force};
  struct csi_system_stop_service_response response = {0};
  struct csi_ctx ctx = begin(fixture);
  return end(fixture, &ctx, csi_system_serve_stop_service(&ctx, fixture->group, &request, &response));
}

bool call_get(struct fixture *fixture, const char *name, struct service_answer *answer_out) {
  struct csi_system_get_service_request request = {.name = name};
  struct csi_system_get_service_response response = {0};
  struct csi_ctx ctx = begin(fixture);
  bool result = csi_system_serve_get_service(&ctx, fixture->group, &request, &response);
  copy(answer_out->display_name, response.display_name);
  answer_out->start_type = (int)response.start_type;
  answer_out->status = (int)response.status;
  return end(fixture, &ctx, result);
}

void add_service(struct fixture *fixture, const char *name, uint32_t state, const char *depends) {
  csi_fake_system_add(fixture->system, &(struct csi_fake_service){.name = name,
                                                                  .state = state,
                                                                  .depends = depends,
                                                                  .start_type = CSI_FAKE_SERVICE_MANUAL});
}

void fail_step(struct fixture *fixture, const char *call, unsigned nth, uint32_t error) {
  csi_fake_network_add_fault(fixture->network, &(struct csi_fake_network_fault){
                                                   .call = call, .nth = nth, .count = 1, .error = error});
}

void assert_ok(struct fixture *fixture, bool result) {
  if (!result) fail_msg("%s", fixture->status.text);
}

void assert_failed(struct fixture *fixture, bool result, enum csi_code code, const char *text) {
  assert_false(result);
  if (strncmp(fixture->status.text, text, strlen(text)) != 0)
    fail_msg("text is \"%s\", not \"%s...\"", fixture->status.text, text);
  if (fixture->status.code != code)
    fail_msg("%s: code is %s", fixture->status.text, csi_code_name(fixture->status.code));
}

void assert_says(struct fixture *fixture, const char *text) {
  if (strstr(fixture->status.text, text) == NULL)
    fail_msg("text is \"%s\", without \"%s\"", fixture->status.text, text);
}

void assert_state(struct fixture *fixture, const char *name, uint32_t state) {
  uint32_t is = csi_fake_system_state(fixture->system, name);
  if (is != state) fail_msg("%s is in state %u, not %u", name, (unsigned)is, (unsigned)state);
}

void assert_stops(struct fixture *fixture, const char *names) {
  char text[FIXTURE_TEXT_BYTES];
  csi_fake_system_take_stops(fixture->system, text, sizeof text);
  assert_string_equal(text, names);
}
