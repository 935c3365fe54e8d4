/* SPDX-License-Identifier: Apache-2.0
 *
 * The name somebody meant who typed another one.
 */
#ifndef CSI_CTL_SUGGEST_H
#define CSI_CTL_SUGGEST_H

#include <stddef.h>

enum {
  CSI_SUGGEST_NAME_BYTES = 64, /* longer names are never like another */
};

/* The best of the names offered so far. All zero is a fresh one, but for `typed`. */
struct csi_suggestion {
  const char *typed;
  const char *best; /* NULL: none is near enough */
  unsigned distance;
};

/* How many letters must be added, left out, exchanged or swapped with their neighbour to make one name of the
 * other, without regard to the case of ASCII letters. Names beyond CSI_SUGGEST_NAME_BYTES: UINT_MAX. */
unsigned csi_suggest_distance(const char *a, const char *b);

/* Offers a name, borrowed. It is taken when it is nearer than what was offered before, and near at all: a
 * third of its letters may differ, or it begins with what was typed (two letters or more). */
void csi_suggest_offer(struct csi_suggestion *suggestion, const char *name);

#endif
