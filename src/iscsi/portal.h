/* SPDX-License-Identifier: Apache-2.0
 *
 * Where targets are offered: an address and a port, as a request or the initiator spells them. Pure
 * functions.
 */
#ifndef CSI_ISCSI_PORTAL_H
#define CSI_ISCSI_PORTAL_H

#include <stdbool.h>
#include <stdint.h>

#include "iscsi/host.h"

enum {
  CSI_ISCSI_PORTAL_KEY_BYTES = CSI_ISCSI_ADDRESS_BYTES + 64,
};

/* Reads what a request names: an IPv4 or IPv6 address, the latter with or without brackets, or a host name,
 * and a port, 0 for 3260. The address stays as it was spelt, but for the brackets.
 *
 * NULL, or what is wrong with it: a literal for people. Refused is only what no resolver takes: blanks and
 * control characters, brackets, slashes, a colon outside an IPv6 address. */
const char *csi_iscsi_portal_read(const char *address, uint32_t port, struct csi_iscsi_portal *portal_out);

/* Writes a text that is the same for all spellings of a portal: IPv6 in full, names in lower case (ASCII) and
 * without the dot at the end. A name and its address are two portals: nothing is resolved. */
void csi_iscsi_portal_key(const struct csi_iscsi_portal *portal, char key_out[CSI_ISCSI_PORTAL_KEY_BYTES]);

/* True when both have the same key. */
bool csi_iscsi_portal_is_equal(const struct csi_iscsi_portal *a, const struct csi_iscsi_portal *b);

#endif
