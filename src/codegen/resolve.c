/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the neutral counterpart of every message, field and RPC of every version.
 */
#include <string.h>

#include "codegen/check.h"

/* The name by which a version knows a neutral item. */
static const char *name_in(const struct gen_list *aliases, const char *name, const char *version) {
  const struct gen_alias *alias = gen_alias_for(aliases, version);
  return alias != NULL ? alias->name : name;
}

/* --- aliases */

/* What all aliases must fulfil, whatever they stand at. */
static void check_aliases(const struct gen_group *group, const char *item, const struct gen_list *aliases) {
  for (GEN_EACH(struct gen_alias, alias, aliases)) {
    if (alias->versions.count == 0)
      gen_complain(group, group->neutral, item, "was \"%s\" in no version; name the versions of the alias",
                   alias->name);
    for (GEN_EACH(const char, version, &alias->versions)) {
      if (gen_find_version(group, version) == NULL)
        gen_complain(group, group->neutral, item, "was \"%s\" in unknown version %s; correct the version",
                     alias->name, version);
      else if (gen_alias_for(aliases, version) != alias)
        gen_complain(group, group->neutral, item, "has two old names in %s; keep one of them", version);
    }
  }
}

/* Every alias must name something. `exists` looks the name up in one version. */
static void check_alias_targets(const struct gen_group *group, const char *item,
                                const struct gen_list *aliases,
                                bool (*exists)(const struct gen_file *, const void *owner, const char *name),
                                const void *owner) {
  for (GEN_EACH(struct gen_alias, alias, aliases))
    for (GEN_EACH(const char, version, &alias->versions)) {
      const struct gen_file *file = gen_find_version(group, version);
      if (file != NULL && !exists(file, owner, alias->name))
        gen_complain(group, group->neutral, item,
                     "was \"%s\" in %s, which has no such name; correct the alias or remove it", alias->name,
                     version);
    }
}

static bool message_exists(const struct gen_file *file, const void *owner, const char *name) {
  (void)owner;
  return gen_find_message(file, name) != NULL;
}

static bool rpc_exists(const struct gen_file *file, const void *owner, const char *name) {
  (void)owner;
  return gen_find_rpc(file, name) != NULL;
}

static const struct gen_message *message_counterpart(const struct gen_file *file,
                                                     const struct gen_message *neutral) {
  for (GEN_EACH(struct gen_message, message, &file->messages))
    if (message->neutral == neutral) return message;
  return NULL;
}

static bool field_exists(const struct gen_file *file, const void *owner, const char *name) {
  const struct gen_message *message = message_counterpart(file, owner);
  return message != NULL && gen_find_field(message, name) != NULL;
}

/* --- messages */

static void map_message(const struct gen_group *group, struct gen_message *message) {
  for (GEN_EACH(struct gen_message, neutral, &group->neutral->messages)) {
    if (strcmp(name_in(&neutral->aliases, neutral->name, message->file->version), message->name) != 0)
      continue;
    if (message->neutral != NULL)
      gen_complain(group, message->file, message->name, "stands for both %s and %s; correct message_was",
                   message->neutral->name, neutral->name);
    message->neutral = neutral;
  }
}

/* "<version>.<Message>" */
static struct gen_message *find_reference(const struct gen_group *group, const char *text) {
  const char *dot = strchr(text, '.');
  if (dot == NULL) return NULL;
  struct gen_file *file = gen_find_version(group, gen_strndup(group->arena, text, (size_t)(dot - text)));
  return file == NULL ? NULL : gen_find_message(file, dot + 1);
}

static void apply_by_hand(const struct gen_group *group, const struct gen_message *neutral) {
  for (GEN_EACH(struct gen_reference, reference, &neutral->by_hand)) {
    struct gen_message *message = find_reference(group, reference->text);
    if (message == NULL || message->neutral != neutral)
      gen_complain(
          group, group->neutral, neutral->name,
          "by_hand names \"%s\", which is not this message in a version; write \"<version>.<Message>\"",
          reference->text);
    else if (message->hand_written)
      gen_complain(group, group->neutral, neutral->name, "by_hand names \"%s\" twice; remove one",
                   reference->text);
    else
      message->hand_written = true;
  }
}

