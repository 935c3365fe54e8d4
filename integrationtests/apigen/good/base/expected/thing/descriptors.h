/* SPDX-License-Identifier: Apache-2.0
 *
 * The descriptors of the thing group.
 * Made by csi-proxy-api-gen from proto/thing/group.proto and its versions. Do not edit.
 */
#ifndef CSI_GEN_THING_DESCRIPTORS_H
#define CSI_GEN_THING_DESCRIPTORS_H

#include <stdint.h>

/* Serialized google.protobuf.FileDescriptorSet of every version. Of the source it keeps the comments. */
extern const uint8_t csi_thing_descriptor_set[1029];

/* Fields that nobody may show, for example "v1.NewThingRequest.password". NULL-terminated. */
extern const char *const csi_thing_secret_fields[];

#endif
