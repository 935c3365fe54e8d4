/* SPDX-License-Identifier: Apache-2.0
 *
 * Any address and port: what is taken for a portal is equal to itself however its key is spelt, and its
 * address is taken again. Any text at all has a key of bounded length.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/little_endian.h"
#include "iscsi/portal.h"
#include "iscsi/structures.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition) {
  if (!condition) abort();
}

static void check_key(const struct csi_iscsi_portal *portal) {
  char key[CSI_ISCSI_PORTAL_KEY_BYTES];
  csi_iscsi_portal_key(portal, key);
  require(memchr(key, '\0', sizeof key) != NULL && strrchr(key, ':') != NULL);
  struct csi_iscsi_portal spelt = {.port = portal->port};
  size_t length = (size_t)(strrchr(key, ':') - key);
  if (length == 0 || length >= sizeof spelt.address) return;
  memcpy(spelt.address, key, length);
  /* `a..` loses one dot a time. */
  require(csi_iscsi_portal_is_equal(portal, &spelt) || key[length - 1] == '.');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  uint32_t port = size >= 4 ? csi_get_u32(data) : 0;
  size_t skip = size >= 4 ? 4 : 0;
  char *address = malloc(size - skip + 1); /* of exactly that size, for the sanitizer to see its end */
  require(address != NULL);
  if (size > skip) memcpy(address, data + skip, size - skip);
  address[size - skip] = '\0';
  struct csi_iscsi_portal portal, again, raw = {.port = (uint16_t)port};
  if (csi_iscsi_portal_read(address, port, &portal) == NULL) {
    require(portal.address[0] != '\0' && (port == 0 ? portal.port == 3260 : portal.port == port));
    require(csi_iscsi_portal_read(portal.address, portal.port == 0 ? 1 : portal.port, &again) == NULL);
    require(strcmp(portal.address, again.address) == 0);
    check_key(&portal);
  }
  (void)csi_iscsi_mechanism_is_portal(address, &raw);
  strncat(raw.address, address, sizeof raw.address - 1);
  csi_iscsi_portal_key(&raw, (char[CSI_ISCSI_PORTAL_KEY_BYTES]){0});
  require(csi_iscsi_portal_is_equal(&raw, &raw));
  free(address);
  return 0;
}
