/* SPDX-License-Identifier: Apache-2.0 */
#include "client/ctl/rpc.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <upb/decode.h>
#include <upb/encode.h>
#include <upb/reflection.h>

#include "base/ctx.h"
#include "client/ctl/connection.h"
#include "client/ctl/descriptors.h"
#include "client/ctl/dynamic.h"
#include "client/ctl/suggest.h"
#include "csi-proxy/client.h"

enum {
  MESSAGE_CAP_BYTES = 256 * 1024 * 1024, /* in memory a message is some ten times as long as on the wire */
  DECODE_DEPTH = 64,
  NS_PER_MS = 1000000,
};

/* --- messages */

/* upb's arena asks for blocks and gives blocks back, it never has one resized. Ours wipes them in the end. */
struct csi_ctl_memory {
  upb_alloc alloc; /* first: upb hands this back */
  struct csi_arena *arena;
};

static void *allocate_block(upb_alloc *alloc, void *block, size_t old_bytes, size_t size_bytes) {
  (void)block, (void)old_bytes;
  return size_bytes > 0 ? csi_arena_alloc(((struct csi_ctl_memory *)alloc)->arena, size_bytes) : NULL;
}

static struct csi_ctl_memory *new_memory(void) {
  struct csi_arena *arena = csi_arena_new(MESSAGE_CAP_BYTES);
  if (arena == NULL) return NULL;
  csi_arena_mark_secret(arena);
  struct csi_ctl_memory *memory = csi_arena_alloc(arena, sizeof *memory);
  if (memory == NULL) {
    csi_arena_free(arena);
    return NULL;
  }
  *memory = (struct csi_ctl_memory){{allocate_block}, arena};
  return memory;
}

bool csi_ctl_message_new(struct csi_ctl_message *message_out, const upb_MessageDef *definition,
                         struct csi_ctl_error *error) {
  *message_out = (struct csi_ctl_message){.definition = definition, .memory = new_memory()};
  if (message_out->memory != NULL) message_out->arena = upb_Arena_Init(NULL, 0, &message_out->memory->alloc);
  if (message_out->arena != NULL) message_out->message = upb_Message_New(definition, message_out->arena);
  if (message_out->message != NULL) return true;
  csi_ctl_message_free(message_out);
  return csi_ctl_fail_out_of_memory(error);
}

void csi_ctl_message_free(struct csi_ctl_message *message) {
  if (message->arena != NULL) upb_Arena_Free(message->arena);
  if (message->memory != NULL) csi_arena_free(message->memory->arena);
  *message = (struct csi_ctl_message){0};
}

/* --- finding */

static bool fail_unknown_rpc(const upb_ServiceDef *service, const char *rpc, struct csi_ctl_error *error) {
  struct csi_suggestion suggestion = {.typed = rpc};
  for (int i = 0; i < upb_ServiceDef_MethodCount(service); i++)
    csi_suggest_offer(&suggestion, upb_MethodDef_Name(upb_ServiceDef_Method(service, i)));
  csi_ctl_wrong(error, "%s has no RPC %s", upb_ServiceDef_FullName(service), rpc);
  if (suggestion.best != NULL) return csi_ctl_hint(error, "did you mean %s?", suggestion.best);
  return csi_ctl_hint(error, "\"csi-proxyctl describe GROUP VERSION\" shows all RPCs");
}

bool csi_ctl_find_rpc(struct csi_ctl *ctl, const char *group_name, const char *version, const char *rpc,
                      const upb_MethodDef **method_out, struct csi_ctl_error *error) {
  const struct csi_ctl_group *group;
  const upb_ServiceDef *service;
  if (!csi_ctl_find_group(ctl, group_name, &group, error) ||
      !csi_ctl_find_version(group, version, &service, error))
    return false;
  *method_out = upb_ServiceDef_FindMethodByName(service, rpc);
  return *method_out != NULL || fail_unknown_rpc(service, rpc, error);
}

/* --- calling */

/* What the library says of a call: a lost connection is as good as none.
 *
 * timed_out (in): the time that is allowed here is over. */
static bool fail_call(struct csi_ctl_error *error, const struct csi_ctl *ctl, const struct csi_error *failure,
                      bool timed_out) {
  *error = (struct csi_ctl_error){.exit = CSI_CTL_REFUSED, .failure = *failure};
  if (failure->code == CSI_UNAVAILABLE) {
    error->exit = CSI_CTL_UNREACHABLE;
    return csi_ctl_hint(error,
                        "the service ended the connection, or cannot answer now: it may be restarting");
  }
  if (failure->code == CSI_DEADLINE_EXCEEDED && timed_out)
    return csi_ctl_hint(error, "nothing came within %u ms; -timeout allows more", ctl->timeout_ms);
  if (failure->code == CSI_UNIMPLEMENTED)
    return csi_ctl_hint(error, "the service that runs is older than this program");
  return false;
}

