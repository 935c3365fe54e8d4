/* SPDX-License-Identifier: Apache-2.0
 *
 * Every message of group.proto that a version has is converted in both directions: the server needs
 * requests from and responses to the wire, the client the opposite.
 */
#include <string.h>

#include "codegen/emit.h"

/* What the emitters of one function pass around. Texts of fields refer to `from` and `to`. */
struct body {
  struct gen_out *output;
  const struct gen_group *group;
  bool from_wire;
};

/* A versioned field, and how the two structures call it. */
struct pair {
  const struct gen_field *field;
  const struct gen_field *neutral;
  const char *from;  /* member of the source */
  const char *to;    /* member of the target */
  const char *local; /* stem of local variables */
};

static const char *text(const struct body *body, const char *format, const char *a) {
  const char *mark = strchr(format, '%');
  return gen_printf(body->group->arena, "%.*s%s%s", (int)(mark - format), format, a, mark + 1);
}

/* --- single values */

/* Plain values have one representation on both sides, so arrays of them are shared. */
static bool is_plain(const struct gen_field *field) {
  return field->kind != GEN_BOOL && field->kind != GEN_STRING && field->kind != GEN_BYTES &&
         field->kind != GEN_ENUM && field->kind != GEN_MESSAGE;
}

/* The expression that converts `value`; not for messages. */
static const char *converted(const struct body *body, const struct pair *pair, const char *value) {
  switch (pair->field->kind) {
  case GEN_BOOL:
    return body->from_wire ? text(body, "% != 0", value) : value;
  case GEN_STRING:
    return body->from_wire ? value : text(body, "csi_text_to_wire(%)", value);
  case GEN_BYTES:
    return body->from_wire ? text(body, "csi_bytes_from_wire(%)", value)
                           : text(body, "csi_bytes_to_wire(%)", value);
  case GEN_ENUM:
    return body->from_wire
               ? gen_printf(body->group->arena, "(enum %s)%s",
                            gen_enum_name(body->group, pair->neutral->enumeration), value)
               : gen_printf(body->group->arena, "(%s)%s", pair->field->enumeration->c_type, value);
  default:
    return value;
  }
}

static const char *conversion_call(const struct body *body, const struct pair *pair, const char *from,
                                   const char *to) {
  return gen_printf(body->group->arena, "%s_%s_wire(arena, status, %s, %s)",
                    gen_versioned_name(body->group, pair->field->message), body->from_wire ? "from" : "to",
                    from, to);
}

/* Target type of one element, with room for a name. */
static const char *target_type(const struct body *body, const struct pair *pair) {
  static const char *const wire_types[] = {
      [GEN_BOOL] = "protobuf_c_boolean ", [GEN_STRING] = "char *", [GEN_BYTES] = "ProtobufCBinaryData "};
  if (body->from_wire) return gen_value_type(body->group, pair->neutral);
  if (pair->field->kind == GEN_MESSAGE)
    return gen_printf(body->group->arena, "%s *", pair->field->message->c_struct);
  if (pair->field->kind == GEN_ENUM)
    return gen_printf(body->group->arena, "%s ", pair->field->enumeration->c_type);
  return wire_types[pair->field->kind];
}

/* --- a message inside */

static void put_new(const struct body *body, const char *indent, const char *type, const char *name) {
  gen_put(
      body->output,
      "%s%s *%s = csi_convert_array(arena, status, 1, sizeof *%s);\n%sif (%s == NULL)\n%s  return false;\n",
      indent, type, name, name, indent, name, indent);
}

/* Allocates `name`, a wire message of the field's type, and fills it from `value`. */
static void put_wire_message(const struct body *body, const struct pair *pair, const char *indent,
                             const char *name, const char *value) {
  put_new(body, indent, pair->field->message->c_struct, name);
  gen_put(body->output, "%s%s__init(%s);\n%sif (!%s)\n%s  return false;\n", indent,
          pair->field->message->c_prefix, name, indent, conversion_call(body, pair, value, name), indent);
}

