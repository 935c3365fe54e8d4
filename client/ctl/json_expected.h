/* SPDX-License-Identifier: Apache-2.0
 *
 * What a value in the JSON of a message should be, from the top down.
 */
#ifndef CSI_CTL_JSON_EXPECTED_H
#define CSI_CTL_JSON_EXPECTED_H

#include <stdbool.h>
#include <stddef.h>
#include <upb/def.h>

struct csi_json_expected {
  const upb_MessageDef *message; /* of the value, or of each value in a map or list; NULL: a scalar */
  const upb_FieldDef *scalar;    /* the same for scalars; NULL: a message */
  const upb_FieldDef *key;       /* of a map: an object with free names; NULL: no map */
};

/* What the value of a field should be. */
struct csi_json_expected csi_json_expect(const upb_FieldDef *field);

/* What each value in a map or list should be. */
struct csi_json_expected csi_json_expect_inside(struct csi_json_expected outer);

/* A scalar field of whole numbers; false for NULL. */
bool csi_json_is_integer(const upb_FieldDef *field);

/* Whether such a field can hold a number.
 *
 * number (in): decimal digits, perhaps with a minus sign before them. */
bool csi_json_is_in_range(const upb_FieldDef *field, const char *number, size_t length_bytes);

#endif
