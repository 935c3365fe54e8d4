/* SPDX-License-Identifier: Apache-2.0
 *
 * Passwords of the testbed's network. The state keeps digests, so that a stand-in DLL has no password in the
 * memory of the program that loads it but those that the program gave it. Not cryptography.
 */
#ifndef CSI_TESTBED_NETWORK_SECRET_H
#define CSI_TESTBED_NETWORK_SECRET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "state.h"

enum { NETWORK_DIGEST_BYTES = 24 };

/* The digest of a secret: hexadecimal digits and a NUL. Of UTF-16 it is that of the same text in UTF-8. */
void network_secret_digest(const void *bytes, size_t count, char digest_out[NETWORK_DIGEST_BYTES]);
void network_secret_digest_utf16(const uint16_t *units_w, size_t count,
                                 char digest_out[NETWORK_DIGEST_BYTES]);

/* Sets the key to the digest of a text; NULL takes it away. */
void network_set_secret(struct network_state *state, struct network_record *record, const char *key,
                        const char *secret);

#endif
