/* SPDX-License-Identifier: Apache-2.0
 *
 * A command line taken apart: blanks separate words, a word is a flag or `key=value`.
 */
#ifndef VDISK_WORDS_H
#define VDISK_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { VDISK_WORDS_MAX = 48 };

/* The words of one line. They point into the line, which is changed. */
struct vdisk_words {
  uint32_t count;
  uint32_t next;                /* the next one vdisk_words_take() returns */
  bool used[VDISK_WORDS_MAX];   /* taken, or looked up by its key */
  char *word[VDISK_WORDS_MAX];  /* the flag or the key */
  char *value[VDISK_WORDS_MAX]; /* NULL for a flag */
};

/* Takes a NUL-terminated line apart. A line that begins with # has no words. False when there are too many
 * words. */
bool vdisk_words_split(struct vdisk_words *words, char *line);

/* The next word from the left that has no value, such as `disk` and `add`; "" when there is none. */
const char *vdisk_words_take(struct vdisk_words *words);

/* The value of key, as it stands in the line; NULL when the key is not there. */
char *vdisk_words_value(struct vdisk_words *words, const char *key);

/* True when the word is there, with a value or without. */
bool vdisk_words_has(struct vdisk_words *words, const char *key);

/* True when the flag is there: alone, or as key=1; false also for key=0. */
bool vdisk_words_flag(struct vdisk_words *words, const char *key);

/* The first word nobody has asked for; NULL when there is none. */
const char *vdisk_words_unused(const struct vdisk_words *words);

/* Replaces each %XX by the byte it stands for. False when one is broken or would be a NUL. */
bool vdisk_percent_decode(char *value);

/* Reads a number: decimal or 0x..., with K, M, G or T behind it. False when it is none or too large. */
bool vdisk_number_parse(const char *string, uint64_t *number_out);

#endif
