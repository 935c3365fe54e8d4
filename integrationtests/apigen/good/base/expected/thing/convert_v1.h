/* SPDX-License-Identifier: Apache-2.0
 *
 * Converts the messages of thing v1 from and to the version-agnostic structures. Strings and arrays are
 * shared with the source where both sides store them alike, the rest is in the arena; a source must live
 * as long as its copy. *to is zeroed (structures) or initialised (messages) by the caller. False, with
 * the status set, when memory is short or a hand-written conversion refuses the value.
 * Made by csi-proxy-api-gen from proto/thing/group.proto and its versions. Do not edit.
 */
#ifndef CSI_GEN_THING_CONVERT_V1_H
#define CSI_GEN_THING_CONVERT_V1_H

#include "base/arena.h"
#include "base/status.h"
#include "csi-proxy/thing.h"
#include "thing/v1/api.pb-c.h"

bool csi_thing_v1_find_request_from_wire(struct csi_arena *arena, struct csi_status *status,
    const V1__FindRequest *from, struct csi_thing_find_request *to);
bool csi_thing_v1_find_request_to_wire(struct csi_arena *arena, struct csi_status *status,
    const struct csi_thing_find_request *from, V1__FindRequest *to);

bool csi_thing_v1_find_response_from_wire(struct csi_arena *arena, struct csi_status *status,
    const V1__FindResponse *from, struct csi_thing_find_response *to);
bool csi_thing_v1_find_response_to_wire(struct csi_arena *arena, struct csi_status *status,
    const struct csi_thing_find_response *from, V1__FindResponse *to);

bool csi_thing_v1_count_request_from_wire(struct csi_arena *arena, struct csi_status *status,
    const V1__CountRequest *from, struct csi_thing_count_request *to);
bool csi_thing_v1_count_request_to_wire(struct csi_arena *arena, struct csi_status *status,
    const struct csi_thing_count_request *from, V1__CountRequest *to);

bool csi_thing_v1_count_response_from_wire(struct csi_arena *arena, struct csi_status *status,
    const V1__CountResponse *from, struct csi_thing_count_response *to);
bool csi_thing_v1_count_response_to_wire(struct csi_arena *arena, struct csi_status *status,
    const struct csi_thing_count_response *from, V1__CountResponse *to);

bool csi_thing_v1_shelf_from_wire(struct csi_arena *arena, struct csi_status *status,
    const V1__Shelf *from, struct csi_thing_shelf *to);
bool csi_thing_v1_shelf_to_wire(struct csi_arena *arena, struct csi_status *status,
    const struct csi_thing_shelf *from, V1__Shelf *to);

#endif
