/* SPDX-License-Identifier: Apache-2.0 */
#include "words.h"

#include <string.h>

#include "text.h"

static bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

bool vdisk_words_split(struct vdisk_words *words, char *line) {
  memset(words, 0, sizeof *words);
  for (char *at = line; *at != 0;) {
    while (is_blank(*at))
      *at++ = 0;
    if (*at == 0 || (words->count == 0 && *at == '#')) break;
    if (words->count == VDISK_WORDS_MAX) return false;
    words->word[words->count++] = at;
    while (*at != 0 && !is_blank(*at))
      at++;
  }
  for (uint32_t i = 0; i < words->count; i++) {
    char *equals = strchr(words->word[i], '=');
    if (equals == NULL) continue;
    *equals = 0;
    words->value[i] = equals + 1;
  }
  return true;
}

const char *vdisk_words_take(struct vdisk_words *words) {
  if (words->next == words->count || words->value[words->next] != NULL) return "";
  words->used[words->next] = true;
  return words->word[words->next++];
}

/* The place of the key, marked as used; count when it is not there. */
static uint32_t find(struct vdisk_words *words, const char *key) {
  uint32_t i = words->next;
  while (i < words->count && strcmp(words->word[i], key) != 0)
    i++;
  if (i < words->count) words->used[i] = true;
  return i;
}

char *vdisk_words_value(struct vdisk_words *words, const char *key) {
  uint32_t i = find(words, key);
  return i < words->count ? words->value[i] : NULL;
}

bool vdisk_words_has(struct vdisk_words *words, const char *key) {
  return find(words, key) < words->count;
}

bool vdisk_words_flag(struct vdisk_words *words, const char *key) {
  uint32_t i = find(words, key);
  return i < words->count && (words->value[i] == NULL || strcmp(words->value[i], "0") != 0);
}

const char *vdisk_words_unused(const struct vdisk_words *words) {
  for (uint32_t i = 0; i < words->count; i++)
    if (!words->used[i]) return words->word[i];
  return NULL;
}

bool vdisk_percent_decode(char *value) {
  char *out = value;
  for (const char *in = value; *in != 0; in++) {
    if (*in != '%') {
      *out++ = *in;
      continue;
    }
    int high = vdisk_hex_digit(in[1]);
    int low = high < 0 ? -1 : vdisk_hex_digit(in[2]);
    if (low < 0 || (high == 0 && low == 0)) return false;
    *out++ = (char)(high << 4 | low);
    in += 2;
  }
  *out = 0;
  return true;
}

/* The factor of a suffix as a shift; -1 when it is none. */
static int shift_of(const char *suffix) {
  static const char letters[] = "KMGT";
  if (suffix[0] == 0) return 0;
  const char *letter = strchr(letters, suffix[0]);
  return letter != NULL && suffix[1] == 0 ? (int)(letter - letters + 1) * 10 : -1;
}

bool vdisk_number_parse(const char *string, uint64_t *number_out) {
  bool is_hex = string[0] == '0' && string[1] == 'x';
  unsigned base = is_hex ? 16 : 10;
  const char *at = is_hex ? string + 2 : string;
  const char *first = at;
  uint64_t number = 0;
  for (; *at != 0; at++) {
    int digit = vdisk_hex_digit(*at);
    if (digit < 0 || (unsigned)digit >= base) break;
    if (number > (UINT64_MAX - (unsigned)digit) / base) return false;
    number = number * base + (unsigned)digit;
  }
  int shift = shift_of(at);
  if (at == first || shift < 0 || number > UINT64_MAX >> shift) return false;
  *number_out = number << shift;
  return true;
}
