/* SPDX-License-Identifier: Apache-2.0
 *
 * What encoded messages of the thing group may hold.
 * Made by csi-proxy-api-gen from proto/thing/group.proto and its versions. Do not edit.
 */
#include "thing/wire.h"

static const struct csi_wire_field csi_thing_v1alpha1_search_request_fields[] = {
    {.number = 1, .kind = CSI_WIRE_STRING, .max_bytes = 64, .name = "title"},
    {.number = 2, .kind = CSI_WIRE_VARINT, .name = "context"},
};
const struct csi_wire_message csi_thing_v1alpha1_search_request_wire = {
    .name = "v1alpha1.SearchRequest",
    .fields = csi_thing_v1alpha1_search_request_fields,
    .field_count = 2,
};

static const struct csi_wire_field csi_thing_v1alpha1_search_response_fields[] = {
    {.number = 1, .kind = CSI_WIRE_VARINT, .name = "kind"},
};
const struct csi_wire_message csi_thing_v1alpha1_search_response_wire = {
    .name = "v1alpha1.SearchResponse",
    .fields = csi_thing_v1alpha1_search_response_fields,
    .field_count = 1,
};

const struct csi_wire_message csi_thing_v1alpha1_count_request_wire = {
    .name = "v1alpha1.CountRequest",
};

static const struct csi_wire_field csi_thing_v1alpha1_count_response_fields[] = {
    {.number = 1, .kind = CSI_WIRE_STRING, .max_bytes = 4194304, .name = "count"},
};
const struct csi_wire_message csi_thing_v1alpha1_count_response_wire = {
    .name = "v1alpha1.CountResponse",
    .fields = csi_thing_v1alpha1_count_response_fields,
    .field_count = 1,
};

static const struct csi_wire_field csi_thing_v1_find_request_shelves_entry_fields[] = {
    {.number = 1, .kind = CSI_WIRE_VARINT, .name = "key"},
    {.number = 2, .kind = CSI_WIRE_MESSAGE,
     .message = &csi_thing_v1_shelf_wire, .name = "value"},
};
static const struct csi_wire_message csi_thing_v1_find_request_shelves_entry_wire = {
    .name = "v1.FindRequest.ShelvesEntry",
    .fields = csi_thing_v1_find_request_shelves_entry_fields,
    .field_count = 2,
};

static const struct csi_wire_field csi_thing_v1_find_request_fields[] = {
    {.number = 1, .kind = CSI_WIRE_STRING, .max_bytes = 64, .name = "name"},
    {.number = 2, .kind = CSI_WIRE_STRING, .max_bytes = 32, .repeated = true, .max_count = 8, .name = "labels"},
    {.number = 3, .kind = CSI_WIRE_MESSAGE, .repeated = true, .max_count = 8,
     .message = &csi_thing_v1_find_request_shelves_entry_wire, .name = "shelves"},
};
const struct csi_wire_message csi_thing_v1_find_request_wire = {
    .name = "v1.FindRequest",
    .fields = csi_thing_v1_find_request_fields,
    .field_count = 3,
};

static const struct csi_wire_field csi_thing_v1_find_response_fields[] = {
    {.number = 1, .kind = CSI_WIRE_VARINT, .name = "kind"},
};
const struct csi_wire_message csi_thing_v1_find_response_wire = {
    .name = "v1.FindResponse",
    .fields = csi_thing_v1_find_response_fields,
    .field_count = 1,
};

const struct csi_wire_message csi_thing_v1_count_request_wire = {
    .name = "v1.CountRequest",
};

static const struct csi_wire_field csi_thing_v1_count_response_fields[] = {
    {.number = 1, .kind = CSI_WIRE_VARINT, .name = "count"},
};
const struct csi_wire_message csi_thing_v1_count_response_wire = {
    .name = "v1.CountResponse",
    .fields = csi_thing_v1_count_response_fields,
    .field_count = 1,
};

static const struct csi_wire_field csi_thing_v1_shelf_fields[] = {
    {.number = 1, .kind = CSI_WIRE_VARINT, .name = "height"},
};
const struct csi_wire_message csi_thing_v1_shelf_wire = {
    .name = "v1.Shelf",
    .fields = csi_thing_v1_shelf_fields,
    .field_count = 1,
};

