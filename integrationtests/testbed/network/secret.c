/* SPDX-License-Identifier: Apache-2.0 */
#include "secret.h"

#include <string.h>

#include "driver/text.h"

/* 64 bits of FNV-1a. */
#define DIGEST_BEGIN UINT64_C(0xCBF29CE484222325)
#define DIGEST_FACTOR UINT64_C(0x100000001B3)

struct digest {
  uint64_t state;
  uint64_t count;
};

static void add_byte(struct digest *digest, uint32_t byte) {
  digest->state = (digest->state ^ (byte & 0xFF)) * DIGEST_FACTOR;
  digest->count++;
}

static void end(const struct digest *digest, char digest_out[NETWORK_DIGEST_BYTES]) {
  struct vdisk_text text;
  vdisk_text_init(&text, digest_out, NETWORK_DIGEST_BYTES);
  vdisk_text_add_hex(&text, digest->count & 0xFFFF, 4);
  vdisk_text_add_hex(&text, digest->state, 16);
}

void network_secret_digest(const void *bytes, size_t count, char digest_out[NETWORK_DIGEST_BYTES]) {
  struct digest digest = {.state = DIGEST_BEGIN};
  for (size_t i = 0; i < count; i++)
    add_byte(&digest, ((const uint8_t *)bytes)[i]);
  end(&digest, digest_out);
}

static bool is_pair(uint32_t high, uint32_t low) {
  return high >= 0xD800 && high <= 0xDBFF && low >= 0xDC00 && low <= 0xDFFF;
}

static void add_character(struct digest *digest, uint32_t character) {
  if (character < 0x80) {
    add_byte(digest, character);
    return;
  }
  unsigned following = character < 0x800 ? 1 : character < 0x10000 ? 2 : 3;
  static const uint32_t leads[] = {0, 0xC0, 0xE0, 0xF0};
  add_byte(digest, leads[following] | character >> (6 * following));
  while (following-- > 0)
    add_byte(digest, 0x80 | (character >> (6 * following) & 0x3F));
}

void network_secret_digest_utf16(const uint16_t *units_w, size_t count,
                                 char digest_out[NETWORK_DIGEST_BYTES]) {
  struct digest digest = {.state = DIGEST_BEGIN};
  for (size_t i = 0; i < count; i++) {
    uint32_t character = units_w[i];
    if (i + 1 < count && is_pair(character, units_w[i + 1]))
      character = 0x10000 + ((character - 0xD800) << 10) + (units_w[++i] - 0xDC00u);
    add_character(&digest, character);
  }
  end(&digest, digest_out);
}

void network_set_secret(struct network_state *state, struct network_record *record, const char *key,
                        const char *secret) {
  char digest[NETWORK_DIGEST_BYTES];
  if (secret != NULL) network_secret_digest(secret, strlen(secret), digest);
  network_set(state, record, key, secret == NULL ? NULL : digest);
}
