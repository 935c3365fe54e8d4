/* SPDX-License-Identifier: Apache-2.0
 *
 * convert json|yaml: reads JSON texts from standard input, one a line, and writes each as csi-proxyctl shows
 * it, followed by a NUL.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/ctl/json_text.h"
#include "client/ctl/yaml.h"

int main(int argc, char **argv) {
  bool yaml = argc == 2 && strcmp(argv[1], "yaml") == 0;
  char *line = NULL;
  size_t capacity = 0;
  ssize_t length;
  int result = 0;
  while (result == 0 && (length = getline(&line, &capacity, stdin)) > 0) {
    struct csi_text_buffer buffer = {0};
    struct csi_status status = {0};
    bool ok = yaml ? csi_yaml_from_json(line, (size_t)length, &buffer, &status)
                   : csi_json_indent(line, (size_t)length, &buffer, &status);
    if (ok)
      fwrite(buffer.text, 1, buffer.length_bytes + 1, stdout);
    else
      result = fprintf(stderr, "%s\n", status.text) > 0;
    csi_text_buffer_free(&buffer);
  }
  free(line);
  return result;
}
