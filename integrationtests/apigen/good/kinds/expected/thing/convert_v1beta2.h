/* SPDX-License-Identifier: Apache-2.0
 *
 * Converts the messages of thing v1beta2 from and to the version-agnostic structures. Strings and arrays
 * are shared with the source where both sides store them alike, the rest is in the arena; a source must
 * live as long as its copy. *to is zeroed (structures) or initialised (messages) by the caller. False,
 * with the status set, when memory is short or a hand-written conversion refuses the value.
 * Made by csi-proxy-api-gen from proto/thing/group.proto and its versions. Do not edit.
 */
#ifndef CSI_GEN_THING_CONVERT_V1BETA2_H
#define CSI_GEN_THING_CONVERT_V1BETA2_H

#include "base/arena.h"
#include "base/status.h"
#include "csi-proxy/thing.h"
#include "thing/v1beta2/api.pb-c.h"

bool csi_thing_v1beta2_everything_from_wire(struct csi_arena *arena, struct csi_status *status,
    const V1beta2__Everything *from, struct csi_thing_everything *to);
bool csi_thing_v1beta2_everything_to_wire(struct csi_arena *arena, struct csi_status *status,
    const struct csi_thing_everything *from, V1beta2__Everything *to);

bool csi_thing_v1beta2_leaf_from_wire(struct csi_arena *arena, struct csi_status *status,
    const V1beta2__Leaf *from, struct csi_thing_leaf *to);
bool csi_thing_v1beta2_leaf_to_wire(struct csi_arena *arena, struct csi_status *status,
    const struct csi_thing_leaf *from, V1beta2__Leaf *to);

#endif
