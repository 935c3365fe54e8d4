/* SPDX-License-Identifier: Apache-2.0
 *
 * Conversions of thing v1alpha1.
 * Made by csi-proxy-api-gen from proto/thing/group.proto and its versions. Do not edit.
 */
#include "thing/convert_v1alpha1.h"

#include <string.h>

#include "codegen/runtime/convert.h"

bool csi_thing_v1alpha1_search_request_from_wire(struct csi_arena *arena, struct csi_status *status,
    const V1alpha1__SearchRequest *from, struct csi_thing_find_request *to) {
  (void)arena;
  (void)status;
  to->name = from->title;
  return true;
}

bool csi_thing_v1alpha1_search_request_to_wire(struct csi_arena *arena, struct csi_status *status,
    const struct csi_thing_find_request *from, V1alpha1__SearchRequest *to) {
  (void)arena;
  (void)status;
  to->title = csi_text_to_wire(from->name);
  return true;
}

bool csi_thing_v1alpha1_search_response_from_wire(struct csi_arena *arena, struct csi_status *status,
    const V1alpha1__SearchResponse *from, struct csi_thing_find_response *to) {
  (void)arena;
  (void)status;
  to->kind = (enum csi_thing_kind)from->kind;
  return true;
}

bool csi_thing_v1alpha1_search_response_to_wire(struct csi_arena *arena, struct csi_status *status,
    const struct csi_thing_find_response *from, V1alpha1__SearchResponse *to) {
  (void)arena;
  (void)status;
  to->kind = (V1alpha1__Kind)from->kind;
  return true;
}

bool csi_thing_v1alpha1_count_request_from_wire(struct csi_arena *arena, struct csi_status *status,
    const V1alpha1__CountRequest *from, struct csi_thing_count_request *to) {
  (void)arena;
  (void)status;
  (void)from;
  (void)to;
  return true;
}

bool csi_thing_v1alpha1_count_request_to_wire(struct csi_arena *arena, struct csi_status *status,
    const struct csi_thing_count_request *from, V1alpha1__CountRequest *to) {
  (void)arena;
  (void)status;
  (void)from;
  (void)to;
  return true;
}

