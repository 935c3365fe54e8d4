/* SPDX-License-Identifier: Apache-2.0
 *
 * The testbed's commands on services in memory: what they make, and what they refuse.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "network_command.h"
#include "system_command.h"

struct scene {
  struct csi_fake_network *network;
  struct csi_fake_system *system;
  char reply[1024];
};

static struct scene set_up(void) {
  struct scene scene = {.network = csi_fake_network_new()};
  scene.system = csi_fake_system_new(scene.network);
  return scene;
}

static void tear_down(struct scene *scene) {
  csi_fake_system_free(scene->system);
  csi_fake_network_free(scene->network);
}

static void say(struct scene *scene, const char *line) {
  bool done = false;
  assert_true(csi_fake_system_command(scene->system, line, scene->reply, sizeof scene->reply, &done));
  if (!done) fail_msg("%s: %s", line, scene->reply);
}

static void assert_refused(struct scene *scene, const char *line, const char *reply) {
  bool done = true;
  assert_true(csi_fake_system_command(scene->system, line, scene->reply, sizeof scene->reply, &done));
  assert_false(done);
  assert_string_equal(scene->reply, reply);
}

static void test_services(void **state) {
  (void)state;
  struct scene scene = set_up();
  say(&scene, "service add name=web display=The%20web state=running");
  say(&scene, "service add name=shop start=disabled depends=web,RpcSs");
  say(&scene, "service list");
  assert_string_equal(scene.reply, "name=web state=4\nname=shop state=1\n");
  assert_refused(&scene, "service add name=WEB", "name is taken");
  assert_refused(&scene, "service add", "name is missing");
  assert_refused(&scene, "service add name=x state=gone", "not understood: state=gone");
  assert_refused(&scene, "service add name=x color=red", "not understood: color");
  assert_refused(&scene, "service remove name=nobody", "no such service");
  say(&scene, "service remove name=web");
  say(&scene, "service list");
  assert_string_equal(scene.reply, "name=shop state=1\n");
  say(&scene, "service remove all");
  say(&scene, "service list");
  assert_string_equal(scene.reply, "");
  bool done;
  assert_false(csi_fake_system_command(scene.system, "disk list", scene.reply, sizeof scene.reply, &done));
  tear_down(&scene);
}

static void test_finish(void **state) {
  (void)state;
  struct scene scene = set_up();
  say(&scene, "service add name=web start-delay=3600000");
  assert_refused(&scene, "service finish name=web", "no such service, or nothing is pending");
  assert_refused(&scene, "service finish name=nobody", "no such service, or nothing is pending");
  assert_refused(&scene, "service finish", "no such service, or nothing is pending");
  csi_fake_system_set_state(scene.system, "web", CSI_SERVICE_START_PENDING);
  say(&scene, "service list");
  assert_string_equal(scene.reply, "name=web state=2\n");
  say(&scene, "service finish name=web");
  say(&scene, "service list");
  assert_string_equal(scene.reply, "name=web state=4\n");
  tear_down(&scene);
}

static void test_reset(void **state) {
  (void)state;
  struct scene scene = set_up();
  bool done = false;
  say(&scene, "service add name=web state=running silent refuse-stop fail-start=5 stop-delay=5");
  assert_true(
      csi_fake_network_command(scene.network, "network reset", scene.reply, sizeof scene.reply, &done));
  assert_true(done);
  assert_false(csi_fake_system_has(scene.system, "web"));
  tear_down(&scene);
}

static void test_smbios(void **state) {
  (void)state;
  struct scene scene = set_up();
  say(&scene, "smbios set hex=0002070000000000");
  say(&scene, "smbios set hex=");
  assert_refused(&scene, "smbios set hex=0", "bad hex");
  assert_refused(&scene, "smbios set hex=0g", "bad hex");
  assert_refused(&scene, "smbios set", "hex is missing");
  tear_down(&scene);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_services),
      cmocka_unit_test(test_finish),
      cmocka_unit_test(test_reset),
      cmocka_unit_test(test_smbios),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