static void put_nested(const struct body *body, const struct pair *pair) {
  const char *name = text(body, "%_item", pair->local);
  gen_put(body->output, "  if (%s != NULL) {\n", pair->from);
  if (body->from_wire) {
    put_new(body, "    ",
            gen_printf(body->group->arena, "struct %s", gen_struct_name(body->group, pair->neutral->message)),
            name);
    gen_put(body->output, "    if (!%s)\n      return false;\n",
            conversion_call(body, pair, pair->from, name));
  } else {
    put_wire_message(body, pair, "    ", name, pair->from);
  }
  gen_put(body->output, "    %s = %s;\n  }\n", pair->to, name);
}

/* --- repeated fields */

static const char *count_of(const struct body *body, const struct pair *pair, bool source) {
  const char *owner = source ? "from" : "to";
  bool wire = source == body->from_wire;
  return wire ? gen_printf(body->group->arena, "%s->n_%s", owner, pair->field->c_name)
              : gen_printf(body->group->arena, "%s->%s_count", owner, pair->neutral->snake);
}

static void put_shared_array(const struct body *body, const struct pair *pair) {
  const char *cast = "";
  if (body->from_wire && pair->field->kind == GEN_STRING)
    cast = "(const char *const *)";
  else if (!body->from_wire)
    cast = gen_printf(body->group->arena, "(%s*)", gen_value_type(body->group, pair->neutral));
  gen_put(body->output, "  %s = %s%s;\n", pair->to, cast, pair->from);
}

static void put_element(const struct body *body, const struct pair *pair) {
  const char *source = text(body, "%[i]", pair->from);
  const char *target = text(body, "%_items[i]", pair->local);
  if (pair->field->kind != GEN_MESSAGE) {
    gen_put(body->output, "    %s = %s;\n", target, converted(body, pair, source));
  } else if (body->from_wire) {
    gen_put(body->output, "    if (!%s)\n      return false;\n",
            conversion_call(body, pair, source, text(body, "&%", target)));
  } else {
    put_wire_message(body, pair, "    ", "item", text(body, "&%", source));
    gen_put(body->output, "    %s = item;\n", target);
  }
}

static void put_array(const struct body *body, const struct pair *pair, const char *type, const char *count) {
  gen_put(body->output,
          "  %s*%s_items =\n      csi_convert_array(arena, status, %s, sizeof *%s_items);\n"
          "  if (%s_items == NULL)\n    return false;\n",
          type, pair->local, count, pair->local, pair->local);
}

static void put_repeated(const struct body *body, const struct pair *pair) {
  const char *count = count_of(body, pair, true);
  gen_put(body->output, "  %s = %s;\n", count_of(body, pair, false), count);
  if (is_plain(pair->field) || (pair->field->kind == GEN_STRING && body->from_wire)) {
    put_shared_array(body, pair);
    return;
  }
  put_array(body, pair, target_type(body, pair), count);
  gen_put(body->output, "  for (size_t i = 0; i < %s; i++) {\n", count);
  put_element(body, pair);
  gen_put(body->output, "  }\n  %s = %s_items;\n", pair->to, pair->local);
}

/* --- maps */

static const char *entry_compare(const struct body *body, const struct gen_field *map) {
  return gen_printf(body->group->arena, "compare_%s_%s", map->owner->snake, map->snake);
}

/* Orders two entries of a map, which protobuf-c knows as messages, by key. */
static void put_compare(struct gen_out *output, const struct gen_group *group, const struct gen_field *map) {
  struct body body = {.output = output, .group = group};
  const struct gen_field *key = map->message->fields.items[0];
  gen_put(output,
          "static int %s(const void *a, const void *b) {\n"
          "  const %s *x = a, *y = b;\n  return %s;\n}\n\n",
          entry_compare(&body, map), map->message->c_struct,
          key->kind == GEN_STRING ? "strcmp(x->key, y->key)" : "(x->key > y->key) - (x->key < y->key)");
}

