/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "client/ctl/ctl.h"

static void fill(struct csi_ctl_error *error, enum csi_ctl_exit exit_code, enum csi_code code,
                 const char *format, va_list arguments) {
  char text[sizeof error->failure.text];
  vsnprintf(text, sizeof text, format, arguments);
  *error = (struct csi_ctl_error){.exit = exit_code, .failure = {.code = code, .precise_code = code}};
  csi_text_escape(error->failure.text, sizeof error->failure.text, text, strlen(text));
}

bool csi_ctl_wrong(struct csi_ctl_error *error, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fill(error, CSI_CTL_USAGE, CSI_INVALID_ARGUMENT, format, arguments);
  va_end(arguments);
  return false;
}

bool csi_ctl_fail(struct csi_ctl_error *error, enum csi_code code, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fill(error, CSI_CTL_REFUSED, code, format, arguments);
  va_end(arguments);
  return false;
}

bool csi_ctl_fail_out_of_memory(struct csi_ctl_error *error) {
  return csi_ctl_fail(error, CSI_OK, "out of memory");
}

bool csi_ctl_hint(struct csi_ctl_error *error, const char *format, ...) {
  char text[sizeof error->hint];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  csi_text_escape(error->hint, sizeof error->hint, text, strlen(text));
  return false;
}

static void print_code(const struct csi_error *failure) {
  fprintf(stderr, "  code: %s", csi_code_name(failure->precise_code));
  if (failure->precise_code != failure->code)
    fprintf(stderr, " (%s on the wire)", csi_code_name(failure->code));
  fputc('\n', stderr);
}

static void print_system_error(const struct csi_error *failure) {
  if (failure->space == CSI_SPACE_NONE && failure->call[0] == '\0') return;
  fprintf(stderr, "  %s:", failure->space == CSI_SPACE_ERRNO ? "system" : "Windows");
  /* Numbers of these spaces are looked up in hexadecimal, the others in decimal. */
  bool hexadecimal = failure->space == CSI_SPACE_NTSTATUS || failure->space == CSI_SPACE_HRESULT ||
                     failure->space == CSI_SPACE_ISDSC;
  if (failure->space != CSI_SPACE_NONE)
    fprintf(stderr, hexadecimal ? " %s error 0x%08X" : " %s error %u", csi_error_space_name(failure->space),
            failure->number);
  if (failure->call[0] != '\0') fprintf(stderr, " in %s", failure->call);
  fputc('\n', stderr);
}

int csi_ctl_report(const struct csi_ctl *ctl, const struct csi_ctl_error *error) {
  (void)ctl;
  fflush(stdout);
  fprintf(stderr, "error: %s\n", error->failure.text);
  if (error->exit != CSI_CTL_USAGE && error->failure.code != CSI_OK) {
    print_code(&error->failure);
    print_system_error(&error->failure);
  }
  if (error->hint[0] != '\0') fprintf(stderr, "  hint: %s\n", error->hint);
  return (int)error->exit;
}
