/* SPDX-License-Identifier: Apache-2.0
 *
 * The real service manager: services that every system has, one that none has, and the firmware.
 */
#include "system/host_win32.h"

#include <windows.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "system/handlers.h"
#include "system/smbios.h"

struct scene {
  struct csi_ctx ctx;
  const struct csi_system_host *host;
};

static int set_up(void **state) {
  static struct scene scene;
  scene = (struct scene){.ctx = {.arena = csi_arena_new(4 << 20), .deadline_ns = CSI_NO_DEADLINE},
                         .host = csi_system_host_win32()};
  *state = &scene;
  return 0;
}

static int tear_down(void **state) {
  struct scene *scene = *state;
  csi_arena_free(scene->ctx.arena);
  return 0;
}

static void assert_ok(struct scene *scene, bool result) {
  if (!result) fail_msg("%s", scene->ctx.status.text);
}

static void assert_failed(struct scene *scene, bool result, uint32_t number) {
  assert_false(result);
  if (scene->ctx.status.number != number || scene->ctx.status.space != CSI_SPACE_WIN32)
    fail_msg("not %u: %s", (unsigned)number, scene->ctx.status.text);
  csi_status_clear(&scene->ctx.status);
}

static void test_services(void **state) {
  struct scene *s = *state;
  static const char *const names[] = {"EventLog", "RpcSs", "PlugPlay"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    struct csi_service_config config;
    struct csi_service_status status;
    const char *key_name;
    assert_ok(s, s->host->get_config(NULL, &s->ctx, names[i], &config));
    assert_true(strlen(config.display_name) > 0);
    assert_in_range(config.start_type, 0, 4);
    assert_ok(s, s->host->get_status(NULL, &s->ctx, names[i], &status));
    assert_in_range(status.state, 1, 7);
    assert_ok(s, s->host->get_key_name(NULL, &s->ctx, names[i], &key_name));
    assert_int_equal(_stricmp(key_name, names[i]), 0);
  }
}

/* Another case is the same service, and its name comes out as it is written down. */
static void test_case(void **state) {
  struct scene *s = *state;
  struct csi_service_status status;
  const char *key_name, *other;
  assert_ok(s, s->host->get_status(NULL, &s->ctx, "rPCsS", &status));
  assert_ok(s, s->host->get_key_name(NULL, &s->ctx, "rpcss", &key_name));
  assert_ok(s, s->host->get_key_name(NULL, &s->ctx, "RPCSS", &other));
  assert_string_equal(key_name, other);
}

static void test_missing(void **state) {
  struct scene *s = *state;
  static const char name[] = "csi-proxy-has-no-such-service";
  struct csi_service_config config;
  struct csi_service_status status;
  const char *key_name, **names;
  size_t count;
  assert_failed(s, s->host->get_config(NULL, &s->ctx, name, &config), CSI_SERVICE_DOES_NOT_EXIST);
  assert_failed(s, s->host->get_key_name(NULL, &s->ctx, name, &key_name), CSI_SERVICE_DOES_NOT_EXIST);
  assert_failed(s, s->host->get_status(NULL, &s->ctx, name, &status), CSI_SERVICE_DOES_NOT_EXIST);
  assert_failed(s, s->host->start(NULL, &s->ctx, name), CSI_SERVICE_DOES_NOT_EXIST);
  assert_failed(s, s->host->stop(NULL, &s->ctx, name), CSI_SERVICE_DOES_NOT_EXIST);
  assert_failed(s, s->host->list_active_dependents(NULL, &s->ctx, name, &names, &count),
                CSI_SERVICE_DOES_NOT_EXIST);
}

static void test_long_name(void **state) {
  struct scene *s = *state;
  char name[300];
  struct csi_service_status status;
  memset(name, 'n', sizeof name);
  name[299] = '\0';
  assert_failed(s, s->host->get_status(NULL, &s->ctx, name, &status), ERROR_INVALID_NAME);
}

