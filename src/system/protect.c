/* SPDX-License-Identifier: Apache-2.0 */
#include "system/protect.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define BLANKS " \t"

struct csi_protected_services {
  size_t length_bytes;
  char names[]; /* each ends in a NUL */
};

struct csi_protected_services *csi_protected_services_new(const char *list, struct csi_status *status) {
  struct csi_protected_services *services = calloc(1, sizeof *services + strlen(list) + 1);
  if (services == NULL) {
    csi_fail_out_of_memory(status);
    return NULL;
  }
  for (const char *rest = list; *rest != '\0';) {
    size_t item_bytes = strcspn(rest, ",");
    const char *name = rest;
    size_t name_bytes = item_bytes, leading_bytes = strspn(name, BLANKS);
    if (leading_bytes > name_bytes) leading_bytes = name_bytes;
    name += leading_bytes;
    name_bytes -= leading_bytes;
    while (name_bytes > 0 && strchr(BLANKS, name[name_bytes - 1]) != NULL)
      name_bytes--;
    if (name_bytes > 0) {
      memcpy(services->names + services->length_bytes, name, name_bytes);
      services->length_bytes += name_bytes + 1;
    }
    rest += item_bytes;
    if (*rest == ',') rest++;
  }
  return services;
}

void csi_protected_services_free(struct csi_protected_services *services) {
  free(services);
}

bool csi_protected_services_have(const struct csi_protected_services *services, const char *name) {
  const char *end = services->names + services->length_bytes;
  for (const char *item = services->names; item < end; item += strlen(item) + 1)
    if (csi_utf8_equal_ignore_case(item, name)) return true;
  return false;
}
