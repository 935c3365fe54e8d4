/* SPDX-License-Identifier: Apache-2.0
 *
 * What tests do with the text of metrics; to be included behind cmocka.h.
 */
#ifndef CSI_METRICS_TEST_TEXT_H
#define CSI_METRICS_TEST_TEXT_H

#include <stdlib.h>
#include <string.h>

#include "metrics/exposition.h"

/* Takes the text out of an exposition, which it frees; to be freed with free(). */
static inline char *take_text(struct csi_exposition *out) {
  assert_false(out->failed);
  char *text = calloc(1, out->length_bytes + 1);
  assert_non_null(text);
  memcpy(text, out->text, out->length_bytes);
  csi_exposition_free(out);
  return text;
}

static inline void assert_has(const char *text, const char *line) {
  if (strstr(text, line) == NULL) fail_msg("\"%s\" is not in\n%s", line, text);
}

#endif
