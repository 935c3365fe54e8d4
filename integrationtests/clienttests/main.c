/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

static const char usage[] =
    "usage: csi-proxy-filesystem-tests [OPTION...] WORKING_DIRECTORY\n"
    "Calls every RPC of every version of the filesystem group on a running service, with good and bad "
    "input.\n"
    "WORKING_DIRECTORY is one of the service's working directories, for example C:\\var\\lib\\kubelet.\n"
    "  --endpoint-format FORMAT  names of the pipes, with %s for group and version\n"
    "  --no-links                the node makes no symbolic links (Wine)\n"
    "  --files                   the node's files are this program's: it may make some in WORKING_DIRECTORY\n"
    "  --clients N               simultaneous clients (200)\n"
    "  --tree N                  directories in a tree whose removal is interrupted (2000)\n"
    "  --only TEXT               only cases with TEXT in their name\n";

static unsigned number_of(const char *text) {
  char *end;
  unsigned long number = strtoul(text, &end, 10);
  if (*text == '\0' || *end != '\0' || number == 0 || number > 100000) {
    fprintf(stderr, "%s is no count from 1 to 100000\n", text);
    exit(2);
  }
  return (unsigned)number;
}

/* Takes one option off; false at the first argument that is none. */
static bool read_option(struct settings *settings, const char **vanish_out, char ***argument) {
  const char *name = (*argument)[0], *value = name != NULL ? (*argument)[1] : NULL;
  if (name == NULL || strncmp(name, "--", 2) != 0) return false;
  if (strcmp(name, "--no-links") == 0) {
    settings->can = (settings->can & ~(unsigned)NEEDS_LINKS) | NEEDS_NO_LINKS;
  } else if (strcmp(name, "--files") == 0) {
    settings->can |= NEEDS_FILES;
  } else if (value == NULL) {
    return false;
  } else if (strcmp(name, "--endpoint-format") == 0) {
    settings->endpoint_format = value;
  } else if (strcmp(name, "--clients") == 0) {
    settings->client_count = number_of(value);
  } else if (strcmp(name, "--tree") == 0) {
    settings->tree_count = number_of(value);
  } else if (strcmp(name, "--only") == 0) {
    settings->only = value;
  } else if (strcmp(name, "--vanish-during-rmdir") == 0) {
    *vanish_out = value; /* for this program itself */
  } else {
    return false;
  }
  bool alone = strcmp(name, "--no-links") == 0 || strcmp(name, "--files") == 0;
  *argument += alone ? 1 : 2;
  return true;
}

int main(int argc, char **argv) {
  (void)argc;
  struct settings settings = {
      .program = argv[0],
      .can = NEEDS_LINKS,
      .client_count = 200,
      .tree_count = 2000,
  };
  const char *vanish = NULL;
  char **argument = argv + 1;
  while (read_option(&settings, &vanish, &argument)) {
  }
  if (vanish != NULL) return vanish_during_rmdir(&settings, vanish);
  if (argument[0] == NULL || argument[1] != NULL || argument[0][0] == '-') {
    fputs(usage, stderr);
    return 2;
  }
  settings.working_directory = argument[0];
  run_suite(&settings, &filesystem_suite);
  run_cases(&settings, service_cases, service_case_count);
  return finish();
}
