/* SPDX-License-Identifier: Apache-2.0
 *
 * Any list of names: every one between commas is found, in either case, and reading stays inside it.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "system/protect.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *list = malloc(size + 1);
  if (list == NULL) return 0;
  memcpy(list, data, size);
  list[size] = '\0';
  struct csi_status status = {.code = CSI_OK};
  struct csi_protected_services *services = csi_protected_services_new(list, &status);
  if (services != NULL) {
    if (csi_protected_services_have(services, "")) abort();
    size_t first_bytes = strcspn(list, ",");
    list[first_bytes] = '\0';
    if (first_bytes > 0 && strpbrk(list, " \t") == NULL && !csi_protected_services_have(services, list))
      abort();
  }
  csi_protected_services_free(services);
  free(list);
  return 0;
}
