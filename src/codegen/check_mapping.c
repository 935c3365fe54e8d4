/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "codegen/check.h"

/* --- one field and its counterpart */

static bool same_value_type(const struct gen_field *field, const struct gen_field *neutral) {
  if (field->kind != neutral->kind) return false;
  if (field->kind == GEN_MESSAGE) return field->message->neutral == neutral->message;
  return field->kind != GEN_ENUM || field->enumeration->neutral == neutral->enumeration;
}

static bool same_type(const struct gen_field *field, const struct gen_field *neutral) {
  if (gen_is_map(field) != gen_is_map(neutral)) return false;
  if (!gen_is_map(field)) return same_value_type(field, neutral);
  return same_value_type(field->message->fields.items[0], neutral->message->fields.items[0]) &&
         same_value_type(field->message->fields.items[1], neutral->message->fields.items[1]);
}

static void check_pair(const struct gen_group *group, const struct gen_field *field) {
  const struct gen_message *message = field->owner;
  const struct gen_field *neutral = field->neutral;
  const char *reference = gen_printf(group->arena, "%s.%s", message->file->version, message->name);
  const char *problem = NULL;
  if (field->repeated != neutral->repeated)
    problem = field->repeated ? "is repeated" : "is not repeated";
  else if (!same_type(field, neutral))
    problem = "has another type";
  if (problem != NULL)
    gen_complain(group, message->file, gen_item(group, message, field),
                 "%s: it is %s, %s of group.proto is %s; make them equal, or convert the message by "
                 "hand with by_hand = \"%s\"",
                 problem, gen_type_text(group->arena, field), gen_item(group, neutral->owner, neutral),
                 gen_type_text(group->arena, neutral), reference);
}

/* --- enums */

/* Values in group.proto may carry the name of the enum in front, because they share one scope. */
static const char *short_name(const struct gen_group *group, const struct gen_enum *enumeration,
                              const struct gen_enum_value *value) {
  const char *prefix = gen_printf(group->arena, "%s_", gen_upper(group->arena, enumeration->snake));
  size_t length = strlen(prefix);
  return strncmp(value->name, prefix, length) == 0 && value->name[length] != '\0' ? value->name + length
                                                                                  : value->name;
}

static const struct gen_enum_value *find_number(const struct gen_enum *enumeration, int32_t number) {
  for (GEN_EACH(struct gen_enum_value, value, &enumeration->values))
    if (value->number == number) return value;
  return NULL;
}

static void check_enum(const struct gen_group *group, const struct gen_enum *enumeration) {
  const struct gen_enum *neutral = enumeration->neutral;
  for (GEN_EACH(struct gen_enum_value, value, &enumeration->values)) {
    const struct gen_enum_value *other = find_number(neutral, value->number);
    if (other == NULL ||
        strcmp(short_name(group, enumeration, value), short_name(group, neutral, other)) != 0)
      gen_complain(group, enumeration->file,
                   gen_printf(group->arena, "%s.%s", enumeration->name, value->name),
                   "is number %d, which is %s in group.proto; give both the same name and number",
                   value->number, other == NULL ? "missing" : other->name);
  }
}

/* --- RPCs */

static void check_rpc(const struct gen_group *group, const struct gen_file *file, const struct gen_rpc *rpc) {
  static const char advice[] = "add message_was, or correct rpc_was";
  if (rpc->request->neutral != rpc->neutral->request)
    gen_complain(group, file, rpc->name, "takes %s, which does not stand for %s of %s; %s",
                 rpc->request->name, rpc->neutral->request->name, rpc->neutral->name, advice);
  if (rpc->response->neutral != rpc->neutral->response)
    gen_complain(group, file, rpc->name, "returns %s, which does not stand for %s of %s; %s",
                 rpc->response->name, rpc->neutral->response->name, rpc->neutral->name, advice);
}

/* --- a version */

/* Secrets are blanked by name, so a hand-written conversion must not hide where one comes from. */
static void check_secrets(const struct gen_group *group, const struct gen_message *message) {
  for (GEN_EACH(struct gen_field, neutral, &message->neutral->fields))
    if (neutral->secret && gen_counterpart(message, neutral) == NULL)
      gen_complain(group, message->file, message->name,
                   "is converted by hand and hides the secret %s; name its field with field_was",
                   gen_item(group, neutral->owner, neutral));
}

static void check_version(const struct gen_group *group, const struct gen_file *file) {
  if (strcmp(file->service, group->neutral->service) != 0)
    gen_complain(group, file, file->service, "is called %s in group.proto; give both services one name",
                 group->neutral->service);
  for (GEN_EACH(struct gen_message, message, &file->messages)) {
    if (message->hand_written)
      check_secrets(group, message);
    else if (message->neutral != NULL)
      for (GEN_EACH(struct gen_field, field, &message->fields))
        if (field->neutral != NULL) check_pair(group, field);
  }
  for (GEN_EACH(struct gen_enum, enumeration, &file->enums))
    if (enumeration->neutral != NULL) check_enum(group, enumeration);
  for (GEN_EACH(struct gen_rpc, rpc, &file->rpcs))
    check_rpc(group, file, rpc);
}

/* --- what group.proto has and no version */

static bool rpc_used(const struct gen_group *group, const struct gen_rpc *neutral) {
  for (GEN_EACH(struct gen_file, file, &group->versions))
    for (GEN_EACH(struct gen_rpc, rpc, &file->rpcs))
      if (rpc->neutral == neutral) return true;
  return false;
}

static bool field_used(const struct gen_group *group, const struct gen_field *neutral) {
  for (GEN_EACH(struct gen_file, file, &group->versions))
    for (GEN_EACH(struct gen_message, message, &file->messages))
      if (message->neutral == neutral->owner &&
          (message->hand_written || gen_counterpart(message, neutral) != NULL))
        return true;
  return false;
}

static bool message_used(const struct gen_group *group, const struct gen_message *neutral) {
  for (GEN_EACH(struct gen_file, file, &group->versions))
    for (GEN_EACH(struct gen_message, message, &file->messages))
      if (message->neutral == neutral) return true;
  return false;
}

/* A message may exist in group.proto only to be built by hand: then a used message must contain it. */
static bool message_needed(const struct gen_group *group, const struct gen_message *neutral) {
  if (message_used(group, neutral)) return true;
  for (GEN_EACH(struct gen_message, message, &group->neutral->messages))
    for (GEN_EACH(struct gen_field, field, &message->fields)) {
      const struct gen_field *value = gen_is_map(field) ? field->message->fields.items[1] : field;
      if (value->message == neutral) return true;
    }
  return false;
}

static void check_unused(const struct gen_group *group) {
  for (GEN_EACH(struct gen_rpc, rpc, &group->neutral->rpcs))
    if (!rpc_used(group, rpc))
      gen_complain(group, group->neutral, rpc->name, "is in no version; remove it, or add rpc_was");
  for (GEN_EACH(struct gen_message, message, &group->neutral->messages)) {
    if (!message_needed(group, message)) {
      gen_complain(group, group->neutral, message->name, "is in no version; remove it, or add message_was");
      continue;
    }
    if (!message_used(group, message)) continue;
    for (GEN_EACH(struct gen_field, field, &message->fields))
      if (!field_used(group, field))
        gen_complain(group, group->neutral, gen_item(group, message, field),
                     "is in no version; remove it, or add field_was");
  }
}

bool gen_check_mapping(struct gen_group *group) {
  for (GEN_EACH(struct gen_file, file, &group->versions))
    check_version(group, file);
  check_unused(group);
  return gen_complaints() == 0;
}
