/* SPDX-License-Identifier: Apache-2.0
 *
 * The tables that the generator emits and the server dispatches through: one csi_service per group
 * and version, one csi_method per RPC.
 */
#ifndef CSI_RPC_METHOD_H
#define CSI_RPC_METHOD_H

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/ctx.h"
#include "rpc/wire.h"

enum csi_lane {
  CSI_LANE_INLINE, /* microseconds, never blocks: runs on the thread that read the request */
  CSI_LANE_SHORT,  /* may block for a moment: bounded worker pool, lane for short calls */
  CSI_LANE_LONG,   /* may take minutes: bounded worker pool, lane for long calls */
};

/* How messages go to and fro. */
enum csi_streaming {
  CSI_UNARY,        /* one request, one response */
  CSI_ANSWERS_EACH, /* a stream both ways: `serve` answers each request, one after the other */
  CSI_WATCHES,      /* one request; `serve` answers it again and again, and what differs from the last answer
                       is sent */
};

struct csi_method {
  const char *name; /* "PathExists" */
  enum csi_lane lane;
  bool mutating;
  bool secret; /* the request carries credentials: its memory is wiped */
  enum csi_streaming streaming;
  const ProtobufCMessageDescriptor *request;
  const struct csi_wire_message *request_wire;
  /* Converts the decoded request, runs the handler, converts its response. `group` is what the service was
   * added with. On success *response_out is a message in ctx->arena. */
  bool (*serve)(struct csi_ctx *ctx, void *group, const ProtobufCMessage *request,
                const ProtobufCMessage **response_out);
};

struct csi_service {
  const char *group;   /* "filesystem" */
  const char *version; /* "v1" */
  const char *name;    /* "v1.Filesystem" */
  const struct csi_method *methods;
  size_t method_count;
  /* A failure's code on the wire is the handler's own. Otherwise it is UNKNOWN, as drivers know it. */
  bool precise_codes;
};

/* Every version of one group, oldest first; the generator emits csi_<group>_services. */
struct csi_service_list {
  const struct csi_service *const *services;
  size_t service_count;
  const uint8_t *descriptor_set; /* serialized FileDescriptorSet of the group, for JSON in logs */
  size_t descriptor_set_bytes;
  const char *const *secret_fields; /* "v1.NewSmbGlobalMappingRequest.password", NULL-terminated */
};

#endif