/* --- fields */

static void map_field(const struct gen_group *group, struct gen_field *field) {
  const struct gen_message *message = field->owner;
  for (GEN_EACH(struct gen_field, neutral, &message->neutral->fields)) {
    if (strcmp(name_in(&neutral->aliases, neutral->name, message->file->version), field->name) != 0) continue;
    if (field->neutral != NULL)
      gen_complain(group, message->file, gen_item(group, message, field),
                   "stands for both %s and %s of %s; correct field_was", field->neutral->name, neutral->name,
                   message->neutral->name);
    field->neutral = neutral;
  }
}

static struct gen_field *find_field_reference(const struct gen_group *group, const char *text) {
  const char *dot = strrchr(text, '.');
  if (dot == NULL) return NULL;
  struct gen_message *message = find_reference(group, gen_strndup(group->arena, text, (size_t)(dot - text)));
  return message == NULL ? NULL : gen_find_field(message, dot + 1);
}

static void apply_dropped(const struct gen_group *group, const struct gen_message *neutral) {
  for (GEN_EACH(struct gen_reference, reference, &neutral->dropped)) {
    struct gen_field *field = find_field_reference(group, reference->text);
    if (field == NULL || field->owner->neutral != neutral)
      gen_complain(
          group, group->neutral, neutral->name,
          "dropped names \"%s\", which is not in this message; write \"<version>.<Message>.<field>\"",
          reference->text);
    else if (field->owner->hand_written)
      gen_complain(group, group->neutral, neutral->name,
                   "dropped names \"%s\", but that message is converted by hand; remove it", reference->text);
    else if (field->neutral != NULL)
      gen_complain(group, group->neutral, neutral->name,
                   "dropped names \"%s\", which is also %s; remove one of the two", reference->text,
                   field->neutral->name);
    else if (field->dropped)
      gen_complain(group, group->neutral, neutral->name, "dropped names \"%s\" twice; remove one",
                   reference->text);
    else
      field->dropped = true;
  }
}

/* --- what needs no counterpart */

static void excuse_types(struct gen_field *field) {
  if (field->enumeration != NULL) field->enumeration->excused = true;
  if (field->message == NULL) return;
  field->message->excused = true;
  for (GEN_EACH(struct gen_field, inner, &field->message->fields))
    excuse_types(inner);
}

static void excuse(const struct gen_file *file) {
  for (GEN_EACH(struct gen_message, message, &file->messages))
    for (GEN_EACH(struct gen_field, field, &message->fields))
      if (field->dropped || message->hand_written) excuse_types(field);
}

/* --- complaints about what is left over */

static void complain_unmapped_message(const struct gen_group *group, const struct gen_message *message) {
  const struct gen_message *same_name = gen_find_message(group->neutral, message->name);
  if (same_name != NULL)
    gen_complain(group, message->file, message->name,
                 "maps twice, by its own name and as \"%s\" by message_was; remove one of the two",
                 gen_alias_for(&same_name->aliases, message->file->version)->name);
  else
    gen_complain(
        group, message->file, message->name,
        "has no counterpart in group.proto; add the message, or message_was to the one it stands for");
}

static void complain_unmapped_field(const struct gen_group *group, const struct gen_field *field) {
  const struct gen_message *message = field->owner;
  const struct gen_field *same_name = gen_find_field(message->neutral, field->name);
  if (same_name != NULL)
    gen_complain(group, message->file, gen_item(group, message, field),
                 "maps twice, by its own name and as \"%s\" by field_was; remove one of the two",
                 gen_alias_for(&same_name->aliases, message->file->version)->name);
  else
    gen_complain(group, message->file, gen_item(group, message, field),
                 "has no counterpart in %s of group.proto; add field_was to the field it stands for, or "
                 "dropped = \"%s.%s\" to the message",
                 message->neutral->name, message->file->version, gen_item(group, message, field));
}