static struct pair entry_pair(const struct pair *map, size_t index, const char *from, const char *to) {
  return (struct pair){.field = map->field->message->fields.items[index],
                       .neutral = map->neutral->message->fields.items[index],
                       .from = from,
                       .to = to,
                       .local = "value"};
}

/* A missing value of a message type counts as an empty message. */
static void put_map_value(const struct body *body, const struct pair *value) {
  if (value->field->kind != GEN_MESSAGE) {
    gen_put(body->output, "    %s = %s;\n", value->to, converted(body, value, value->from));
  } else if (body->from_wire) {
    const char *prefix = value->field->message->c_prefix;
    gen_put(body->output,
            "    %s empty;\n    %s__init(&empty);\n"
            "    const %s *source = %s != NULL ? %s : &empty;\n    if (!%s)\n      return false;\n",
            value->field->message->c_struct, prefix, value->field->message->c_struct, value->from,
            value->from, conversion_call(body, value, "source", text(body, "&%", value->to)));
  } else {
    put_wire_message(body, value, "    ", "value", text(body, "&%", value->from));
    gen_put(body->output, "    %s = value;\n", value->to);
  }
}

static void put_map_from_wire(const struct body *body, const struct pair *pair) {
  gen_put(body->output,
          "  const void **%s_sorted;\n"
          "  if (!csi_convert_map(arena, status, (const void *const *)%s, %s,\n"
          "                       %s, &%s_sorted,\n"
          "                       &%s))\n"
          "    return false;\n",
          pair->local, pair->from, count_of(body, pair, true), entry_compare(body, pair->field), pair->local,
          count_of(body, pair, false));
  put_array(body, pair, gen_value_type(body->group, pair->neutral), count_of(body, pair, false));
  gen_put(body->output, "  for (size_t i = 0; i < %s; i++) {\n    const %s *entry = %s_sorted[i];\n",
          count_of(body, pair, false), pair->field->message->c_struct, pair->local);
  struct pair key = entry_pair(pair, 0, "entry->key", text(body, "%_items[i].key", pair->local));
  struct pair value = entry_pair(pair, 1, "entry->value", text(body, "%_items[i].value", pair->local));
  gen_put(body->output, "    %s = %s;\n", key.to, converted(body, &key, key.from));
  put_map_value(body, &value);
  gen_put(body->output, "  }\n  %s = %s_items;\n", pair->to, pair->local);
}

static void put_map_to_wire(const struct body *body, const struct pair *pair) {
  const struct gen_message *entry = pair->field->message;
  const char *count = count_of(body, pair, true);
  gen_put(body->output, "  %s = %s;\n", count_of(body, pair, false), count);
  put_array(body, pair, text(body, "% *", entry->c_struct), count);
  gen_put(body->output, "  for (size_t i = 0; i < %s; i++) {\n", count);
  put_new(body, "    ", entry->c_struct, "entry");
  gen_put(body->output, "    %s__init(entry);\n", entry->c_prefix);
  struct pair key = entry_pair(pair, 0, text(body, "%[i].key", pair->from), "entry->key");
  struct pair value = entry_pair(pair, 1, text(body, "%[i].value", pair->from), "entry->value");
  gen_put(body->output, "    %s = %s;\n", key.to, converted(body, &key, key.from));
  put_map_value(body, &value);
  gen_put(body->output, "    %s_items[i] = entry;\n  }\n  %s = %s_items;\n", pair->local, pair->to,
          pair->local);
}

/* --- a function */

static void put_field(const struct body *body, const struct gen_field *field) {
  const char *wire = gen_printf(body->group->arena, "%s->%s", body->from_wire ? "from" : "to", field->c_name);
  const char *neutral =
      gen_printf(body->group->arena, "%s->%s", body->from_wire ? "to" : "from", field->neutral->snake);
  struct pair pair = {.field = field,
                      .neutral = field->neutral,
                      .from = body->from_wire ? wire : neutral,
                      .to = body->from_wire ? neutral : wire,
                      .local = field->neutral->snake};
  if (gen_is_map(field))
    (body->from_wire ? put_map_from_wire : put_map_to_wire)(body, &pair);
  else if (field->repeated)
    put_repeated(body, &pair);
  else if (field->kind == GEN_MESSAGE)
    put_nested(body, &pair);
  else
    gen_put(body->output, "  %s = %s;\n", pair.to, converted(body, &pair, pair.from));
}

