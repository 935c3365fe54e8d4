/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of wire_probe.proto as the generator would write it, with small limits.
 */
#ifndef CSI_RPC_WIRE_PROBE_H
#define CSI_RPC_WIRE_PROBE_H

#include "rpc/wire.h"

static const struct csi_wire_message probe_wire;

static const struct csi_wire_field probe_entry_fields[] = {
    {.number = 1, .kind = CSI_WIRE_STRING, .max_bytes = 4, .name = "key"},
    {.number = 2, .kind = CSI_WIRE_MESSAGE, .message = &probe_wire, .name = "value"},
};

static const struct csi_wire_message probe_entry_wire = {
    .name = "csi_test.Probe.ByNameEntry", .fields = probe_entry_fields, .field_count = 2};

static const struct csi_wire_field probe_fields[] = {
    {.number = 1, .kind = CSI_WIRE_STRING, .max_bytes = 8, .name = "name"},
    {.number = 2, .kind = CSI_WIRE_BYTES, .max_bytes = 4, .name = "blob"},
    {.number = 3, .kind = CSI_WIRE_VARINT, .repeated = true, .max_count = 4, .name = "numbers"},
    {.number = 4, .kind = CSI_WIRE_STRING, .repeated = true, .max_bytes = 4, .max_count = 2, .name = "words"},
    {.number = 5, .kind = CSI_WIRE_MESSAGE, .message = &probe_wire, .name = "child"},
    {.number = 6, .kind = CSI_WIRE_MESSAGE, .repeated = true, .message = &probe_wire, .name = "children"},
    {.number = 7,
     .kind = CSI_WIRE_MESSAGE,
     .repeated = true,
     .max_count = 2,
     .message = &probe_entry_wire,
     .name = "by_name"},
    {.number = 8, .kind = CSI_WIRE_FIXED32, .name = "four"},
    {.number = 9, .kind = CSI_WIRE_FIXED64, .name = "eight"},
    {.number = 10, .kind = CSI_WIRE_VARINT, .name = "flag"},
    {.number = 11, .kind = CSI_WIRE_VARINT, .name = "color"},
    {.number = 12, .kind = CSI_WIRE_FIXED32, .repeated = true, .max_count = 3, .name = "fours"},
    {.number = 13, .kind = CSI_WIRE_FIXED64, .repeated = true, .name = "eights"},
    {.number = 16, .kind = CSI_WIRE_VARINT, .name = "distance"},
};

static const struct csi_wire_message probe_wire = {.name = "csi_test.Probe",
                                                   .fields = probe_fields,
                                                   .field_count = sizeof probe_fields / sizeof *probe_fields};

#endif
