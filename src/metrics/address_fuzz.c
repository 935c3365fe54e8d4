/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "metrics/address.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes) {
  char *text = malloc(size_bytes + 1);
  if (text == NULL) return 0;
  memcpy(text, data, size_bytes);
  text[size_bytes] = '\0';
  struct csi_address address;
  struct csi_status status = {0};
  bool parsed = csi_address_parse(text, &address, &status);
  /* What passes has room for its NUL and stands in the text; what does not says why. */
  if (parsed ? strlen(address.host) >= sizeof address.host || strstr(text, address.host) == NULL
             : status.code != CSI_INVALID_ARGUMENT || status.text[0] == '\0')
    abort();
  free(text);
  return 0;
}