/* A display name that is longer than the service manager tells: the service is found all the same, by the
 * name as given. Where no such service can be made, there is nothing to test. */
static void test_display_name_that_is_not_told(void **state) {
  struct scene *s = *state;
  enum { DISPLAY_UNITS = 1500 };
  static const wchar_t name_w[] = L"csi-proxy-long-display-name";
  wchar_t display_w[DISPLAY_UNITS + 1] = L"";
  for (int i = 0; i < DISPLAY_UNITS; i++)
    display_w[i] = L'd';
  SC_HANDLE manager = OpenSCManagerW(NULL, NULL, SC_MANAGER_ALL_ACCESS);
  SC_HANDLE service = CreateServiceW(manager, name_w, display_w, SERVICE_ALL_ACCESS,
                                     SERVICE_WIN32_OWN_PROCESS, SERVICE_DEMAND_START, SERVICE_ERROR_IGNORE,
                                     L"C:\\none.exe", NULL, NULL, NULL, NULL, NULL);
  CloseServiceHandle(manager);
  if (service == NULL) skip();
  const char *key_name = "";
  bool found = s->host->get_key_name(NULL, &s->ctx, "CSI-proxy-long-display-name", &key_name);
  DeleteService(service);
  CloseServiceHandle(service);
  assert_ok(s, found);
  assert_string_equal(key_name, "CSI-proxy-long-display-name");
}

/* A service may be looked at for minutes. */
static void test_looks_leave_nothing(void **state) {
  struct scene *s = *state;
  struct csi_service_status status;
  size_t before_bytes = csi_arena_used_bytes(s->ctx.arena);
  for (int i = 0; i < 3; i++)
    assert_ok(s, s->host->get_status(NULL, &s->ctx, "RpcSs", &status));
  assert_int_equal(csi_arena_used_bytes(s->ctx.arena), before_bytes);
}

static void test_dependents(void **state) {
  struct scene *s = *state;
  const char **names;
  size_t count;
  assert_ok(s, s->host->list_active_dependents(NULL, &s->ctx, "RpcSs", &names, &count));
  for (size_t i = 0; i < count; i++)
    assert_true(strlen(names[i]) > 0);
}

static void test_running_service_is_not_started(void **state) {
  struct scene *s = *state;
  struct csi_service_status status;
  assert_ok(s, s->host->get_status(NULL, &s->ctx, "RpcSs", &status));
  if (status.state != CSI_SERVICE_RUNNING) skip();
  assert_failed(s, s->host->start(NULL, &s->ctx, "RpcSs"), CSI_SERVICE_ALREADY_RUNNING);
}

static void test_smbios(void **state) {
  struct scene *s = *state;
  struct csi_bytes table;
  const char *serial = NULL;
  assert_ok(s, s->host->get_smbios(NULL, &s->ctx, &table));
  assert_true(table.size_bytes > 8);
  assert_ok(s, csi_smbios_get_serial_number(s->ctx.arena, &table, &serial, &s->ctx.status));
  assert_non_null(serial);
}

static void test_over(void **state) {
  struct scene *s = *state;
  struct csi_service_status status;
  s->ctx.deadline_ns = csi_now_ns() - 1;
  assert_false(s->host->get_status(NULL, &s->ctx, "RpcSs", &status));
  assert_int_equal(s->ctx.status.code, CSI_DEADLINE_EXCEEDED);
}

static void test_process_id(void **state) {
  struct scene *s = *state;
  assert_int_equal(s->host->get_process_id(NULL), GetCurrentProcessId());
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_services),
      TEST(test_case),
      TEST(test_missing),
      TEST(test_long_name),
      TEST(test_dependents),
      TEST(test_display_name_that_is_not_told),
      TEST(test_looks_leave_nothing),
      TEST(test_running_service_is_not_started),
      TEST(test_smbios),
      TEST(test_over),
      TEST(test_process_id),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
