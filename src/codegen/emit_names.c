/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "codegen/emit.h"

const char *gen_struct_name(const struct gen_group *group, const struct gen_message *neutral) {
  return gen_printf(group->arena, "csi_%s_%s", group->name, neutral->snake);
}

const char *gen_entry_name(const struct gen_group *group, const struct gen_field *map) {
  return gen_printf(group->arena, "csi_%s_%s_%s_entry", group->name, map->owner->snake, map->snake);
}

const char *gen_enum_name(const struct gen_group *group, const struct gen_enum *enumeration) {
  return gen_printf(group->arena, "csi_%s_%s", group->name, enumeration->snake);
}

const char *gen_versioned_name(const struct gen_group *group, const struct gen_message *message) {
  return gen_printf(group->arena, "csi_%s_%s_%s", group->name, message->file->version, message->snake);
}

const char *gen_handler_name(const struct gen_group *group, const struct gen_rpc *rpc) {
  return gen_printf(group->arena, "csi_%s_serve_%s", group->name, rpc->snake);
}

const char *gen_value_type(const struct gen_group *group, const struct gen_field *field) {
  static const char *const types[] = {
      [GEN_DOUBLE] = "double ",    [GEN_FLOAT] = "float ",      [GEN_INT64] = "int64_t ",
      [GEN_UINT64] = "uint64_t ",  [GEN_INT32] = "int32_t ",    [GEN_FIXED64] = "uint64_t ",
      [GEN_FIXED32] = "uint32_t ", [GEN_BOOL] = "bool ",        [GEN_STRING] = "const char *",
      [GEN_UINT32] = "uint32_t ",  [GEN_SFIXED32] = "int32_t ", [GEN_SFIXED64] = "int64_t ",
      [GEN_SINT32] = "int32_t ",   [GEN_SINT64] = "int64_t ",   [GEN_BYTES] = "struct csi_bytes "};
  if (gen_is_map(field)) return gen_printf(group->arena, "struct %s ", gen_entry_name(group, field));
  if (field->kind == GEN_MESSAGE)
    return gen_printf(group->arena, "struct %s ", gen_struct_name(group, field->message));
  if (field->kind == GEN_ENUM)
    return gen_printf(group->arena, "enum %s ", gen_enum_name(group, field->enumeration));
  return types[field->kind];
}

void gen_put_conversion(struct gen_out *output, const struct gen_group *group,
                        const struct gen_message *message, bool from_wire) {
  const char *neutral = gen_struct_name(group, message->neutral);
  gen_put(output, "bool %s_%s_wire(struct csi_arena *arena, struct csi_status *status,\n    ",
          gen_versioned_name(group, message), from_wire ? "from" : "to");
  if (from_wire)
    gen_put(output, "const %s *from, struct %s *to)", message->c_struct, neutral);
  else
    gen_put(output, "const struct %s *from, %s *to)", neutral, message->c_struct);
}

/* --- RPCs and fields in the versions */

const struct gen_rpc *gen_rpc_in(const struct gen_file *version, const struct gen_rpc *neutral) {
  for (GEN_EACH(struct gen_rpc, rpc, &version->rpcs))
    if (rpc->neutral == neutral) return rpc;
  return NULL;
}

static const char *append(const struct gen_group *group, const char *list, const char *word) {
  return *list == '\0' ? word : gen_printf(group->arena, "%s, %s", list, word);
}

const char *gen_rpc_versions(const struct gen_group *group, const struct gen_rpc *neutral) {
  struct gen_list versions = gen_versions_by_preference(group);
  const char *text = "", *old_name = NULL;
  for (GEN_EACH(struct gen_file, file, &versions)) {
    const struct gen_rpc *rpc = gen_rpc_in(file, neutral);
    if (rpc != NULL && strcmp(rpc->name, neutral->name) == 0) text = append(group, text, file->version);
  }
  for (GEN_EACH(struct gen_file, file, &versions)) {
    const struct gen_rpc *rpc = gen_rpc_in(file, neutral);
    if (rpc == NULL || strcmp(rpc->name, neutral->name) == 0) continue;
    if (old_name == NULL || strcmp(old_name, rpc->name) != 0)
      text = gen_printf(group->arena, "%s%sas %s in %s", text, *text == '\0' ? "" : "; ", rpc->name,
                        file->version);
    else
      text = append(group, text, file->version);
    old_name = rpc->name;
  }
  return text;
}

const char *gen_field_absent(const struct gen_group *group, const struct gen_field *neutral) {
  const char *text = "";
  for (GEN_EACH(struct gen_file, file, &group->versions))
    for (GEN_EACH(struct gen_message, message, &file->messages))
      if (message->neutral == neutral->owner && !message->hand_written &&
          gen_counterpart(message, neutral) == NULL)
        text = append(group, text, file->version);
  return *text == '\0' ? NULL : text;
}

const char *gen_field_doc(const struct gen_group *group, const struct gen_field *neutral) {
  const char *doc = neutral->doc;
  const char *absent = gen_field_absent(group, neutral);
  if (neutral->max_bytes != 0)
    doc = gen_printf(group->arena, "%s At most %u bytes%s.", doc, neutral->max_bytes,
                     neutral->repeated ? " each" : "");
  if (neutral->max_count != 0)
    doc = gen_printf(group->arena, "%s At most %u element%s.", doc, neutral->max_count,
                     neutral->max_count == 1 ? "" : "s");
  if (gen_is_map(neutral)) doc = gen_printf(group->arena, "%s Sorted by key when it was received.", doc);
  if (neutral->secret)
    doc = gen_printf(group->arena, "%s A credential: the service neither logs nor keeps it.", doc);
  if (absent != NULL) doc = gen_printf(group->arena, "%s Not in %s.", doc, absent);
  return doc;
}

const char *gen_message_doc(const struct gen_group *group, const struct gen_message *neutral) {
  if (neutral->doc != NULL) return neutral->doc;
  for (GEN_EACH(struct gen_rpc, rpc, &group->neutral->rpcs)) {
    if (rpc->request == neutral) return gen_printf(group->arena, "Request of %s.", rpc->name);
    if (rpc->response == neutral) return gen_printf(group->arena, "Response of %s.", rpc->name);
  }
  return gen_printf(group->arena, "%s.", neutral->name);
}

bool gen_has_secret(const struct gen_message *message) {
  for (GEN_EACH(struct gen_field, field, &message->fields))
    if (field->secret || (field->message != NULL && gen_has_secret(field->message))) return true;
  return false;
}

static bool message_uses_bytes(const struct gen_message *message) {
  for (GEN_EACH(struct gen_field, field, &message->fields))
    if (field->kind == GEN_BYTES || (gen_is_map(field) && message_uses_bytes(field->message))) return true;
  return false;
}

bool gen_uses_bytes(const struct gen_group *group) {
  for (GEN_EACH(struct gen_message, message, &group->neutral->messages))
    if (message_uses_bytes(message)) return true;
  return false;
}
