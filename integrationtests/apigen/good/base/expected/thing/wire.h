/* SPDX-License-Identifier: Apache-2.0
 *
 * What encoded messages of the thing group may hold.
 * Made by csi-proxy-api-gen from proto/thing/group.proto and its versions. Do not edit.
 */
#ifndef CSI_GEN_THING_WIRE_H
#define CSI_GEN_THING_WIRE_H

#include "rpc/wire.h"

extern const struct csi_wire_message csi_thing_v1alpha1_search_request_wire;
extern const struct csi_wire_message csi_thing_v1alpha1_search_response_wire;
extern const struct csi_wire_message csi_thing_v1alpha1_count_request_wire;
extern const struct csi_wire_message csi_thing_v1alpha1_count_response_wire;
extern const struct csi_wire_message csi_thing_v1_find_request_wire;
extern const struct csi_wire_message csi_thing_v1_find_response_wire;
extern const struct csi_wire_message csi_thing_v1_count_request_wire;
extern const struct csi_wire_message csi_thing_v1_count_response_wire;
extern const struct csi_wire_message csi_thing_v1_shelf_wire;

#endif
