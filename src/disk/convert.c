/* SPDX-License-Identifier: Apache-2.0
 *
 * Up to v1beta2 disk numbers travel as decimal text, and identifiers in a map. A number that does not fit
 * into 32 bits is refused: cut off, "4294967296" would be disk 0.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "codegen/runtime/convert.h"
#include "disk/convert_v1alpha1.h"
#include "disk/convert_v1beta1.h"
#include "disk/convert_v1beta2.h"

#define PAGE83_KEY "page83"
#define SERIAL_KEY "serialNumber"

enum {
  QUOTED_BYTES = 128,
};

/* context: the words that Go clients know from the original, in front of what strconv says. */
static bool parse_number(struct csi_status *status, const char *text, uint32_t *number_out,
                         const char *context) {
  enum csi_decimal result = csi_decimal_parse(text, number_out);
  if (result == CSI_DECIMAL_OK) return true;
  bool too_large = result == CSI_DECIMAL_TOO_LARGE;
  char quoted[QUOTED_BYTES];
  return csi_fail(status, too_large ? CSI_OUT_OF_RANGE : CSI_INVALID_ARGUMENT,
                  "%sstrconv.ParseUint: parsing %s: %s", context, csi_text_quote(quoted, sizeof quoted, text),
                  too_large ? "value out of range" : "invalid syntax");
}

/* A disk number that a service sent: the key of a map, or a field. */
static bool parse_sent_number(struct csi_status *status, const char *text, uint32_t *number_out) {
  return parse_number(status, text, number_out, "invalid disk number: ");
}

static bool print_number(struct csi_arena *arena, struct csi_status *status, uint32_t number,
                         char **text_out) {
  *text_out = csi_arena_printf(arena, "%" PRIu32, number);
  return *text_out != NULL || csi_fail_out_of_memory(status);
}

/* Entries of both maps begin with their key. */
static int compare_keys(const void *a, const void *b) {
  uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
  return (left > right) - (left < right);
}

#define VERSION v1alpha1
#define WIRE V1alpha1
#define HAS_IDS 0
#include "disk/convert_text_ids.h"

#define VERSION v1beta1
#define WIRE V1beta1
#define HAS_IDS 1
#include "disk/convert_text_ids.h"

#define VERSION v1beta2
#define WIRE V1beta2
#define HAS_IDS 1
#include "disk/convert_text_ids.h"

/* --- GetDiskNumberByName is in v1alpha1 only */

bool csi_disk_v1alpha1_get_disk_number_by_name_response_from_wire(
    struct csi_arena *arena, struct csi_status *status, const V1alpha1__GetDiskNumberByNameResponse *from,
    struct csi_disk_get_disk_number_by_name_response *to) {
  (void)arena;
  return parse_sent_number(status, from->disk_number, &to->disk_number);
}

bool csi_disk_v1alpha1_get_disk_number_by_name_response_to_wire(
    struct csi_arena *arena, struct csi_status *status,
    const struct csi_disk_get_disk_number_by_name_response *from, V1alpha1__GetDiskNumberByNameResponse *to) {
  return print_number(arena, status, from->disk_number, &to->disk_number);
}

/* --- SetAttachState and GetAttachState are in v1beta2 only */

bool csi_disk_v1beta2_set_attach_state_request_from_wire(struct csi_arena *arena, struct csi_status *status,
                                                         const V1beta2__SetAttachStateRequest *from,
                                                         struct csi_disk_set_disk_state_request *to) {
  (void)arena;
  to->is_online = from->isonline != 0;
  return parse_number(status, from->diskid, &to->disk_number,
                      "Failed to format SetAttachStateRequest.DiskID with err: ");
}

bool csi_disk_v1beta2_set_attach_state_request_to_wire(struct csi_arena *arena, struct csi_status *status,
                                                       const struct csi_disk_set_disk_state_request *from,
                                                       V1beta2__SetAttachStateRequest *to) {
  to->isonline = from->is_online;
  return print_number(arena, status, from->disk_number, &to->diskid);
}

bool csi_disk_v1beta2_get_attach_state_request_from_wire(struct csi_arena *arena, struct csi_status *status,
                                                         const V1beta2__GetAttachStateRequest *from,
                                                         struct csi_disk_get_disk_state_request *to) {
  (void)arena;
  return parse_number(status, from->diskid, &to->disk_number,
                      "Failed to format GetAttachStateRequest.DiskID with err: ");
}

bool csi_disk_v1beta2_get_attach_state_request_to_wire(struct csi_arena *arena, struct csi_status *status,
                                                       const struct csi_disk_get_disk_state_request *from,
                                                       V1beta2__GetAttachStateRequest *to) {
  return print_number(arena, status, from->disk_number, &to->diskid);
}
