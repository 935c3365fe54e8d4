/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds things by name in a file of descriptors. Pure.
 *
 * upb's pool of definitions would do it too, but takes no two groups: they share packages and names.
 */
#ifndef CSI_ADMIN_DESCRIPTOR_SEARCH_H
#define CSI_ADMIN_DESCRIPTOR_SEARCH_H

#include <google/protobuf/descriptor.upb.h>
#include <stdbool.h>

/* Whether the file declares the symbol, a full name without a leading dot: a service, method, message, field,
 * oneof, enum, enum value or extension. */
bool csi_descriptor_declares(const google_protobuf_FileDescriptorProto *file, const char *symbol);

/* The file of this name; NULL when the set has none. */
const google_protobuf_FileDescriptorProto *
csi_descriptor_find_file(const google_protobuf_FileDescriptorSet *set, upb_StringView name);

#endif
