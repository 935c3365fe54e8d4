/* SPDX-License-Identifier: Apache-2.0
 *
 * What the testbed's network is made of: records, each of a kind, with values by key. As text, a record is a
 * line, `share root=\\host\share user=U`, with what a word cannot hold as %XX. Each stand-in DLL has kinds of
 * its own; nothing here knows them. Portable. Values are UTF-8; secrets are never among them, but what
 * network_secret_digest() makes of them.
 */
#ifndef CSI_TESTBED_NETWORK_STATE_H
#define CSI_TESTBED_NETWORK_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "driver/text.h"

enum {
  NETWORK_STATE_BYTES = 1 << 20, /* longest text of a state */
  NETWORK_FIELDS_MAX = 40,       /* of a record */
};

struct network_record;

/* All records. Zeroed, it is a state without any. */
struct network_state {
  struct network_record *first, **end; /* private; end is NULL before the first */
  bool is_changed;                     /* since it was read */
  bool is_broken;                      /* memory was short, or a limit was met: it must not be written */
};

/* Reads a text, which is changed, into a zeroed state. Lines that are none are left out, and make it broken.
 */
void network_state_parse(struct network_state *state, char *text);

/* The text of all records, in memory from malloc(); NULL when the state is broken. */
char *network_state_format(struct network_state *state);

/* Adds a value as a word of a line can hold it: with %XX. */
void network_add_value(struct vdisk_text *text, const char *value);

/* Frees all records. */
void network_state_clear(struct network_state *state);

/* Makes a record behind all others. Never NULL: when memory is short the state is broken, and the record
 * takes no values. */
struct network_record *network_add(struct network_state *state, const char *kind);

/* Removes the record; its values end with it. */
void network_remove(struct network_state *state, struct network_record *record);

/* Removes all records of the kind; all of them, whatever their kind, when it is NULL. */
void network_remove_all(struct network_state *state, const char *kind);

/* The first record of the kind behind `after`, or of all when that is NULL; NULL when there is none. */
struct network_record *network_next(const struct network_state *state, const char *kind,
                                    const struct network_record *after);

/* The first record of the kind whose key has the value, in either case of ASCII; NULL when there is none. */
struct network_record *network_find(const struct network_state *state, const char *kind, const char *key,
                                    const char *value);

/* How many records there are of the kind. */
size_t network_count(const struct network_state *state, const char *kind);

/* The only record of the kind, made when it is not there: for settings. */
struct network_record *network_settings(struct network_state *state, const char *kind);

/* The value, which lives until it is set again; NULL when the record has no such key. */
const char *network_get(const struct network_record *record, const char *key);
/* The value as a number; otherwise when it is none, or not there. */
uint64_t network_get_number(const struct network_record *record, const char *key, uint64_t otherwise);
bool network_has(const struct network_record *record, const char *key, const char *value);

/* Sets a value; NULL takes the key away. */
void network_set(struct network_state *state, struct network_record *record, const char *key,
                 const char *value);
void network_set_number(struct network_state *state, struct network_record *record, const char *key,
                        uint64_t number);

#endif