static void complain_unmapped(const struct gen_group *group, const struct gen_file *file) {
  for (GEN_EACH(struct gen_message, message, &file->messages)) {
    if (message->neutral == NULL && !message->excused) complain_unmapped_message(group, message);
    if (message->neutral == NULL || message->hand_written) continue;
    for (GEN_EACH(struct gen_field, field, &message->fields))
      if (field->neutral == NULL && !field->dropped) complain_unmapped_field(group, field);
  }
  for (GEN_EACH(struct gen_enum, enumeration, &file->enums))
    if (enumeration->neutral == NULL && !enumeration->excused)
      gen_complain(group, file, enumeration->name,
                   "has no counterpart in group.proto; add the enum with the same values");
}

/* --- RPCs */

static void map_rpc(const struct gen_group *group, const struct gen_file *file, struct gen_rpc *rpc) {
  for (GEN_EACH(struct gen_rpc, neutral, &group->neutral->rpcs)) {
    const struct gen_alias *alias = gen_alias_for(&neutral->aliases, file->version);
    if (strcmp(name_in(&neutral->aliases, neutral->name, file->version), rpc->name) != 0) continue;
    if (rpc->neutral != NULL)
      gen_complain(group, file, rpc->name, "stands for both %s and %s; correct rpc_was", rpc->neutral->name,
                   neutral->name);
    rpc->neutral = neutral;
    rpc->error_prefix = alias != NULL ? alias->error_prefix : "";
  }
  if (rpc->neutral != NULL) return;
  const struct gen_rpc *same_name = gen_find_rpc(group->neutral, rpc->name);
  if (same_name != NULL)
    gen_complain(group, file, rpc->name,
                 "maps twice, by its own name and as \"%s\" by rpc_was; remove one of the two",
                 gen_alias_for(&same_name->aliases, file->version)->name);
  else
    gen_complain(group, file, rpc->name,
                 "has no counterpart in group.proto; add the RPC, or rpc_was to the one it stands for");
}

/* --- all of it */

static void map_messages(const struct gen_group *group) {
  for (GEN_EACH(struct gen_message, neutral, &group->neutral->messages)) {
    check_aliases(group, neutral->name, &neutral->aliases);
    check_alias_targets(group, neutral->name, &neutral->aliases, message_exists, NULL);
  }
  for (GEN_EACH(struct gen_file, file, &group->versions)) {
    for (GEN_EACH(struct gen_message, message, &file->messages))
      map_message(group, message);
    for (GEN_EACH(struct gen_enum, enumeration, &file->enums))
      enumeration->neutral = gen_find_enum(group->neutral, enumeration->name);
  }
  for (GEN_EACH(struct gen_message, neutral, &group->neutral->messages))
    apply_by_hand(group, neutral);
}

static void map_fields(const struct gen_group *group) {
  for (GEN_EACH(struct gen_message, neutral, &group->neutral->messages))
    for (GEN_EACH(struct gen_field, field, &neutral->fields)) {
      check_aliases(group, gen_item(group, neutral, field), &field->aliases);
      check_alias_targets(group, gen_item(group, neutral, field), &field->aliases, field_exists, neutral);
    }
  for (GEN_EACH(struct gen_file, file, &group->versions))
    for (GEN_EACH(struct gen_message, message, &file->messages))
      if (message->neutral != NULL)
        for (GEN_EACH(struct gen_field, field, &message->fields))
          map_field(group, field);
  for (GEN_EACH(struct gen_message, neutral, &group->neutral->messages))
    apply_dropped(group, neutral);
}

static void map_rpcs(const struct gen_group *group) {
  for (GEN_EACH(struct gen_rpc, rpc, &group->neutral->rpcs)) {
    check_aliases(group, rpc->name, &rpc->aliases);
    check_alias_targets(group, rpc->name, &rpc->aliases, rpc_exists, NULL);
  }
  for (GEN_EACH(struct gen_file, file, &group->versions))
    for (GEN_EACH(struct gen_rpc, rpc, &file->rpcs))
      map_rpc(group, file, rpc);
}

bool gen_resolve(struct gen_group *group) {
  map_messages(group);
  map_fields(group);
  for (GEN_EACH(struct gen_file, file, &group->versions)) {
    excuse(file);
    complain_unmapped(group, file);
  }
  map_rpcs(group);
  return gen_complaints() == 0;
}