static void put_function(struct gen_out *output, const struct gen_group *group,
                         const struct gen_message *message, bool from_wire) {
  struct gen_out statements = {0};
  struct body body = {.output = &statements, .group = group, .from_wire = from_wire};
  gen_put(&statements, "%s", "");
  for (GEN_EACH(struct gen_field, field, &message->fields))
    if (field->neutral != NULL) put_field(&body, field);
  gen_put_conversion(output, group, message, from_wire);
  gen_put(output, " {\n");
  if (strstr(statements.text, "arena, status") == NULL) gen_put(output, "  (void)arena;\n  (void)status;\n");
  if (strstr(statements.text, "to->") == NULL) gen_put(output, "  (void)from;\n  (void)to;\n");
  gen_put(output, "%s  return true;\n}\n\n", statements.text);
  gen_drop(&statements);
}

/* --- files */

static void put_header(struct gen_out *output, const struct gen_group *group, const struct gen_file *file) {
  const char *guard =
      gen_printf(group->arena, "CSI_GEN_%s_CONVERT_%s_H", gen_upper(group->arena, group->name),
                 gen_upper(group->arena, file->version));
  gen_put_banner(
      output, group,
      gen_printf(group->arena,
                 "Converts the messages of %s %s from and to the version-agnostic structures. Strings "
                 "and arrays are shared with the source where both sides store them alike, the rest is "
                 "in the arena; a source must live as long as its copy. *to is zeroed (structures) or "
                 "initialised (messages) by the caller. False, with the status set, when memory is "
                 "short or a hand-written conversion refuses the value.",
                 group->name, file->version));
  gen_put(output, "#ifndef %s\n#define %s\n\n", guard, guard);
  gen_put(output,
          "#include \"base/arena.h\"\n#include \"base/status.h\"\n#include \"csi-proxy/%s.h\"\n"
          "#include \"%s/%s/api.pb-c.h\"\n\n",
          group->name, group->name, file->version);
  for (GEN_EACH(struct gen_message, message, &file->messages)) {
    if (message->neutral == NULL) continue;
    if (message->hand_written) gen_put(output, "/* Both are written by hand. */\n");
    gen_put_conversion(output, group, message, true);
    gen_put(output, ";\n");
    gen_put_conversion(output, group, message, false);
    gen_put(output, ";\n\n");
  }
  gen_put(output, "#endif\n");
}

static void put_source(struct gen_out *output, const struct gen_group *group, const struct gen_file *file) {
  gen_put_banner(output, group,
                 gen_printf(group->arena, "Conversions of %s %s.", group->name, file->version));
  gen_put(output,
          "#include \"%s/convert_%s.h\"\n\n#include <string.h>\n\n#include \"codegen/runtime/convert.h\"\n\n",
          group->name, file->version);
  for (GEN_EACH(struct gen_message, message, &file->messages)) {
    if (message->neutral == NULL || message->hand_written) continue;
    for (GEN_EACH(struct gen_field, field, &message->fields))
      if (gen_is_map(field) && field->neutral != NULL) put_compare(output, group, field);
    put_function(output, group, message, true);
    put_function(output, group, message, false);
  }
}

bool gen_emit_convert(const struct gen_group *group, const char *directory) {
  for (GEN_EACH(struct gen_file, file, &group->versions)) {
    struct gen_out header = {0}, source = {0};
    put_header(&header, group, file);
    put_source(&source, group, file);
    const char *stem = gen_printf(group->arena, "%s/convert_%s", group->name, file->version);
    bool saved = gen_save(&header, directory, gen_printf(group->arena, "%s.h", stem));
    saved = gen_save(&source, directory, gen_printf(group->arena, "%s.c", stem)) && saved;
    if (!saved) return false;
  }
  return true;
}