static bool fail_unreadable(struct csi_ctl_error *error, const char *path) {
  return csi_ctl_fail(error, CSI_INTERNAL, "the response of %s cannot be decoded", path);
}

static bool encode(const struct csi_ctl_message *request, char **bytes_out, size_t *length_out,
                   struct csi_ctl_error *error) {
  *bytes_out = NULL;
  *length_out = 0;
  if (request == NULL) return true;
  if (upb_Encode(request->message, upb_MessageDef_MiniTable(request->definition), 0, request->arena,
                 bytes_out, length_out) == kUpb_EncodeStatus_Ok)
    return true;
  return csi_ctl_wrong(error, "the request cannot be encoded");
}

static bool decode(const upb_MessageDef *definition, const struct csi_bytes *bytes, const char *path,
                   struct csi_ctl_message *response_out, struct csi_ctl_error *error) {
  if (!csi_ctl_message_new(response_out, definition, error)) return false;
  if (upb_Decode((const char *)bytes->data, bytes->size_bytes, response_out->message,
                 upb_MessageDef_MiniTable(definition), NULL, UPB_DECODE_MAXDEPTH(DECODE_DEPTH),
                 response_out->arena) == kUpb_DecodeStatus_Ok)
    return true;
  csi_ctl_message_free(response_out);
  return fail_unreadable(error, path);
}

/* What is left of the time; 0 = no limit, 1 = nothing. */
static uint32_t left_ms(const struct csi_ctl *ctl, int64_t begin_ns) {
  if (ctl->timeout_ms == 0) return 0;
  int64_t gone_ms = (csi_now_ns() - begin_ns) / NS_PER_MS;
  return gone_ms < ctl->timeout_ms ? ctl->timeout_ms - (uint32_t)gone_ms : 1;
}

static bool call(struct csi_ctl *ctl, struct csi_client *client, const char *path, const char *bytes,
                 size_t length, int64_t begin_ns, struct csi_bytes **response_out,
                 struct csi_ctl_error *error) {
  const struct csi_call_options options = {.timeout_ms = left_ms(ctl, begin_ns)};
  struct csi_error failure;
  return csi_client_call_raw(client, path, bytes, length, &options, response_out, &failure) == CSI_OK ||
         fail_call(error, ctl, &failure, left_ms(ctl, begin_ns) == 1);
}

bool csi_ctl_call(struct csi_ctl *ctl, const char *group, const char *version, const char *rpc,
                  const struct csi_ctl_message *request, struct csi_ctl_message *response_out,
                  struct csi_ctl_error *error) {
  const upb_MethodDef *method;
  struct csi_client *client;
  struct csi_bytes *response;
  char path[256], *bytes;
  size_t length;
  *response_out = (struct csi_ctl_message){0};
  int64_t begin_ns = csi_now_ns();
  if (!csi_ctl_find_rpc(ctl, group, version, rpc, &method, error) ||
      !encode(request, &bytes, &length, error) || !csi_ctl_connect(ctl, group, version, &client, error))
    return false;
  snprintf(path, sizeof path, "/%s/%s", upb_ServiceDef_FullName(upb_MethodDef_Service(method)), rpc);
  if (!call(ctl, client, path, bytes, length, begin_ns, &response, error)) return false;
  bool decoded = decode(upb_MethodDef_OutputType(method), response, path, response_out, error);
  csi_response_free(response);
  return decoded;
}

bool csi_ctl_call_json(struct csi_ctl *ctl, const char *group, const char *version, const char *rpc,
                       const char *json, size_t json_bytes, struct csi_ctl_message *response_out,
                       struct csi_ctl_error *error) {
  const upb_MethodDef *method;
  struct csi_ctl_message request;
  *response_out = (struct csi_ctl_message){0};
  if (!csi_ctl_find_rpc(ctl, group, version, rpc, &method, error) ||
      !csi_ctl_from_json(json, json_bytes, upb_MethodDef_InputType(method), &request, error))
    return false;
  bool called = csi_ctl_call(ctl, group, version, rpc, &request, response_out, error);
  csi_ctl_message_free(&request);
  return called;
}
