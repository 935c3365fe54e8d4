/* SPDX-License-Identifier: Apache-2.0 */
#include "codegen/emit.h"

/* What holds where group.proto states no limit: in requests for what is ignored or converted by hand,
 * in responses, which come from the service, for everything. */
enum {
  REQUEST_MAX_BYTES = 65536,
  REQUEST_MAX_COUNT = 65536,
  RESPONSE_MAX_BYTES = 4 * 1024 * 1024,
  RESPONSE_MAX_COUNT = 1024 * 1024,
};

static const char *wire_kind(enum gen_kind kind) {
  switch (kind) {
  case GEN_DOUBLE:
  case GEN_FIXED64:
  case GEN_SFIXED64:
    return "CSI_WIRE_FIXED64";
  case GEN_FLOAT:
  case GEN_FIXED32:
  case GEN_SFIXED32:
    return "CSI_WIRE_FIXED32";
  case GEN_STRING:
    return "CSI_WIRE_STRING";
  case GEN_BYTES:
    return "CSI_WIRE_BYTES";
  case GEN_MESSAGE:
    return "CSI_WIRE_MESSAGE";
  default:
    return "CSI_WIRE_VARINT";
  }
}

static uint32_t max_bytes(const struct gen_field *field) {
  if (field->neutral != NULL && field->neutral->max_bytes != 0) return field->neutral->max_bytes;
  return field->owner->in_request ? REQUEST_MAX_BYTES : RESPONSE_MAX_BYTES;
}

static uint32_t max_count(const struct gen_field *field) {
  if (field->neutral != NULL && field->neutral->max_count != 0) return field->neutral->max_count;
  return field->owner->in_request ? REQUEST_MAX_COUNT : RESPONSE_MAX_COUNT;
}

/* Keys and values of a map have the limit of the map. */
static void put_field(struct gen_out *output, const struct gen_group *group, const struct gen_field *field,
                      const struct gen_field *limits) {
  gen_put(output, "    {.number = %u, .kind = %s", field->number, wire_kind(field->kind));
  if (field->kind == GEN_STRING || field->kind == GEN_BYTES)
    gen_put(output, ", .max_bytes = %u", max_bytes(limits));
  if (field->repeated) gen_put(output, ", .repeated = true, .max_count = %u", max_count(limits));
  if (field->message != NULL)
    gen_put(output, ",\n     .message = &%s_wire", gen_versioned_name(group, field->message));
  gen_put(output, ", .name = \"%s\"},\n", field->name);
}

/* limits: the map whose entry this is, NULL for other messages. */
static void put_table(struct gen_out *output, const struct gen_group *group,
                      const struct gen_message *message, const struct gen_field *map) {
  const char *name = gen_versioned_name(group, message);
  if (message->fields.count > 0) {
    gen_put(output, "static const struct csi_wire_field %s_fields[] = {\n", name);
    for (GEN_EACH(struct gen_field, field, &message->fields))
      put_field(output, group, field, map != NULL ? map : field);
    gen_put(output, "};\n");
  }
  gen_put(output, "%sconst struct csi_wire_message %s_wire = {\n    .name = \"%s.%s\",\n",
          map != NULL ? "static " : "", name, message->file->version, message->name);
  if (message->fields.count > 0)
    gen_put(output, "    .fields = %s_fields,\n    .field_count = %zu,\n", name, message->fields.count);
  gen_put(output, "};\n\n");
}

static void put_message(struct gen_out *output, const struct gen_group *group,
                        const struct gen_message *message) {
  for (GEN_EACH(struct gen_field, field, &message->fields))
    if (gen_is_map(field)) put_table(output, group, field->message, field);
  put_table(output, group, message, NULL);
}

bool gen_emit_wire(const struct gen_group *group, const char *directory) {
  struct gen_out header = {0}, source = {0};
  const char *guard = gen_printf(group->arena, "CSI_GEN_%s_WIRE_H", gen_upper(group->arena, group->name));
  gen_put_banner(&header, group,
                 gen_printf(group->arena, "What encoded messages of the %s group may hold.", group->name));
  gen_put(&header, "#ifndef %s\n#define %s\n\n#include \"rpc/wire.h\"\n\n", guard, guard);
  gen_put_banner(&source, group,
                 gen_printf(group->arena, "What encoded messages of the %s group may hold.", group->name));
  gen_put(&source, "#include \"%s/wire.h\"\n\n", group->name);
  for (GEN_EACH(struct gen_file, file, &group->versions))
    for (GEN_EACH(struct gen_message, message, &file->messages)) {
      gen_put(&header, "extern const struct csi_wire_message %s_wire;\n", gen_versioned_name(group, message));
      put_message(&source, group, message);
    }
  gen_put(&header, "\n#endif\n");
  bool saved = gen_save(&header, directory, gen_printf(group->arena, "%s/wire.h", group->name));
  return gen_save(&source, directory, gen_printf(group->arena, "%s/wire.c", group->name)) && saved;
}
