/* SPDX-License-Identifier: Apache-2.0
 *
 * Shares of the testbed's network, and their global mappings: what servers and Windows answer. Both ways to
 * mappings, mpr.dll and mi.dll, stand on this. Portable; share_folders.h moves the files.
 *
 * Records: `share` root, user (none: everybody may), password (digest), privacy=0|1, state=up|down|gone;
 * `mapping` root, user, password (digest), privacy=0|1, broken=0|1; `shares` enumerate=0|1.
 */
#ifndef CSI_TESTBED_NETWORK_SHARES_H
#define CSI_TESTBED_NETWORK_SHARES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "driver/text.h"
#include "driver/words.h"
#include "state.h"

enum {
  NETWORK_ROOT_BYTES = 320,
};

/* The answers, as Win32 numbers them. */
enum network_share_answer {
  NETWORK_SHARE_DONE = 0,
  NETWORK_SHARE_ACCESS_DENIED = 5,
  NETWORK_SHARE_BAD_NETPATH = 53,
  NETWORK_SHARE_NO_PRIVACY = 65,
  NETWORK_SHARE_BAD_NET_NAME = 67,
  NETWORK_SHARE_INVALID_PASSWORD = 86,
  NETWORK_SHARE_CREDENTIAL_CONFLICT = 1219,
  NETWORK_SHARE_LOGON_FAILURE = 1326,
  NETWORK_SHARE_NOT_CONNECTED = 2250,
};

struct network_credentials {
  const char *user;   /* UTF-8; "" = none are given */
  const char *digest; /* of the password: network_secret_digest() */
};

/* `\\host\share` in lower case, as records have it, of a text with either slash, in any case, with or
 * without one at the end. False when it is no root of a share. */
bool network_share_root(const char *text, char root_out[NETWORK_ROOT_BYTES]);

/* What the server of the share says to the credentials, beside any mapping. */
uint32_t network_share_try(const struct network_state *state, const char *root,
                           const struct network_credentials *credentials, bool require_privacy);

/* Maps the share for all. Over a mapping with the same credentials: done, and it is not broken any more;
 * with others, or beside a mapping of the same host as somebody else: NETWORK_SHARE_CREDENTIAL_CONFLICT. */
uint32_t network_share_map(struct network_state *state, const char *root,
                           const struct network_credentials *credentials, bool require_privacy);

/* Done, or NETWORK_SHARE_NOT_CONNECTED. */
uint32_t network_share_unmap(struct network_state *state, const char *root);

/* The mapping of the share, NULL when it has none; all of them with network_next(state, "mapping", ...). */
const struct network_record *network_share_mapping(const struct network_state *state, const char *root);

/* True when Windows says that the mapping is disconnected. */
bool network_share_is_broken(const struct network_record *mapping);

/* True when WNetOpenEnumW() lists global mappings: `share enumerate=1`, which is the default. */
bool network_shares_are_listed(const struct network_state *state);

/* True when programs can open what is in the share. A disconnected mapping does not keep them from it:
 * Windows connects again. */
bool network_share_is_reachable(const struct network_state *state, const struct network_record *share);

/* `share` and its words behind that: add, set, remove, map, unmap, list, enumerate=0|1. False with what was
 * wrong, and nothing done. */
bool network_share_command(struct network_state *state, struct vdisk_words *words, struct vdisk_text *reply,
                           const char **problem_out);

#endif
