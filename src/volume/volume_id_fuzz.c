/* SPDX-License-Identifier: Apache-2.0
 *
 * Any text: what is taken for a volume id is written and read as the same one again.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "volume/volume_id.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition) {
  if (!condition) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1); /* of exactly that size, for the sanitizer to see its end */
  require(text != NULL);
  if (size > 0) memcpy(text, data, size);
  text[size] = '\0';
  struct csi_guid guid, again;
  if (csi_volume_id_parse(text, &guid)) {
    char id[CSI_VOLUME_ID_BYTES];
    csi_volume_id_format(&guid, id);
    require(strlen(id) == sizeof id - 1);
    require(csi_volume_id_parse(id, &again) && csi_guid_equal(&guid, &again));
    require(strlen(text) >= strlen("Volume{}") + CSI_GUID_TEXT_BYTES - 1 && strlen(text) < sizeof id);
  }
  free(text);
  return 0;
}
