/* SPDX-License-Identifier: Apache-2.0 */
#include <windows.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "apply.h"
#include "command.h"
#include "control.h"
#include "install.h"
#include "profile.h"

static const char usage[] =
    "usage: vdiskctl COMMAND\n"
    "Controls the disk testbed of csi-proxy in this Wine prefix.\n"
    "  install DIR               install the driver from vdisk.inf, vdisk.sys and vdisk.cat in DIR\n"
    "  uninstall                 remove its disks and the driver\n"
    "  run WORDS...              execute one command: run disk list\n"
    "  apply FILE [NAME=VALUE]   execute the commands in a file; ${NAME} in it becomes VALUE\n"
    "  wait-disks N              wait until Windows lists N disks\n"
    "  shell                     execute commands from stdin; each answer ends with a line \". ok\" or\n"
    "                            \". error: TEXT\"\n"
    "docs/TESTBED.md has the commands.\n";

static int fail(const struct csi_ctl_error *error) {
  fprintf(stderr, "vdiskctl: %s\n", error->text);
  return 1;
}

static int misused(void) {
  fputs(usage, stderr);
  return 2;
}

/* Adds one argument to a command line. Commands are ASCII. */
static bool append_word(char line[CSI_PROFILE_LINE_BYTES], const wchar_t *word_w,
                        struct csi_ctl_error *error) {
  size_t used = strlen(line);
  if (used > 0) line[used++] = ' ';
  for (; *word_w != L'\0'; word_w++) {
    if (*word_w < L' ' || *word_w > L'~')
      return csi_ctl_fail(error, "a command is ASCII; write other bytes of UTF-8 as %%XX");
    if (used + 1 >= CSI_PROFILE_LINE_BYTES) return csi_ctl_fail(error, "the command is too long");
    line[used++] = (char)*word_w;
  }
  line[used] = '\0';
  return true;
}

static bool execute_and_print(struct csi_control_device *control, const char *line,
                              struct csi_ctl_error *error) {
  const char *reply = "";
  if (!csi_command_execute(control, line, &reply, error)) return false;
  fputs(reply, stdout);
  return true;
}

static bool run(wchar_t **words_w, struct csi_ctl_error *error) {
  char line[CSI_PROFILE_LINE_BYTES] = "";
  for (; *words_w != NULL; words_w++)
    if (!append_word(line, *words_w, error)) return false;
  struct csi_control_device *control = csi_control_open(error);
  if (control == NULL) return false;
  bool done = execute_and_print(control, line, error);
  csi_control_close(control);
  return done;
}

/* Executes one line of stdin and prints the answer with the line that ends it. */
static void answer(struct csi_control_device *control, const char *text) {
  static const struct csi_profile_variable no_variables[] = {{NULL, NULL}};
  struct csi_ctl_error error = {0};
  char line[CSI_PROFILE_LINE_BYTES];
  enum csi_profile_result result = csi_profile_read_line(text, strlen(text), no_variables, line);
  bool done = true;
  if (result == CSI_PROFILE_COMMAND) {
    done = execute_and_print(control, line, &error);
  } else if (result != CSI_PROFILE_NOTHING) {
    done = csi_ctl_fail(&error, "%s", csi_profile_problem(result));
  }
  if (done) {
    fputs(". ok\n", stdout);
  } else {
    printf(". error: %s\n", error.text);
  }
  fflush(stdout);
}

static bool shell(struct csi_ctl_error *error) {
  struct csi_control_device *control = csi_control_open(error);
  if (control == NULL) return false;
  char text[CSI_PROFILE_LINE_BYTES + 2];
  while (fgets(text, sizeof text, stdin) != NULL)
    answer(control, text);
  csi_control_close(control);
  return true;
}

/* mingw has no prototype for it. */
int wmain(int argc, wchar_t **argv_w);

int wmain(int argc, wchar_t **argv_w) {
  struct csi_ctl_error error = {0};
  bool done;
  if (argc < 2) return misused();
  const wchar_t *command_w = argv_w[1];
  if (wcscmp(command_w, L"install") == 0 && argc == 3) {
    done = csi_testbed_install(argv_w[2], &error);
  } else if (wcscmp(command_w, L"uninstall") == 0 && argc == 2) {
    done = csi_testbed_uninstall(&error);
  } else if (wcscmp(command_w, L"run") == 0 && argc >= 3) {
    done = run(argv_w + 2, &error);
  } else if (wcscmp(command_w, L"wait-disks") == 0 && argc >= 3) {
    done = run(argv_w + 1, &error);
  } else if (wcscmp(command_w, L"apply") == 0 && argc >= 3) {
    done = csi_apply(argv_w[2], argv_w + 3, &error);
  } else if (wcscmp(command_w, L"shell") == 0 && argc == 2) {
    done = shell(&error);
  } else {
    return misused();
  }
  return done ? 0 : fail(&error);
}
