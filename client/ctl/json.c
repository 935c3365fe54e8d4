/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <upb/json_decode.h>
#include <upb/json_encode.h>

#include "client/ctl/dynamic.h"
#include "client/ctl/json_check.h"
#include "client/ctl/json_sort.h"

static bool encode(const struct csi_ctl_message *message, struct csi_arena *arena, char **json_out,
                   size_t *json_bytes_out) {
  const int options = upb_JsonEncode_EmitDefaults | upb_JsonEncode_UseProtoNames;
  upb_Status status;
  upb_Status_Clear(&status);
  size_t length = upb_JsonEncode(message->message, message->definition, NULL, options, NULL, 0, &status);
  if (length == SIZE_MAX) return false;
  char *json = csi_arena_alloc(arena, length + 1);
  if (json == NULL) return false;
  if (upb_JsonEncode(message->message, message->definition, NULL, options, json, length + 1, &status) !=
      length)
    return false;
  *json_out = json;
  *json_bytes_out = length;
  return true;
}

bool csi_ctl_to_json(const struct csi_ctl_message *message, struct csi_arena *arena, char **json_out,
                     size_t *json_bytes_out) {
  char *json;
  size_t length;
  struct csi_text_buffer sorted = {0};
  bool done = encode(message, arena, &json, &length) &&
              csi_json_sort_maps(json, length, message->definition, &sorted);
  if (done) *json_out = csi_arena_strndup(arena, sorted.text, sorted.length_bytes);
  if (done) *json_bytes_out = sorted.length_bytes;
  csi_text_buffer_free(&sorted);
  return done && *json_out != NULL;
}

/* upb writes "Error parsing JSON @line:column: text". Its texts quote no values but names of enums. */
static bool fail_decode(const upb_Status *status, struct csi_ctl_error *error) {
  static const char prefix[] = "Error parsing JSON @";
  const char *text = upb_Status_ErrorMessage(status);
  unsigned line, column;
  int used = 0;
  if (strncmp(text, prefix, sizeof prefix - 1) == 0 &&
      sscanf(text + sizeof prefix - 1, "%u:%u: %n", &line, &column, &used) == 2 && used > 0)
    return csi_ctl_wrong(error, "JSON, line %u, column %u: %s", line, column,
                         text + sizeof prefix - 1 + used);
  return csi_ctl_wrong(error, "JSON: %s", text);
}

static bool decode(const struct csi_text_buffer *json, const upb_MessageDef *definition,
                   struct csi_ctl_message *message_out, struct csi_ctl_error *error) {
  if (!csi_ctl_message_new(message_out, definition, error)) return false;
  upb_Status status;
  upb_Status_Clear(&status);
  if (upb_JsonDecode(json->text, json->length_bytes, message_out->message, definition, NULL, 0,
                     message_out->arena, &status))
    return true;
  csi_ctl_message_free(message_out);
  return fail_decode(&status, error);
}

bool csi_ctl_from_json(const char *json, size_t json_bytes, const upb_MessageDef *definition,
                       struct csi_ctl_message *message_out, struct csi_ctl_error *error) {
  struct csi_text_buffer normal = {0};
  *message_out = (struct csi_ctl_message){0};
  bool decoded = csi_json_check(json, json_bytes, definition, &normal, error) &&
                 decode(&normal, definition, message_out, error);
  csi_text_buffer_free(&normal);
  return decoded;
}
