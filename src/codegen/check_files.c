/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/check.h"

static size_t complaints;

void gen_complain(const struct gen_group *group, const struct gen_file *file, const char *item,
                  const char *format, ...) {
  complaints++;
  fprintf(stderr, "%s%s: ", group->label,
          file != NULL ? file->name : gen_printf(group->arena, "%s/group.proto", group->name));
  if (item != NULL) fprintf(stderr, "%s: ", item);
  va_list args;
  va_start(args, format);
  vfprintf(stderr, format, args);
  va_end(args);
  fputc('\n', stderr);
}

size_t gen_complaints(void) {
  return complaints;
}

const char *gen_item(const struct gen_group *group, const struct gen_message *message,
                     const struct gen_field *field) {
  return gen_printf(group->arena, "%s.%s", message->name, field->name);
}

/* --- the list of versions */

static void check_version_names(const struct gen_group *group) {
  const char *previous = NULL;
  if (group->listed_versions.count == 0)
    gen_complain(group, group->neutral, NULL, "lists no version; add option (csi_proxy.version)");
  for (GEN_EACH(const char, version, &group->listed_versions)) {
    struct gen_version_parts parts;
    if (!gen_version_parse(version, &parts)) {
      gen_complain(group, group->neutral, version,
                   "is no version name; write v1, v1alpha1 or v1beta1, numbers from 1");
      continue;
    }
    if (previous != NULL && gen_version_compare_age(previous, version) >= 0)
      gen_complain(group, group->neutral, version,
                   "is listed after %s; list every version once, oldest to newest", previous);
    previous = version;
  }
}

/* Puts the files in listed order, and reports what only one side has. */
static void match_versions(struct gen_group *group) {
  struct gen_list ordered = {0};
  for (GEN_EACH(const char, version, &group->listed_versions)) {
    struct gen_file *file = gen_find_version(group, version);
    if (file != NULL)
      gen_push(group->arena, &ordered, file);
    else
      gen_complain(group, group->neutral, version, "has no proto; add %s%s/%s/api.proto or drop the version",
                   group->label, group->name, version);
  }
  for (GEN_EACH(struct gen_file, file, &group->versions)) {
    bool listed = false;
    for (GEN_EACH(const char, version, &group->listed_versions))
      listed = listed || strcmp(version, file->version) == 0;
    if (!listed)
      gen_complain(group, file, NULL, "is not listed; add option (csi_proxy.version) = \"%s\" to group.proto",
                   file->version);
  }
  group->versions = ordered;
}

/* --- constructs */

static bool foreign_type(const struct gen_field *field) {
  return (field->kind == GEN_MESSAGE && field->message == NULL) ||
         (field->kind == GEN_ENUM && field->enumeration == NULL) ||
         (gen_is_map(field) && foreign_type(field->message->fields.items[1]));
}

static void check_field(const struct gen_group *group, const struct gen_message *message,
                        const struct gen_field *field) {
  const char *item = gen_item(group, message, field);
  if (field->oneof)
    gen_complain(group, message->file, item,
                 "is optional or in a oneof, which is not supported; use a plain field");
  if (field->kind == GEN_GROUP)
    gen_complain(group, message->file, item, "is a proto2 group, which is not supported; use a message");
  if (foreign_type(field))
    gen_complain(group, message->file, item, "has a type of another file; declare the type in this file");
}

static bool recursive(struct gen_message *message) {
  if (message->on_walk) return true;
  bool found = false;
  message->on_walk = true;
  for (GEN_EACH(struct gen_field, field, &message->fields))
    found = found || (field->message != NULL && recursive(field->message));
  message->on_walk = false;
  return found;
}

static void check_message(const struct gen_group *group, struct gen_message *message) {
  if (message->nests_types)
    gen_complain(group, message->file, message->name,
                 "declares types inside, which is not supported; declare them at top level");
  if (message->extensions)
    gen_complain(group, message->file, message->name,
                 "declares extensions, which are not supported; remove them");
  if (recursive(message))
    gen_complain(group, message->file, message->name,
                 "contains itself, which is not supported; use a flat list");
  for (GEN_EACH(struct gen_field, field, &message->fields))
    check_field(group, message, field);
}

static void check_rpcs(const struct gen_group *group, const struct gen_file *file) {
  if (file->service_count != 1)
    gen_complain(group, file, NULL, "has %zu services; declare exactly one", file->service_count);
  for (GEN_EACH(struct gen_rpc, rpc, &file->rpcs)) {
    if (rpc->streaming)
      gen_complain(group, file, rpc->name, "is a streaming RPC, which is not supported; make it unary");
    if (rpc->request == NULL || rpc->response == NULL)
      gen_complain(group, file, rpc->name,
                   "uses a message of another file; declare its messages in this file");
  }
}

static void check_constructs(const struct gen_group *group, const struct gen_file *file) {
  if (!file->proto3) gen_complain(group, file, NULL, "is not proto3; write syntax = \"proto3\"");
  if (file->extension_count > 0)
    gen_complain(group, file, NULL, "declares extensions, which are not supported; remove them");
  for (GEN_EACH(struct gen_message, message, &file->messages))
    check_message(group, message);
  check_rpcs(group, file);
}

static void check_version(const struct gen_group *group, const struct gen_file *file) {
  if (strcmp(file->package, file->version) != 0)
    gen_complain(group, file, NULL, "has package \"%s\"; write package %s, as its folder is called",
                 file->package, file->version);
  if (file->import_count > 0)
    gen_complain(group, file, NULL, "imports another file; a version stands alone, remove the import");
  check_constructs(group, file);
}

