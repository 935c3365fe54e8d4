/* SPDX-License-Identifier: Apache-2.0
 *
 * The conversions that group.proto declares as written by hand.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/runtime/convert.h"
#include "dummy/convert_v1alpha1.h"
#include "dummy/convert_v1beta1.h"

/* --- v1alpha1 has 32-bit numbers */

static bool narrow(struct csi_status *status, int64_t wide, int32_t *narrow_out) {
  if (wide < INT32_MIN || wide > INT32_MAX)
    return csi_fail(status, CSI_OUT_OF_RANGE, "%" PRId64 " does not fit into 32 bits", wide);
  *narrow_out = (int32_t)wide;
  return true;
}

bool csi_dummy_v1alpha1_twice_request_from_wire(struct csi_arena *arena, struct csi_status *status,
                                                const V1alpha1__TwiceRequest *from,
                                                struct csi_dummy_compute_double_request *to) {
  (void)arena;
  (void)status;
  to->input = from->input32;
  return true;
}

bool csi_dummy_v1alpha1_twice_request_to_wire(struct csi_arena *arena, struct csi_status *status,
                                              const struct csi_dummy_compute_double_request *from,
                                              V1alpha1__TwiceRequest *to) {
  (void)arena;
  return narrow(status, from->input, &to->input32);
}

bool csi_dummy_v1alpha1_twice_response_from_wire(struct csi_arena *arena, struct csi_status *status,
                                                 const V1alpha1__TwiceResponse *from,
                                                 struct csi_dummy_compute_double_response *to) {
  (void)arena;
  (void)status;
  to->response = from->response32;
  return true;
}

bool csi_dummy_v1alpha1_twice_response_to_wire(struct csi_arena *arena, struct csi_status *status,
                                               const struct csi_dummy_compute_double_response *from,
                                               V1alpha1__TwiceResponse *to) {
  (void)arena;
  return narrow(status, from->response, &to->response32);
}

/* --- v1beta1 has the numbers of shelves as text */

static bool parse_number(struct csi_status *status, const char *text, uint32_t *number_out) {
  char *end;
  unsigned long long number = strtoull(text, &end, 10);
  if (*text < '0' || *text > '9' || *end != '\0' || number > UINT32_MAX)
    return csi_fail(status, CSI_INVALID_ARGUMENT, "\"%s\" is no number of a shelf", text);
  *number_out = (uint32_t)number;
  return true;
}

typedef V1beta1__ListShelvesResponse__ShelvesEntry wire_shelf;
typedef V1beta1__ListShelvesResponse__LabelsEntry wire_label;

static bool shelves_from_wire(struct csi_arena *arena, struct csi_status *status,
                              const V1beta1__ListShelvesResponse *from,
                              struct csi_dummy_list_shelves_response *to) {
  struct csi_dummy_list_shelves_response_shelves_entry *shelves =
      csi_convert_array(arena, status, from->n_shelves, sizeof *shelves);
  if (shelves == NULL) return false;
  for (size_t i = 0; i < from->n_shelves; i++) {
    const wire_shelf *entry = from->shelves[i];
    if (!parse_number(status, entry->key, &shelves[i].key)) return false;
    if (entry->value != NULL &&
        !csi_dummy_v1beta1_shelf_from_wire(arena, status, entry->value, &shelves[i].value))
      return false;
  }
  to->shelves = shelves;
  to->shelves_count = from->n_shelves;
  return true;
}

bool csi_dummy_v1beta1_list_shelves_response_from_wire(struct csi_arena *arena, struct csi_status *status,
                                                       const V1beta1__ListShelvesResponse *from,
                                                       struct csi_dummy_list_shelves_response *to) {
  struct csi_dummy_list_shelves_response_labels_entry *labels =
      csi_convert_array(arena, status, from->n_labels, sizeof *labels);
  if (labels == NULL) return false;
  for (size_t i = 0; i < from->n_labels; i++) {
    labels[i].key = from->labels[i]->key;
    labels[i].value = from->labels[i]->value;
  }
  to->labels = labels;
  to->labels_count = from->n_labels;
  return shelves_from_wire(arena, status, from, to);
}

static wire_shelf *shelf_to_wire(struct csi_arena *arena, struct csi_status *status,
                                 const struct csi_dummy_list_shelves_response_shelves_entry *from) {
  wire_shelf *entry = csi_convert_array(arena, status, 1, sizeof *entry);
  V1beta1__Shelf *shelf = csi_convert_array(arena, status, 1, sizeof *shelf);
  if (entry == NULL || shelf == NULL) return NULL;
  v1beta1__list_shelves_response__shelves_entry__init(entry);
  v1beta1__shelf__init(shelf);
  entry->key = csi_arena_printf(arena, "%" PRIu32, from->key);
  entry->value = shelf;
  if (entry->key == NULL) {
    csi_fail_out_of_memory(status);
    return NULL;
  }
  return csi_dummy_v1beta1_shelf_to_wire(arena, status, &from->value, shelf) ? entry : NULL;
}

static bool labels_to_wire(struct csi_arena *arena, struct csi_status *status,
                           const struct csi_dummy_list_shelves_response *from,
                           V1beta1__ListShelvesResponse *to) {
  to->labels = csi_convert_array(arena, status, from->labels_count, sizeof *to->labels);
  wire_label *labels = csi_convert_array(arena, status, from->labels_count, sizeof *labels);
  if (to->labels == NULL || labels == NULL) return false;
  for (size_t i = 0; i < from->labels_count; i++) {
    v1beta1__list_shelves_response__labels_entry__init(&labels[i]);
    labels[i].key = csi_text_to_wire(from->labels[i].key);
    labels[i].value = csi_text_to_wire(from->labels[i].value);
    to->labels[i] = &labels[i];
  }
  to->n_labels = from->labels_count;
  return true;
}

bool csi_dummy_v1beta1_list_shelves_response_to_wire(struct csi_arena *arena, struct csi_status *status,
                                                     const struct csi_dummy_list_shelves_response *from,
                                                     V1beta1__ListShelvesResponse *to) {
  to->shelves = csi_convert_array(arena, status, from->shelves_count, sizeof *to->shelves);
  if (to->shelves == NULL) return false;
  for (size_t i = 0; i < from->shelves_count; i++) {
    to->shelves[i] = shelf_to_wire(arena, status, &from->shelves[i]);
    if (to->shelves[i] == NULL) return false;
  }
  to->n_shelves = from->shelves_count;
  return labels_to_wire(arena, status, from, to);
}
