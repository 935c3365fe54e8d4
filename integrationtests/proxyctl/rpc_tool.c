/* SPDX-License-Identifier: Apache-2.0
 *
 * What csi-proxyctl makes of JSON and of messages, without a service; for a test that knows better. Reads
 * orders from standard input, one a line, and answers each in one line:
 *
 *   list                         GROUP VERSION RPC REQUEST RESPONSE ..., five words for each RPC
 *   to-json GROUP TYPE HEX       JSON of an encoded message
 *   from-json GROUP TYPE HEX     "ok" and the encoded message in hexadecimal, or "error" and the text;
 *                                HEX is the JSON in hexadecimal
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <upb/decode.h>
#include <upb/encode.h>

#include "client/ctl/descriptors.h"
#include "client/ctl/dynamic.h"
#include "client/ctl/rpc.h"

static void fail(const char *why) {
  fprintf(stderr, "rpc_tool: %s\n", why);
  exit(1);
}

static int digit(char c) {
  static const char digits[] = "0123456789abcdef";
  const char *found = c != '\0' ? strchr(digits, c) : NULL;
  if (found == NULL) fail("no hexadecimal digit");
  return (int)(found - digits);
}

/* In place; returns the length. */
static size_t read_hex(char *text) {
  size_t length = strlen(text) / 2;
  for (size_t i = 0; i < length; i++)
    text[i] = (char)(digit(text[2 * i]) << 4 | digit(text[2 * i + 1]));
  return length;
}

static const upb_MessageDef *find_type(struct csi_ctl *ctl, const char *group_name, const char *type) {
  const struct csi_ctl_group *group;
  struct csi_ctl_error error;
  if (!csi_ctl_find_group(ctl, group_name, &group, &error)) fail(error.failure.text);
  const upb_MessageDef *definition = upb_DefPool_FindMessageByName(group->pool, type);
  if (definition == NULL) fail(type);
  return definition;
}

static void list(struct csi_ctl *ctl) {
  for (const char *const *name = csi_ctl_group_names(); *name != NULL; name++) {
    const struct csi_ctl_group *group;
    struct csi_ctl_error error;
    if (!csi_ctl_find_group(ctl, *name, &group, &error)) fail(error.failure.text);
    for (size_t i = 0; i < group->service_count; i++)
      for (int k = 0; k < upb_ServiceDef_MethodCount(group->services[i]); k++) {
        const upb_MethodDef *method = upb_ServiceDef_Method(group->services[i], k);
        printf("%s %s %s %s %s ", *name, csi_ctl_version_of(group->services[i]), upb_MethodDef_Name(method),
               upb_MessageDef_FullName(upb_MethodDef_InputType(method)),
               upb_MessageDef_FullName(upb_MethodDef_OutputType(method)));
      }
  }
}

static void to_json(const upb_MessageDef *definition, const char *bytes, size_t length) {
  struct csi_ctl_message message;
  struct csi_ctl_error error;
  char *json;
  size_t json_bytes;
  struct csi_arena *arena = csi_arena_new(SIZE_MAX);
  if (arena == NULL || !csi_ctl_message_new(&message, definition, &error)) fail("out of memory");
  if (upb_Decode(bytes, length, message.message, upb_MessageDef_MiniTable(definition), NULL, 0,
                 message.arena) != kUpb_DecodeStatus_Ok)
    fail("the message cannot be decoded");
  if (!csi_ctl_to_json(&message, arena, &json, &json_bytes)) fail("no JSON");
  fwrite(json, 1, json_bytes, stdout);
  csi_ctl_message_free(&message);
  csi_arena_free(arena);
}

static void from_json(const upb_MessageDef *definition, const char *json, size_t length) {
  struct csi_ctl_message message;
  struct csi_ctl_error error;
  char *bytes;
  size_t byte_count;
  if (!csi_ctl_from_json(json, length, definition, &message, &error)) {
    printf("error %s", error.failure.text);
    return;
  }
  if (upb_Encode(message.message, upb_MessageDef_MiniTable(definition), 0, message.arena, &bytes,
                 &byte_count) != kUpb_EncodeStatus_Ok)
    fail("the message cannot be encoded");
  printf("ok ");
  for (size_t i = 0; i < byte_count; i++)
    printf("%02x", (unsigned char)bytes[i]);
  csi_ctl_message_free(&message);
}

static void obey(struct csi_ctl *ctl, char *line) {
  char *rest = line;
  const char *words[4] = {"", "", "", ""};
  for (unsigned i = 0; i < 3 && rest != NULL; i++)
    words[i] = strsep(&rest, " ");
  if (strcmp(words[0], "list") == 0) {
    list(ctl);
    return;
  }
  if (rest == NULL) fail("unknown order");
  const upb_MessageDef *definition = find_type(ctl, words[1], words[2]);
  size_t length = read_hex(rest);
  (strcmp(words[0], "to-json") == 0 ? to_json : from_json)(definition, rest, length);
}

int main(void) {
  struct csi_ctl ctl = {0};
  char *line = NULL;
  size_t capacity = 0;
  ssize_t length;
  while ((length = getline(&line, &capacity, stdin)) > 0) {
    if (line[length - 1] == '\n') line[length - 1] = '\0';
    obey(&ctl, line);
    putchar('\n');
    fflush(stdout);
  }
  free(line);
  csi_ctl_free_pools(&ctl);
  return 0;
}
