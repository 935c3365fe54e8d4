/* SPDX-License-Identifier: Apache-2.0
 *
 * JSON of a request: what is taken must come out again as JSON, and be taken again for the same message. The
 * first byte chooses the RPC.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <upb/encode.h>

#include "client/ctl/descriptors.h"
#include "client/ctl/dynamic.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct csi_ctl ctl;

static const upb_MessageDef *choose(uint8_t number) {
  static const char *const groups[] = {"disk", "volume", "filesystem", "smb", "iscsi", "system", "admin"};
  const struct csi_ctl_group *group;
  struct csi_ctl_error error;
  if (!csi_ctl_find_group(&ctl, groups[number % 7], &group, &error)) abort();
  const upb_ServiceDef *service = group->services[0];
  const upb_MethodDef *method =
      upb_ServiceDef_Method(service, number / 7 % upb_ServiceDef_MethodCount(service));
  /* Responses have lists and maps; requests hardly do. */
  return number & 1 ? upb_MethodDef_OutputType(method) : upb_MethodDef_InputType(method);
}

static void encode(const struct csi_ctl_message *message, char **bytes_out, size_t *length_out) {
  if (upb_Encode(message->message, upb_MessageDef_MiniTable(message->definition),
                 kUpb_EncodeOption_Deterministic, message->arena, bytes_out,
                 length_out) != kUpb_EncodeStatus_Ok)
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct csi_ctl_message message, again;
  struct csi_ctl_error error = {0};
  char *json, *bytes, *bytes_again;
  size_t json_bytes, length, length_again;
  if (size == 0) return 0;
  const upb_MessageDef *definition = choose(data[0]);
  if (!csi_ctl_from_json((const char *)data + 1, size - 1, definition, &message, &error)) {
    if (error.exit != CSI_CTL_USAGE || error.failure.text[0] == '\0') abort();
    return 0;
  }
  struct csi_arena *arena = csi_arena_new(SIZE_MAX);
  if (arena == NULL || !csi_ctl_to_json(&message, arena, &json, &json_bytes)) abort();
  if (!csi_ctl_from_json(json, json_bytes, definition, &again, &error)) abort();
  encode(&message, &bytes, &length);
  encode(&again, &bytes_again, &length_again);
  if (length != length_again || memcmp(bytes, bytes_again, length) != 0) abort();
  csi_ctl_message_free(&message);
  csi_ctl_message_free(&again);
  csi_arena_free(arena);
  return 0;
}
