/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "codegen/emit.h"

/* --- enums */

static const char *value_name(const struct gen_group *group, const struct gen_enum *enumeration,
                              const struct gen_enum_value *value) {
  const char *prefix = gen_printf(group->arena, "%s_", gen_upper(group->arena, enumeration->snake));
  const char *short_name = value->name;
  if (strncmp(short_name, prefix, strlen(prefix)) == 0) short_name += strlen(prefix);
  return gen_printf(group->arena, "%s_%s", gen_upper(group->arena, gen_enum_name(group, enumeration)),
                    gen_upper(group->arena, short_name));
}

static void put_enum(struct gen_out *output, const struct gen_group *group,
                     const struct gen_enum *enumeration) {
  gen_put_comment(output, 0, enumeration->doc);
  gen_put(output, "enum %s {\n", gen_enum_name(group, enumeration));
  for (GEN_EACH(struct gen_enum_value, value, &enumeration->values)) {
    gen_put_comment(output, 2, value->doc);
    gen_put(output, "  %s = %d,\n", value_name(group, enumeration, value), value->number);
  }
  gen_put(output, "};\n\n");
}

/* --- structures */

static void put_member(struct gen_out *output, const struct gen_group *group, const struct gen_field *field) {
  const char *type = gen_value_type(group, field);
  gen_put_comment(output, 2, gen_field_doc(group, field));
  if (!field->repeated) {
    bool pointer = field->kind == GEN_MESSAGE;
    gen_put(output, pointer ? "  const %s*%s; /* NULL = absent */\n" : "  %s%s;\n", type, field->snake);
    return;
  }
  gen_put(output, "  size_t %s_count;\n", field->snake);
  if (field->kind == GEN_STRING)
    gen_put(output, "  const char *const *%s;\n", field->snake);
  else
    gen_put(output, "  const %s*%s;\n", type, field->snake);
}

static void put_entry(struct gen_out *output, const struct gen_group *group, const struct gen_field *map) {
  const struct gen_field *key = map->message->fields.items[0], *value = map->message->fields.items[1];
  gen_put_comment(output, 0, gen_printf(group->arena, "One entry of %s.%s.", map->owner->name, map->snake));
  gen_put(output, "struct %s {\n", gen_entry_name(group, map));
  gen_put(output, "  %skey;\n  %svalue;\n};\n\n", gen_value_type(group, key), gen_value_type(group, value));
}

/* What a structure holds by value comes before it. */
static void put_message(struct gen_out *output, const struct gen_group *group, struct gen_message *message,
                        struct gen_list *done) {
  for (GEN_EACH(struct gen_message, earlier, done))
    if (earlier == message) return;
  gen_push(group->arena, done, message);
  for (GEN_EACH(struct gen_field, field, &message->fields)) {
    const struct gen_field *value = gen_is_map(field) ? field->message->fields.items[1] : field;
    if (value->message != NULL) put_message(output, group, value->message, done);
    if (gen_is_map(field)) put_entry(output, group, field);
  }
  gen_put_comment(output, 0, gen_message_doc(group, message));
  gen_put(output, "struct %s {\n", gen_struct_name(group, message));
  for (GEN_EACH(struct gen_field, field, &message->fields))
    put_member(output, group, field);
  if (message->fields.count == 0)
    gen_put(output, "  char none; /* the message has no fields; C and C++ must agree on a size */\n");
  gen_put(output, "};\n\n");
}

/* --- stubs */

static const char *duration(const struct gen_rpc *rpc) {
  if (rpc->lane == GEN_LANE_INLINE)
    return "Blocks until the answer is there; the service needs no more than microseconds.";
  if (rpc->lane == GEN_LANE_SHORT) return "Blocks until the answer is there, usually for a moment.";
  return "Blocks until the answer is there, which may take minutes.";
}

static void put_stub(struct gen_out *output, const struct gen_group *group, const struct gen_rpc *rpc) {
  gen_put(output, "/* ");
  gen_put_wrapped(output, " * ", rpc->doc);
  gen_put(
      output,
      "\n *\n"
      " * client (in): connected to the %s group; may be in use by other threads.\n"
      " * request (in): borrowed for the call; NULL = every field has its default.\n"
      " * options (in): borrowed for the call; NULL for the defaults.\n"
      " * response_out (out): the response, to be freed with csi_response_free(); NULL on failure.\n"
      " * error_out (out): filled on failure; may be NULL.\n"
      " *\n"
      " * Returns CSI_OK, or the code of *error_out: CSI_UNIMPLEMENTED when the connected version does not\n"
      " * have the call, CSI_DEADLINE_EXCEEDED when options->timeout_ms passed, CSI_UNAVAILABLE when the\n"
      " * connection is lost, CSI_RESOURCE_EXHAUSTED when memory is short, CSI_UNKNOWN for what the service\n"
      " * refused; then precise_code and number tell more.\n * ",
      group->name);
  gen_put_wrapped(output, " * ", duration(rpc));
  gen_put(output, "\n * ");
  gen_put_wrapped(output, " * ", gen_printf(group->arena, "Versions: %s.", gen_rpc_versions(group, rpc)));
  gen_put(output, " */\n");
  gen_put(output,
          "CSI_PROXY_API enum csi_code csi_%s_%s(\n    struct csi_client *client, const struct %s *request,\n"
          "    const struct csi_call_options *options, struct %s **response_out,\n"
          "    struct csi_error *error_out);\n\n",
          group->name, rpc->snake, gen_struct_name(group, rpc->request),
          gen_struct_name(group, rpc->response));
}

/* --- the header */

static void put_head(struct gen_out *output, const struct gen_group *group) {
  gen_put(output,
          "#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n\n%s#include "
          "\"csi-proxy/client.h\"\n\n"
          "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n",
          gen_uses_bytes(group) ? "#include \"csi-proxy/bytes.h\"\n" : "");
}

bool gen_emit_types(const struct gen_group *group, const char *directory) {
  struct gen_out output = {0};
  struct gen_list done = {0};
  const char *guard = gen_printf(group->arena, "CSI_PROXY_%s_H", gen_upper(group->arena, group->name));
  gen_put_banner(
      &output, group,
      gen_printf(group->arena,
                 "The %s group of CSI Proxy, whatever version is spoken with the service.\n\n%s\n\n"
                 "Strings are UTF-8; a NULL string in a request means the empty string, strings of a "
                 "response are never NULL.",
                 group->name, group->neutral->service_doc));
  gen_put(&output, "#ifndef %s\n#define %s\n\n", guard, guard);
  put_head(&output, group);
  for (GEN_EACH(struct gen_enum, enumeration, &group->neutral->enums))
    put_enum(&output, group, enumeration);
  for (GEN_EACH(struct gen_message, message, &group->neutral->messages))
    put_message(&output, group, message, &done);
  for (GEN_EACH(struct gen_rpc, rpc, &group->neutral->rpcs))
    put_stub(&output, group, rpc);
  gen_put(&output, "#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
  return gen_save(&output, directory, gen_printf(group->arena, "include/csi-proxy/%s.h", group->name));
}
