/* SPDX-License-Identifier: Apache-2.0
 *
 * Any bytes as JSON text: what is refused is refused in both forms, what is taken is taken again after it was
 * indented, and no character that directs a terminal comes out.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "client/ctl/json_text.h"
#include "client/ctl/yaml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition) {
  if (!condition) abort();
}

static void require_harmless(const struct csi_text_buffer *text) {
  for (size_t at = 0; at < text->length_bytes;) {
    uint32_t point;
    size_t size = csi_utf8_decode(text->text + at, text->length_bytes - at, &point);
    require(size > 0 && (point == '\n' || !csi_character_is_treacherous(point)));
    at += size;
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct csi_text_buffer indented = {0}, again = {0}, yaml = {0};
  struct csi_status status = {0};
  bool taken = csi_json_indent((const char *)data, size, &indented, &status);
  require(csi_yaml_from_json((const char *)data, size, &yaml, &status) == taken);
  if (taken) {
    require_harmless(&indented);
    require_harmless(&yaml);
    require(csi_json_indent(indented.text, indented.length_bytes, &again, &status));
    require(strcmp(indented.text, again.text) == 0);
  }
  csi_text_buffer_free(&indented);
  csi_text_buffer_free(&again);
  csi_text_buffer_free(&yaml);
  return 0;
}
