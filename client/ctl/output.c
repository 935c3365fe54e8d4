/* SPDX-License-Identifier: Apache-2.0 */
#include "client/ctl/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/ctl/dynamic.h"
#include "client/ctl/json_text.h"
#include "client/ctl/terminal.h"
#include "client/ctl/yaml.h"

bool csi_output_coloured(const struct csi_ctl *ctl) {
  if (ctl->colour == CSI_CTL_COLOUR_NEVER) return false;
  bool is_capable =
      csi_terminal_is_capable(); /* also asked with `always`: it makes a console of Windows so */
  const char *no_colour = getenv("NO_COLOR");
  bool is_wanted = no_colour == NULL || no_colour[0] == '\0';
  return ctl->colour == CSI_CTL_COLOUR_ALWAYS || (is_wanted && is_capable);
}

size_t csi_output_columns(void) {
  struct csi_terminal_size size;
  return csi_terminal_size(&size) ? size.columns : 0;
}

static int fail(const struct csi_ctl *ctl, const char *text) {
  struct csi_ctl_error error;
  csi_ctl_fail(&error, CSI_OK, "%s", text);
  return csi_ctl_report(ctl, &error);
}

int csi_output_not_written(const struct csi_ctl *ctl) {
  struct csi_ctl_error error;
  int number = errno;
  csi_ctl_fail(&error, CSI_OK, "the result cannot be written to standard output: %s", strerror(number));
  return number == EPIPE ? CSI_CTL_REFUSED : csi_ctl_report(ctl, &error);
}

int csi_output_write(const struct csi_ctl *ctl, struct csi_text_buffer *buffer) {
  bool complete = !buffer->out_of_memory;
  bool written = complete && csi_terminal_write(buffer->text, buffer->length_bytes);
  int number = errno;
  csi_text_buffer_free(buffer);
  errno = number;
  if (!complete) return fail(ctl, "not enough memory to show the result");
  if (!written) return csi_output_not_written(ctl);
  return CSI_CTL_DONE;
}

int csi_output_message(const struct csi_ctl *ctl, const struct csi_ctl_message *message) {
  struct csi_arena *arena = csi_arena_new(SIZE_MAX);
  struct csi_text_buffer buffer = {0};
  struct csi_status status = {0};
  char *json;
  size_t json_bytes;
  bool ok = arena != NULL && csi_ctl_to_json(message, arena, &json, &json_bytes);
  if (!ok)
    csi_fail_out_of_memory(&status);
  else if (ctl->format == CSI_CTL_YAML)
    ok = csi_yaml_from_json(json, json_bytes, &buffer, &status);
  else
    ok = csi_json_indent(json, json_bytes, &buffer, &status);
  csi_arena_free(arena);
  if (ok) return csi_output_write(ctl, &buffer);
  csi_text_buffer_free(&buffer);
  return fail(ctl, status.text);
}
