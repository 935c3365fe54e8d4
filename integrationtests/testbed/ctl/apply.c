/* SPDX-License-Identifier: Apache-2.0 */
#include "apply.h"

#include <windows.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "profile.h"

enum {
  VARIABLES_MAX = 16,
  VARIABLE_BYTES = 1024,
};

/* NAME and VALUE stand one after the other in `text`, each with its NUL. */
struct variables {
  struct csi_profile_variable list[VARIABLES_MAX + 1];
  char text[VARIABLES_MAX][VARIABLE_BYTES];
};

static bool read_variables(struct variables *variables, wchar_t **variables_w, struct csi_ctl_error *error) {
  memset(variables, 0, sizeof *variables);
  for (size_t i = 0; variables_w[i] != NULL; i++) {
    if (i == VARIABLES_MAX) return csi_ctl_fail(error, "there are more than %d variables", VARIABLES_MAX);
    char *text = variables->text[i];
    if (WideCharToMultiByte(CP_UTF8, 0, variables_w[i], -1, text, VARIABLE_BYTES, NULL, NULL) == 0)
      return csi_ctl_fail_win32(error, GetLastError(), "%ls is too long", variables_w[i]);
    char *equals = strchr(text, '=');
    if (equals == NULL) return csi_ctl_fail(error, "%s is not NAME=VALUE", text);
    *equals = '\0';
    variables->list[i] = (struct csi_profile_variable){text, equals + 1};
  }
  return true;
}

static bool execute_line(struct csi_control_device *control, const char *text,
                         const struct csi_profile_variable *variables, struct csi_ctl_error *error) {
  char line[CSI_PROFILE_LINE_BYTES];
  enum csi_profile_result result = csi_profile_read_line(text, strlen(text), variables, line);
  if (result == CSI_PROFILE_NOTHING) return true;
  if (result == CSI_PROFILE_UNKNOWN_VARIABLE)
    return csi_ctl_fail(error, "%s: ${%.100s}", csi_profile_problem(result), line);
  if (result != CSI_PROFILE_COMMAND) return csi_ctl_fail(error, "%s", csi_profile_problem(result));
  const char *reply = "";
  if (!csi_command_execute(control, line, &reply, error)) return false;
  fputs(reply, stdout);
  return true;
}

static bool execute_file(struct csi_control_device *control, FILE *file, const wchar_t *file_w,
                         const struct csi_profile_variable *variables, struct csi_ctl_error *error) {
  char text[CSI_PROFILE_LINE_BYTES + 2];
  for (unsigned number = 1; fgets(text, sizeof text, file) != NULL; number++) {
    struct csi_ctl_error reason;
    if (!execute_line(control, text, variables, &reason))
      return csi_ctl_fail(error, "%ls:%u: %s", file_w, number, reason.text);
  }
  return ferror(file) == 0 || csi_ctl_fail(error, "%ls cannot be read", file_w);
}

bool csi_apply(const wchar_t *file_w, wchar_t **variables_w, struct csi_ctl_error *error) {
  static struct variables variables;
  if (!read_variables(&variables, variables_w, error)) return false;
  FILE *file = _wfopen(file_w, L"rb");
  if (file == NULL) return csi_ctl_fail_win32(error, GetLastError(), "%ls cannot be opened", file_w);
  struct csi_control_device *control = csi_control_open(error);
  bool done = control != NULL && execute_file(control, file, file_w, variables.list, error);
  csi_control_close(control);
  fclose(file);
  return done;
}
