/* SPDX-License-Identifier: Apache-2.0
 *
 * What encoded messages of the thing group may hold.
 * Made by csi-proxy-api-gen from proto/thing/group.proto and its versions. Do not edit.
 */
#include "thing/wire.h"

static const struct csi_wire_field csi_thing_v1beta2_everything_texts_by_text_entry_fields[] = {
    {.number = 1, .kind = CSI_WIRE_STRING, .max_bytes = 14, .name = "key"},
    {.number = 2, .kind = CSI_WIRE_STRING, .max_bytes = 14, .name = "value"},
};
static const struct csi_wire_message csi_thing_v1beta2_everything_texts_by_text_entry_wire = {
    .name = "v1beta2.Everything.TextsByTextEntry",
    .fields = csi_thing_v1beta2_everything_texts_by_text_entry_fields,
    .field_count = 2,
};

static const struct csi_wire_field csi_thing_v1beta2_everything_leaves_by_number_entry_fields[] = {
    {.number = 1, .kind = CSI_WIRE_VARINT, .name = "key"},
    {.number = 2, .kind = CSI_WIRE_MESSAGE,
     .message = &csi_thing_v1beta2_leaf_wire, .name = "value"},
};
static const struct csi_wire_message csi_thing_v1beta2_everything_leaves_by_number_entry_wire = {
    .name = "v1beta2.Everything.LeavesByNumberEntry",
    .fields = csi_thing_v1beta2_everything_leaves_by_number_entry_fields,
    .field_count = 2,
};

static const struct csi_wire_field csi_thing_v1beta2_everything_bytes_by_number_entry_fields[] = {
    {.number = 1, .kind = CSI_WIRE_VARINT, .name = "key"},
    {.number = 2, .kind = CSI_WIRE_BYTES, .max_bytes = 15, .name = "value"},
};
static const struct csi_wire_message csi_thing_v1beta2_everything_bytes_by_number_entry_wire = {
    .name = "v1beta2.Everything.BytesByNumberEntry",
    .fields = csi_thing_v1beta2_everything_bytes_by_number_entry_fields,
    .field_count = 2,
};

static const struct csi_wire_field csi_thing_v1beta2_everything_colours_by_flag_entry_fields[] = {
    {.number = 1, .kind = CSI_WIRE_VARINT, .name = "key"},
    {.number = 2, .kind = CSI_WIRE_VARINT, .name = "value"},
};
static const struct csi_wire_message csi_thing_v1beta2_everything_colours_by_flag_entry_wire = {
    .name = "v1beta2.Everything.ColoursByFlagEntry",
    .fields = csi_thing_v1beta2_everything_colours_by_flag_entry_fields,
    .field_count = 2,
};

static const struct csi_wire_field csi_thing_v1beta2_everything_fields[] = {
    {.number = 1, .kind = CSI_WIRE_FIXED64, .name = "a_double"},
    {.number = 2, .kind = CSI_WIRE_FIXED32, .name = "a_float"},
    {.number = 3, .kind = CSI_WIRE_VARINT, .name = "an_int64"},
    {.number = 4, .kind = CSI_WIRE_VARINT, .name = "a_uint64"},
    {.number = 5, .kind = CSI_WIRE_VARINT, .name = "an_int32"},
    {.number = 6, .kind = CSI_WIRE_FIXED64, .name = "a_fixed64"},
    {.number = 7, .kind = CSI_WIRE_FIXED32, .name = "a_fixed32"},
    {.number = 8, .kind = CSI_WIRE_VARINT, .name = "a_bool"},
    {.number = 9, .kind = CSI_WIRE_STRING, .max_bytes = 10, .name = "a_string"},
    {.number = 11, .kind = CSI_WIRE_MESSAGE,
     .message = &csi_thing_v1beta2_leaf_wire, .name = "a_message"},
    {.number = 12, .kind = CSI_WIRE_BYTES, .max_bytes = 11, .name = "some_bytes"},
    {.number = 13, .kind = CSI_WIRE_VARINT, .name = "a_uint32"},
    {.number = 14, .kind = CSI_WIRE_VARINT, .name = "an_enum"},
    {.number = 15, .kind = CSI_WIRE_FIXED32, .name = "an_sfixed32"},
    {.number = 16, .kind = CSI_WIRE_FIXED64, .name = "an_sfixed64"},
    {.number = 17, .kind = CSI_WIRE_VARINT, .name = "an_sint32"},
    {.number = 18, .kind = CSI_WIRE_VARINT, .name = "an_sint64"},
    {.number = 19, .kind = CSI_WIRE_VARINT, .repeated = true, .max_count = 1, .name = "numbers"},
    {.number = 20, .kind = CSI_WIRE_VARINT, .repeated = true, .max_count = 2, .name = "flags"},
    {.number = 21, .kind = CSI_WIRE_STRING, .max_bytes = 12, .repeated = true, .max_count = 3, .name = "texts"},
    {.number = 22, .kind = CSI_WIRE_BYTES, .max_bytes = 13, .repeated = true, .max_count = 4, .name = "blobs"},
    {.number = 23, .kind = CSI_WIRE_VARINT, .repeated = true, .max_count = 5, .name = "colours"},
    {.number = 24, .kind = CSI_WIRE_MESSAGE, .repeated = true, .max_count = 6,
     .message = &csi_thing_v1beta2_leaf_wire, .name = "leaves"},
    {.number = 25, .kind = CSI_WIRE_MESSAGE, .repeated = true, .max_count = 7,
     .message = &csi_thing_v1beta2_everything_texts_by_text_entry_wire, .name = "texts_by_text"},
    {.number = 26, .kind = CSI_WIRE_MESSAGE, .repeated = true, .max_count = 8,
     .message = &csi_thing_v1beta2_everything_leaves_by_number_entry_wire, .name = "leaves_by_number"},
    {.number = 27, .kind = CSI_WIRE_MESSAGE, .repeated = true, .max_count = 9,
     .message = &csi_thing_v1beta2_everything_bytes_by_number_entry_wire, .name = "bytes_by_number"},
    {.number = 28, .kind = CSI_WIRE_MESSAGE, .repeated = true, .max_count = 2,
     .message = &csi_thing_v1beta2_everything_colours_by_flag_entry_wire, .name = "colours_by_flag"},
    {.number = 29, .kind = CSI_WIRE_STRING, .max_bytes = 16, .repeated = true, .max_count = 1, .name = "diskIDs"},
};
const struct csi_wire_message csi_thing_v1beta2_everything_wire = {
    .name = "v1beta2.Everything",
    .fields = csi_thing_v1beta2_everything_fields,
    .field_count = 28,
};

static const struct csi_wire_field csi_thing_v1beta2_leaf_fields[] = {
    {.number = 1, .kind = CSI_WIRE_STRING, .max_bytes = 17, .name = "text"},
};
const struct csi_wire_message csi_thing_v1beta2_leaf_wire = {
    .name = "v1beta2.Leaf",
    .fields = csi_thing_v1beta2_leaf_fields,
    .field_count = 1,
};

