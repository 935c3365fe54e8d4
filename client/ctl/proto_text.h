/* SPDX-License-Identifier: Apache-2.0
 *
 * Descriptors as the text of .proto files, with their comments.
 */
#ifndef CSI_CTL_PROTO_TEXT_H
#define CSI_CTL_PROTO_TEXT_H

#include <upb/def.h>

#include "client/ctl/descriptors.h"
#include "client/ctl/text_buffer.h"

enum {
  CSI_PROTO_TEXT_TYPES = 256, /* messages and enums printed; more are left out */
};

/* Where text goes, and what of. What the functions refer to is printed once. */
struct csi_proto_text {
  struct csi_text_buffer *out;
  const struct csi_ctl_group *group;
  const upb_FileDef *file;
  const void *printed[CSI_PROTO_TEXT_TYPES];
  size_t printed_count;
};

/* The whole file: service, messages, enums. */
void csi_proto_file(struct csi_proto_text *text);

/* A service with its RPCs, without their messages. */
void csi_proto_service(struct csi_proto_text *text, const upb_ServiceDef *service);

/* Each with everything it refers to. */
void csi_proto_method(struct csi_proto_text *text, const upb_MethodDef *method);
void csi_proto_message(struct csi_proto_text *text, const upb_MessageDef *message);
void csi_proto_enum(struct csi_proto_text *text, const upb_EnumDef *enumeration);

#endif
