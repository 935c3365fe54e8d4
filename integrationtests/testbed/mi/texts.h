/* SPDX-License-Identifier: Apache-2.0
 *
 * The texts that the class MSFT_SmbGlobalMapping is given, in UTF-16. Portable.
 */
#ifndef CSI_TESTBED_MI_TEXTS_H
#define CSI_TESTBED_MI_TEXTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  MI_NAME_BYTES = 64,
  MI_VALUE_UNITS = 1024,
};

/* SELECT * FROM class WHERE property = 'value' */
struct mi_query {
  char class_name[MI_NAME_BYTES];
  char property[MI_NAME_BYTES];
  uint16_t value_w[MI_VALUE_UNITS]; /* without escapes, ends in a NUL */
};

/* `user:password` with backslashes before backslashes and colons of the user. */
struct mi_credential {
  uint16_t user_w[MI_VALUE_UNITS]; /* without escapes, ends in a NUL */
  const uint16_t *password_w;      /* in the text */
};

/* Read texts that end in a NUL. False when they are something else, or too long. */
bool mi_query_parse(const uint16_t *text_w, struct mi_query *query_out);
bool mi_credential_parse(const uint16_t *text_w, struct mi_credential *credential_out);

#endif
