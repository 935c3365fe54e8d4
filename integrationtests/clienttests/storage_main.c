/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scene.h"

static const char usage[] =
    "usage: csi-proxy-storage-tests [OPTION...] WORKING_DIRECTORY\n"
    "       csi-proxy-storage-tests [OPTION...] --do COMMAND\n"
    "Calls every RPC of every version of all groups but filesystem on a running service, with good and bad\n"
    "input, on disks, shares, targets and services that it adds, breaks and removes: those of the testbed, "
    "on\n"
    "Linux those of csi-proxy-native. All that are there are removed.\n"
    "WORKING_DIRECTORY is one of the service's working directories, for example C:\\var\\lib\\kubelet.\n"
    "  --endpoint-format FORMAT  names of the pipes, with %s for group and version\n"
    "  --control SOCKET          the control socket of csi-proxy-native; only on Linux, and there required\n"
    "  --images FOLDER           where the files behind the disks are made (CSI_TESTBED_IMAGES)\n"
    "  --no-links                the node makes no symbolic links and mounts no folders, cannot try "
    "credentials,\n"
    "                            and does not know which services depend on one (Wine)\n"
    "  --groups A,B              only these groups\n"
    "  --versions A,B            only these versions\n"
    "  --only TEXT               only cases with TEXT in their name\n"
    "  --do COMMAND              no tests: just this command of the testbed\n";

/* Takes one option off; false at the first argument that is none. */
static bool read_option(struct settings *settings, const char **command_out, char ***argument) {
  const char *name = (*argument)[0], *value = name != NULL ? (*argument)[1] : NULL;
  const struct {
    const char *name;
    const char **value;
  } options[] = {{"--endpoint-format", &settings->endpoint_format},
                 {"--control", &settings->control},
                 {"--images", &settings->images},
                 {"--groups", &settings->groups},
                 {"--versions", &settings->versions},
                 {"--only", &settings->only},
                 {"--do", command_out}};
  if (name == NULL) return false;
  if (strcmp(name, "--no-links") == 0) {
    settings->can = (settings->can & ~(unsigned)(NEEDS_LINKS | NEEDS_WINDOWS)) | NEEDS_NO_LINKS;
    *argument += 1;
    return true;
  }
  for (size_t i = 0; value != NULL && i < sizeof options / sizeof options[0]; i++) {
    if (strcmp(options[i].name, name) != 0) continue;
    *options[i].value = value;
    *argument += 2;
    return true;
  }
  return false;
}

static int do_command(const char *line) {
  static char reply[SCENE_REPLY_BYTES];
  bool done = scene_command(line, reply, sizeof reply);
  fputs(reply, done ? stdout : stderr);
  return done ? 0 : 1;
}

static int run_suites(const struct settings *settings) {
  static const struct suite *const suites[] = {&disk_suite, &volume_suite, &smb_suite, &iscsi_suite,
                                               &system_suite};
  for (size_t i = 0; i < sizeof suites / sizeof suites[0]; i++)
    run_suite(settings, suites[i]);
  return finish();
}

int main(int argc, char **argv) {
  (void)argc;
  struct settings settings = {
      .program = argv[0], .can = NEEDS_LINKS | NEEDS_WINDOWS, .images = getenv("CSI_TESTBED_IMAGES")};
#if !defined(_WIN32)
  settings.can |= NEEDS_FAKE;
  settings.images = "images"; /* of the node in memory there are none */
#endif
  char why[1024];
  const char *command = NULL;
  char **argument = argv + 1;
  while (read_option(&settings, &command, &argument)) {
  }
  bool is_complete = command != NULL ? argument[0] == NULL : argument[0] != NULL && argument[1] == NULL;
  if (!is_complete || (argument[0] != NULL && argument[0][0] == '-')) {
    fputs(usage, stderr);
    return 2;
  }
  settings.working_directory = argument[0];
  if (command == NULL && settings.images == NULL) {
    fprintf(stderr, "--images is missing, and CSI_TESTBED_IMAGES is not set\n");
    return 2;
  }
  if (!scene_open(&settings, why, sizeof why)) {
    fprintf(stderr, "the node's devices cannot be reached: %s\n", why);
    return 1;
  }
  int result = command != NULL ? do_command(command) : run_suites(&settings);
  scene_close();
  return result;
}