/* --- group.proto: names, comments, annotations */

static void need_comment(const struct gen_group *group, const char *item, const char *doc) {
  if (doc == NULL)
    gen_complain(group, group->neutral, item,
                 "has no comment; say above it what it is, with units and limits");
  else if (strstr(doc, "/*") != NULL || strstr(doc, "*/") != NULL)
    gen_complain(group, group->neutral, item,
                 "has a slash and an asterisk in its comment, which becomes one of C; write it differently");
}

static void check_name(const struct gen_group *group, const struct gen_message *message,
                       const struct gen_field *field) {
  if (gen_is_keyword(field->snake))
    gen_complain(group, group->neutral, gen_item(group, message, field),
                 "is a word of C or C++; choose another name and give the old one in field_was");
}

static bool is_text(const struct gen_field *field) {
  return field->kind == GEN_STRING || field->kind == GEN_BYTES;
}

/* Which limits a field needs: a map those of its keys and values too. */
static void check_limits(const struct gen_group *group, const struct gen_message *message,
                         const struct gen_field *field) {
  bool text = is_text(field);
  if (gen_is_map(field))
    text = is_text(field->message->fields.items[0]) || is_text(field->message->fields.items[1]);
  const char *item = gen_item(group, message, field);
  if (text && message->in_request && field->max_bytes == 0)
    gen_complain(group, group->neutral, item,
                 "is a %s of a request without (csi_proxy.max_bytes); add the longest accepted value",
                 gen_type_text(group->arena, field));
  if (!text && field->max_bytes != 0)
    gen_complain(group, group->neutral, item, "has (csi_proxy.max_bytes) but is a %s; remove it",
                 gen_type_text(group->arena, field));
  if (field->repeated && message->in_request && field->max_count == 0)
    gen_complain(group, group->neutral, item,
                 "is a %s of a request without (csi_proxy.max_count); add the most elements accepted",
                 gen_type_text(group->arena, field));
  if (!field->repeated && field->max_count != 0)
    gen_complain(group, group->neutral, item, "has (csi_proxy.max_count) but is a %s; remove it",
                 gen_type_text(group->arena, field));
  if (field->secret && !text)
    gen_complain(group, group->neutral, item, "is (csi_proxy.secret) but a %s; only strings and bytes can be",
                 gen_type_text(group->arena, field));
}

static void mark_request(struct gen_message *message) {
  message->in_request = true;
  for (GEN_EACH(struct gen_field, field, &message->fields))
    if (field->message != NULL) mark_request(field->message);
}

static void check_neutral_messages(const struct gen_group *group) {
  for (GEN_EACH(struct gen_message, message, &group->neutral->messages))
    for (GEN_EACH(struct gen_field, field, &message->fields)) {
      need_comment(group, gen_item(group, message, field), field->doc);
      check_name(group, message, field);
      check_limits(group, message, field);
    }
  for (GEN_EACH(struct gen_enum, enumeration, &group->neutral->enums)) {
    need_comment(group, enumeration->name, enumeration->doc);
    for (GEN_EACH(struct gen_enum_value, value, &enumeration->values))
      need_comment(group, gen_printf(group->arena, "%s.%s", enumeration->name, value->name), value->doc);
  }
}

static void check_neutral_rpcs(const struct gen_group *group) {
  need_comment(group, group->neutral->service, group->neutral->service_doc);
  for (GEN_EACH(struct gen_rpc, rpc, &group->neutral->rpcs)) {
    need_comment(group, rpc->name, rpc->doc);
    if (rpc->lane == GEN_LANE_NONE)
      gen_complain(group, group->neutral, rpc->name,
                   "states no lane; add option (csi_proxy.lane) = LANE_INLINE, LANE_SHORT or LANE_LONG");
  }
}

static void mark_requests(const struct gen_file *file) {
  for (GEN_EACH(struct gen_rpc, rpc, &file->rpcs))
    mark_request(rpc->request);
}

bool gen_check_files(struct gen_group *group) {
  if (group->neutral == NULL) {
    gen_complain(group, NULL, NULL, "is not in the descriptor set; give it to protoc");
    return false;
  }
  check_version_names(group);
  match_versions(group);
  check_constructs(group, group->neutral);
  for (GEN_EACH(struct gen_file, file, &group->versions))
    check_version(group, file);
  if (complaints > 0) return false; /* what follows relies on complete types */
  mark_requests(group->neutral);
  for (GEN_EACH(struct gen_file, file, &group->versions))
    mark_requests(file);
  check_neutral_messages(group);
  check_neutral_rpcs(group);
  return complaints == 0;
}

static int compare_age(const void *a, const void *b) {
  const struct gen_file *const *x = a, *const *y = b;
  return gen_version_compare_age((*x)->version, (*y)->version);
}

bool gen_check_versions(struct gen_group *group) {
  struct gen_version_parts parts;
  if (group->versions.count == 0)
    gen_complain(group, NULL, NULL,
                 "has no version in the descriptor set; give its api.proto files to protoc");
  for (GEN_EACH(struct gen_file, file, &group->versions)) {
    if (!gen_version_parse(file->version, &parts))
      gen_complain(group, file, NULL,
                   "is in no folder of a version; call it v1, v1alpha1 or v1beta1, numbers from 1");
    check_version(group, file);
  }
  if (complaints == 0) qsort(group->versions.items, group->versions.count, sizeof(void *), compare_age);
  return complaints == 0;
}
