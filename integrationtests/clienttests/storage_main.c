/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scene.h"

static const char usage[] =
    "usage: csi-proxy-storage-tests [OPTION...] WORKING_DIRECTORY\n"
    "Calls every RPC of every version of the disk and volume groups on a running service, with good and bad\n"
    "input, on disks that it adds, breaks and unplugs: those of the testbed's driver, on Linux those of\n"
    "csi-proxy-native. All disks that are there are removed.\n"
    "WORKING_DIRECTORY is one of the service's working directories, for example C:\\var\\lib\\kubelet.\n"
    "  --endpoint-format FORMAT  names of the pipes, with %s for group and version\n"
    "  --control SOCKET          the control socket of csi-proxy-native; only on Linux, and there required\n"
    "  --images FOLDER           where the files behind the disks are made (CSI_TESTBED_IMAGES)\n"
    "  --no-links                the node makes no symbolic links and mounts no folders (Wine)\n"
    "  --versions A,B            only these versions\n"
    "  --only TEXT               only cases with TEXT in their name\n";

/* Takes one option off; false at the first argument that is none. */
static bool read_option(struct settings *settings, char ***argument) {
  const char *name = (*argument)[0], *value = name != NULL ? (*argument)[1] : NULL;
  const struct {
    const char *name;
    const char **value;
  } options[] = {{"--endpoint-format", &settings->endpoint_format},
                 {"--control", &settings->control},
                 {"--images", &settings->images},
                 {"--versions", &settings->versions},
                 {"--only", &settings->only}};
  if (name == NULL) return false;
  if (strcmp(name, "--no-links") == 0) {
    settings->can = (settings->can & ~(unsigned)NEEDS_LINKS) | NEEDS_NO_LINKS;
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

int main(int argc, char **argv) {
  (void)argc;
  struct settings settings = {.program = argv[0], .can = NEEDS_LINKS, .images = getenv("CSI_TESTBED_IMAGES")};
#if !defined(_WIN32)
  settings.can |= NEEDS_FAKE;
  settings.images = "images"; /* of the node in memory there are none */
#endif
  char why[1024];
  char **argument = argv + 1;
  while (read_option(&settings, &argument)) {
  }
  if (argument[0] == NULL || argument[1] != NULL || argument[0][0] == '-') {
    fputs(usage, stderr);
    return 2;
  }
  settings.working_directory = argument[0];
  if (settings.images == NULL) {
    fprintf(stderr, "--images is missing, and CSI_TESTBED_IMAGES is not set\n");
    return 2;
  }
  if (!scene_open(&settings, why, sizeof why)) {
    fprintf(stderr, "the disks cannot be reached: %s\n", why);
    return 1;
  }
  run_suite(&settings, &disk_suite);
  run_suite(&settings, &volume_suite);
  scene_close();
  return finish();
}
