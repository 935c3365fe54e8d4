/* SPDX-License-Identifier: Apache-2.0
 *
 * Any RPC by its name, with messages that are known at run time only.
 */
#ifndef CSI_CTL_RPC_H
#define CSI_CTL_RPC_H

#include <stdbool.h>
#include <stddef.h>
#include <upb/def.h>
#include <upb/upb.h>

#include "client/ctl/ctl.h"

/* A message with the arena it lives in. Freed with csi_ctl_message_free(); its descriptors live as long as
 * the csi_ctl. */
struct csi_ctl_memory;
struct csi_ctl_message {
  upb_Arena *arena;
  upb_Message *message;
  const upb_MessageDef *definition;
  struct csi_ctl_memory *memory; /* what the arena takes from; overwritten in the end */
};

/* Finds an RPC in the descriptors that are built in.
 *
 * False: wrong usage, with the nearest name as hint. */
bool csi_ctl_find_rpc(struct csi_ctl *ctl, const char *group, const char *version, const char *rpc,
                      const upb_MethodDef **method_out, struct csi_ctl_error *error);

/* An empty message. False when memory is short. */
bool csi_ctl_message_new(struct csi_ctl_message *message_out, const upb_MessageDef *definition,
                         struct csi_ctl_error *error);

/* A zeroed message is accepted; the structure is zeroed. */
void csi_ctl_message_free(struct csi_ctl_message *message);

/* Makes a call over the pipe of GROUP and VERSION, and waits ctl->timeout_ms at most, for the
 * connection and the answer together.
 *
 * request (in): a message of the RPC's type; NULL stands for an empty one.
 * response_out (out): to be freed by the caller; zeroed on failure.
 *
 * False: the error, from the service or on the way there. */
bool csi_ctl_call(struct csi_ctl *ctl, const char *group, const char *version, const char *rpc,
                  const struct csi_ctl_message *request, struct csi_ctl_message *response_out,
                  struct csi_ctl_error *error);

/* The same with the request as JSON: see csi_ctl_from_json(). */
bool csi_ctl_call_json(struct csi_ctl *ctl, const char *group, const char *version, const char *rpc,
                       const char *json, size_t json_bytes, struct csi_ctl_message *response_out,
                       struct csi_ctl_error *error);

#endif
