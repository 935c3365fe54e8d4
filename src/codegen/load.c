/* SPDX-License-Identifier: Apache-2.0 */
#include "codegen/load.h"

#include <google/protobuf/descriptor.upb.h>
#include <stdio.h>
#include <string.h>
#include <upb/def.h>
#include <upb/reflection.h>

#include "codegen/out.h"

/* What one run of the loader passes around. */
struct loader {
  struct gen_group *group;
  struct gen_arena *arena;
  upb_Arena *upb;
  upb_DefPool *pool;
};

/* The file being read: its descriptor twice, and its comments. */
struct source {
  struct loader *loader;
  const upb_FileDef *def;
  const google_protobuf_SourceCodeInfo *info;
  struct gen_file *file;
};

/* Numbers of the paths in SourceCodeInfo: fields of FileDescriptorProto and below. */
enum {
  IN_FILE_MESSAGE = 4,
  IN_FILE_ENUM = 5,
  IN_FILE_SERVICE = 6,
  IN_MESSAGE_FIELD = 2,
  IN_ENUM_VALUE = 2,
  IN_SERVICE_METHOD = 2
};

/* --- comments */

/* Strips one leading blank of every line and the blank lines around the text. */
static const char *tidy_comment(struct gen_arena *arena, upb_StringView comment) {
  char *text = gen_strndup(arena, comment.data, comment.size);
  size_t length = 0;
  for (size_t i = 0; i < comment.size; i++) {
    bool line_start = i == 0 || comment.data[i - 1] == '\n';
    if (line_start && comment.data[i] == ' ') continue;
    text[length++] = comment.data[i];
  }
  while (length > 0 && (text[length - 1] == '\n' || text[length - 1] == ' '))
    length--;
  text[length] = '\0';
  while (*text == '\n')
    text++;
  return *text == '\0' ? NULL : text;
}

static const char *comment_at(const struct source *source, const int32_t *path, size_t path_length) {
  size_t count = 0;
  const google_protobuf_SourceCodeInfo_Location *const *locations =
      source->info == NULL ? NULL : google_protobuf_SourceCodeInfo_location(source->info, &count);
  for (size_t i = 0; i < count; i++) {
    size_t length;
    const int32_t *have = google_protobuf_SourceCodeInfo_Location_path(locations[i], &length);
    if (length != path_length || memcmp(have, path, length * sizeof *path) != 0) continue;
    upb_StringView text = google_protobuf_SourceCodeInfo_Location_leading_comments(locations[i]);
    if (text.size == 0) text = google_protobuf_SourceCodeInfo_Location_trailing_comments(locations[i]);
    return tidy_comment(source->loader->arena, text);
  }
  return NULL;
}

/* --- annotations: extensions of the options, read by reflection */

struct annotations {
  struct loader *loader;
  upb_Message *message; /* NULL when there are no options */
};

/* upb parses the options of a descriptor without knowing our extensions, and keeps them as unknown
 * fields; encoding and decoding again with the pool's registry brings them to light. */
static struct annotations annotations_of(struct loader *loader, const char *type, const void *options,
                                         const upb_MiniTable *table) {
  struct annotations annotations = {.loader = loader};
  const upb_MessageDef *def = upb_DefPool_FindMessageByName(loader->pool, type);
  char *bytes;
  size_t size;
  if (options == NULL || def == NULL ||
      upb_Encode(options, table, 0, loader->upb, &bytes, &size) != kUpb_EncodeStatus_Ok)
    return annotations;
  upb_Message *message = upb_Message_New(def, loader->upb);
  if (upb_Decode(bytes, size, message, upb_MessageDef_MiniTable(def),
                 upb_DefPool_ExtensionRegistry(loader->pool), 0, loader->upb) == kUpb_DecodeStatus_Ok)
    annotations.message = message;
  return annotations;
}

/* False when the extension is not set. */
static bool annotation(const struct annotations *annotations, const char *name, upb_MessageValue *value_out,
                       const upb_FieldDef **field_out) {
  if (annotations->message == NULL) return false;
  const upb_FieldDef *field = upb_DefPool_FindExtensionByName(
      annotations->loader->pool, gen_printf(annotations->loader->arena, "csi_proxy.%s", name));
  if (field == NULL) return false;
  *value_out = upb_Message_Get(annotations->message, field);
  if (field_out != NULL) *field_out = field;
  return true;
}

static const char *copy_view(struct loader *loader, upb_StringView view) {
  return gen_strndup(loader->arena, view.data, view.size);
}

static struct gen_list string_list(const struct annotations *annotations, const char *name) {
  struct gen_list list = {0};
  upb_MessageValue value;
  if (annotation(annotations, name, &value, NULL) && value.array_val != NULL)
    for (size_t i = 0; i < upb_Array_Size(value.array_val); i++)
      gen_push(annotations->loader->arena, &list,
               copy_view(annotations->loader, upb_Array_Get(value.array_val, i).str_val));
  return list;
}

static struct gen_list reference_list(const struct annotations *annotations, const char *name) {
  struct gen_list references = {0};
  struct gen_list texts = string_list(annotations, name);
  for (GEN_EACH(const char, text, &texts)) {
    struct gen_reference *reference = gen_alloc(annotations->loader->arena, sizeof *reference);
    reference->text = text;
    gen_push(annotations->loader->arena, &references, reference);
  }
  return references;
}

static struct gen_alias *read_alias(struct loader *loader, const upb_MessageDef *def,
                                    const upb_Message *message) {
  struct gen_alias *alias = gen_alloc(loader->arena, sizeof *alias);
  const upb_FieldDef *versions = upb_MessageDef_FindFieldByName(def, "version");
  const upb_FieldDef *name = upb_MessageDef_FindFieldByName(def, "name");
  const upb_FieldDef *prefix = upb_MessageDef_FindFieldByName(def, "error_prefix");
  const upb_Array *array = upb_Message_Get(message, versions).array_val;
  for (size_t i = 0; array != NULL && i < upb_Array_Size(array); i++)
    gen_push(loader->arena, &alias->versions, copy_view(loader, upb_Array_Get(array, i).str_val));
  alias->name = copy_view(loader, upb_Message_Get(message, name).str_val);
  alias->error_prefix = copy_view(loader, upb_Message_Get(message, prefix).str_val);
  return alias;
}

static struct gen_list alias_list(const struct annotations *annotations, const char *name) {
  struct gen_list list = {0};
  upb_MessageValue value;
  const upb_FieldDef *field;
  if (!annotation(annotations, name, &value, &field) || value.array_val == NULL) return list;
  const upb_MessageDef *def = upb_FieldDef_MessageSubDef(field);
  for (size_t i = 0; i < upb_Array_Size(value.array_val); i++)
    gen_push(annotations->loader->arena, &list,
             read_alias(annotations->loader, def, upb_Array_Get(value.array_val, i).msg_val));
  return list;
}

static uint32_t number_annotation(const struct annotations *annotations, const char *name) {
  upb_MessageValue value;
  return annotation(annotations, name, &value, NULL) ? value.uint32_val : 0;
}

static bool flag_annotation(const struct annotations *annotations, const char *name) {
  upb_MessageValue value;
  return annotation(annotations, name, &value, NULL) && value.bool_val;
}

/* --- messages and enums */

static const char *c_name_of(const struct source *source, const char *full_name, bool type) {
  struct gen_arena *arena = source->loader->arena;
  return type ? gen_pbc_type(arena, full_name) : gen_pbc_lower(arena, full_name);
}

static struct gen_message *read_message_head(const struct source *source, const upb_MessageDef *def) {
  struct gen_arena *arena = source->loader->arena;
  struct gen_message *message = gen_alloc(arena, sizeof *message);
  const char *full_name = upb_MessageDef_FullName(def);
  size_t package_length = strlen(source->file->package);
  message->name = gen_printf(arena, "%s", full_name + (package_length > 0 ? package_length + 1 : 0));
  message->snake = gen_snake(arena, message->name);
  message->c_struct = c_name_of(source, full_name, true);
  message->c_prefix = c_name_of(source, full_name, false);
  message->file = source->file;
  message->map_entry = upb_MessageDef_IsMapEntry(def);
  return message;
}

static struct gen_message *read_map_entry(const struct source *source, const upb_MessageDef *def);

/* Types of other files stay NULL; check.c refuses them. */
static void read_field_type(const struct source *source, struct gen_field *field, const upb_FieldDef *def) {
  if (field->kind == GEN_MESSAGE || field->kind == GEN_GROUP) {
    const upb_MessageDef *type = upb_FieldDef_MessageSubDef(def);
    if (upb_MessageDef_IsMapEntry(type))
      field->message = read_map_entry(source, type);
    else if (upb_MessageDef_File(type) == source->def)
      field->message = gen_find_message(source->file, upb_MessageDef_Name(type));
  } else if (field->kind == GEN_ENUM) {
    const upb_EnumDef *type = upb_FieldDef_EnumSubDef(def);
    if (upb_EnumDef_File(type) == source->def)
      field->enumeration = gen_find_enum(source->file, upb_EnumDef_Name(type));
  }
}

static struct gen_field *read_field(const struct source *source, struct gen_message *owner,
                                    const upb_FieldDef *def) {
  struct gen_arena *arena = source->loader->arena;
  struct gen_field *field = gen_alloc(arena, sizeof *field);
  field->name = gen_printf(arena, "%s", upb_FieldDef_Name(def));
  field->snake = gen_snake(arena, field->name);
  field->c_name = gen_pbc_field(arena, field->name);
  field->number = upb_FieldDef_Number(def);
  field->kind = (enum gen_kind)(upb_FieldDef_Type(def) - kUpb_FieldType_Double);
  field->repeated = upb_FieldDef_IsRepeated(def);
  field->oneof = upb_FieldDef_ContainingOneof(def) != NULL;
  field->unpacked = field->repeated && upb_FieldDef_IsPrimitive(def) && !upb_FieldDef_IsPacked(def);
  field->owner = owner;
  read_field_type(source, field, def);
  struct annotations annotations =
      annotations_of(source->loader, "google.protobuf.FieldOptions", upb_FieldDef_Options(def),
                     &google_protobuf_FieldOptions_msginit);
  field->aliases = alias_list(&annotations, "field_was");
  field->max_bytes = number_annotation(&annotations, "max_bytes");
  field->max_count = number_annotation(&annotations, "max_count");
  field->secret = flag_annotation(&annotations, "secret");
  return field;
}

static struct gen_message *read_map_entry(const struct source *source, const upb_MessageDef *def) {
  struct gen_message *entry = read_message_head(source, def);
  for (uint32_t number = 1; number <= 2; number++)
    gen_push(source->loader->arena, &entry->fields,
             read_field(source, entry, upb_MessageDef_FindFieldByNumber(def, number)));
  return entry;
}

static void sort_by_number(struct gen_list *fields) {
  for (size_t i = 1; i < fields->count; i++)
    for (size_t k = i; k > 0; k--) {
      struct gen_field *left = fields->items[k - 1], *right = fields->items[k];
      if (left->number <= right->number) break;
      fields->items[k - 1] = right;
      fields->items[k] = left;
    }
}

static void read_fields(const struct source *source, struct gen_message *message, const upb_MessageDef *def,
                        int32_t message_index) {
  for (int i = 0; i < upb_MessageDef_FieldCount(def); i++) {
    const upb_FieldDef *field_def = upb_MessageDef_Field(def, i);
    struct gen_field *field = read_field(source, message, field_def);
    int32_t path[] = {IN_FILE_MESSAGE, message_index, IN_MESSAGE_FIELD, i};
    field->doc = comment_at(source, path, 4);
    gen_push(source->loader->arena, &message->fields, field);
  }
  sort_by_number(&message->fields);
}

static bool nests_types(const upb_MessageDef *def) {
  for (int i = 0; i < upb_MessageDef_NestedMessageCount(def); i++)
    if (!upb_MessageDef_IsMapEntry(upb_MessageDef_NestedMessage(def, i))) return true;
  return upb_MessageDef_NestedEnumCount(def) > 0;
}

static void read_messages(const struct source *source) {
  int count = upb_FileDef_TopLevelMessageCount(source->def);
  for (int32_t i = 0; i < count; i++) {
    const upb_MessageDef *def = upb_FileDef_TopLevelMessage(source->def, i);
    struct gen_message *message = read_message_head(source, def);
    message->doc = comment_at(source, (int32_t[]){IN_FILE_MESSAGE, i}, 2);
    message->nests_types = nests_types(def);
    message->extensions = upb_MessageDef_NestedExtensionCount(def) > 0;
    struct annotations annotations =
        annotations_of(source->loader, "google.protobuf.MessageOptions", upb_MessageDef_Options(def),
                       &google_protobuf_MessageOptions_msginit);
    message->aliases = alias_list(&annotations, "message_was");
    message->dropped = reference_list(&annotations, "dropped");
    message->by_hand = reference_list(&annotations, "by_hand");
    gen_push(source->loader->arena, &source->file->messages, message);
  }
  for (int32_t i = 0; i < count; i++)
    read_fields(source, source->file->messages.items[i], upb_FileDef_TopLevelMessage(source->def, i), i);
}

static void read_enums(const struct source *source) {
  struct gen_arena *arena = source->loader->arena;
  for (int32_t i = 0; i < upb_FileDef_TopLevelEnumCount(source->def); i++) {
    const upb_EnumDef *def = upb_FileDef_TopLevelEnum(source->def, i);
    struct gen_enum *enumeration = gen_alloc(arena, sizeof *enumeration);
    enumeration->name = gen_printf(arena, "%s", upb_EnumDef_Name(def));
    enumeration->snake = gen_snake(arena, enumeration->name);
    enumeration->c_type = c_name_of(source, upb_EnumDef_FullName(def), true);
    enumeration->doc = comment_at(source, (int32_t[]){IN_FILE_ENUM, i}, 2);
    enumeration->file = source->file;
    for (int32_t k = 0; k < upb_EnumDef_ValueCount(def); k++) {
      const upb_EnumValueDef *value_def = upb_EnumDef_Value(def, k);
      struct gen_enum_value *value = gen_alloc(arena, sizeof *value);
      value->name = gen_printf(arena, "%s", upb_EnumValueDef_Name(value_def));
      value->number = upb_EnumValueDef_Number(value_def);
      value->doc = comment_at(source, (int32_t[]){IN_FILE_ENUM, i, IN_ENUM_VALUE, k}, 4);
      gen_push(arena, &enumeration->values, value);
    }
    gen_push(arena, &source->file->enums, enumeration);
  }
}

/* --- services */

static struct gen_rpc *read_rpc(const struct source *source, const upb_MethodDef *def) {
  struct gen_arena *arena = source->loader->arena;
  struct gen_rpc *rpc = gen_alloc(arena, sizeof *rpc);
  const upb_MessageDef *request = upb_MethodDef_InputType(def), *response = upb_MethodDef_OutputType(def);
  rpc->name = gen_printf(arena, "%s", upb_MethodDef_Name(def));
  rpc->snake = gen_snake(arena, rpc->name);
  if (upb_MessageDef_File(request) == source->def)
    rpc->request = gen_find_message(source->file, upb_MessageDef_Name(request));
  if (upb_MessageDef_File(response) == source->def)
    rpc->response = gen_find_message(source->file, upb_MessageDef_Name(response));
  rpc->streaming = upb_MethodDef_ClientStreaming(def) || upb_MethodDef_ServerStreaming(def);
  rpc->error_prefix = "";
  struct annotations annotations =
      annotations_of(source->loader, "google.protobuf.MethodOptions", upb_MethodDef_Options(def),
                     &google_protobuf_MethodOptions_msginit);
  rpc->lane = (enum gen_lane)number_annotation(&annotations, "lane");
  rpc->mutating = flag_annotation(&annotations, "mutating");
  rpc->aliases = alias_list(&annotations, "rpc_was");
  return rpc;
}

static void read_service(const struct source *source) {
  struct gen_file *file = source->file;
  file->service_count = (size_t)upb_FileDef_ServiceCount(source->def);
  file->service = "";
  if (file->service_count == 0) return;
  const upb_ServiceDef *def = upb_FileDef_Service(source->def, 0);
  file->service = gen_printf(source->loader->arena, "%s", upb_ServiceDef_Name(def));
  file->service_doc = comment_at(source, (int32_t[]){IN_FILE_SERVICE, 0}, 2);
  for (int32_t i = 0; i < upb_ServiceDef_MethodCount(def); i++) {
    struct gen_rpc *rpc = read_rpc(source, upb_ServiceDef_Method(def, i));
    rpc->doc = comment_at(source, (int32_t[]){IN_FILE_SERVICE, 0, IN_SERVICE_METHOD, i}, 4);
    rpc->index = (size_t)i;
    gen_push(source->loader->arena, &file->rpcs, rpc);
  }
}

/* --- files */

static struct gen_file *read_file(struct loader *loader, const upb_FileDef *def,
                                  const google_protobuf_FileDescriptorProto *proto) {
  struct gen_file *file = gen_alloc(loader->arena, sizeof *file);
  struct source source = {.loader = loader, .def = def, .file = file};
  if (google_protobuf_FileDescriptorProto_has_source_code_info(proto))
    source.info = google_protobuf_FileDescriptorProto_source_code_info(proto);
  file->name = gen_printf(loader->arena, "%s", upb_FileDef_Name(def));
  file->package = gen_printf(loader->arena, "%s", upb_FileDef_Package(def));
  file->proto3 = upb_FileDef_Syntax(def) == kUpb_Syntax_Proto3;
  file->import_count = (size_t)upb_FileDef_DependencyCount(def);
  file->extension_count = (size_t)upb_FileDef_TopLevelExtensionCount(def);
  read_enums(&source);
  read_messages(&source);
  read_service(&source);
  return file;
}

static bool has_comment(const google_protobuf_SourceCodeInfo_Location *location) {
  return google_protobuf_SourceCodeInfo_Location_has_leading_comments(location) ||
         google_protobuf_SourceCodeInfo_Location_has_trailing_comments(location);
}

/* Of where everything stands in the source only what carries a comment is kept: people ask for that, and the
 * rest is ten times as long. */
static void keep_comments(google_protobuf_FileDescriptorProto *proto, upb_Arena *arena) {
  if (!google_protobuf_FileDescriptorProto_has_source_code_info(proto)) return;
  google_protobuf_SourceCodeInfo *info =
      google_protobuf_FileDescriptorProto_mutable_source_code_info(proto, arena);
  size_t count, kept = 0;
  google_protobuf_SourceCodeInfo_Location **locations =
      google_protobuf_SourceCodeInfo_mutable_location(info, &count);
  for (size_t i = 0; i < count; i++)
    if (has_comment(locations[i])) locations[kept++] = locations[i];
  google_protobuf_SourceCodeInfo_resize_location(info, kept, arena);
}

/* "<group>/<version>/api.proto" gives the version, any other path NULL. */
static const char *version_of_path(const struct gen_group *group, const char *path) {
  size_t group_length = strlen(group->name);
  if (strncmp(path, group->name, group_length) != 0 || path[group_length] != '/') return NULL;
  const char *version = path + group_length + 1;
  const char *slash = strchr(version, '/');
  if (slash == NULL || strcmp(slash, "/api.proto") != 0) return NULL;
  return gen_strndup(group->arena, version, (size_t)(slash - version));
}

static void take_file(struct loader *loader, const upb_FileDef *def,
                      google_protobuf_FileDescriptorProto *proto,
                      google_protobuf_FileDescriptorSet *versions_only) {
  struct gen_group *group = loader->group;
  const char *path = upb_FileDef_Name(def);
  const char *version = version_of_path(group, path);
  if (strcmp(path, gen_printf(loader->arena, "%s/group.proto", group->name)) == 0) {
    group->neutral = read_file(loader, def, proto);
    struct annotations annotations =
        annotations_of(loader, "google.protobuf.FileOptions", upb_FileDef_Options(def),
                       &google_protobuf_FileOptions_msginit);
    group->listed_versions = string_list(&annotations, "version");
  } else if (version != NULL) {
    struct gen_file *file = read_file(loader, def, proto);
    file->version = version;
    gen_push(loader->arena, &group->versions, file);
    size_t count = 0;
    google_protobuf_FileDescriptorSet_mutable_file(versions_only, &count);
    keep_comments(proto, loader->upb);
    google_protobuf_FileDescriptorSet_resize_file(versions_only, count + 1, loader->upb)[count] = proto;
  }
}

static bool load_set(struct loader *loader, const char *path, google_protobuf_FileDescriptorSet *set) {
  google_protobuf_FileDescriptorSet *versions_only = google_protobuf_FileDescriptorSet_new(loader->upb);
  size_t count;
  google_protobuf_FileDescriptorProto **files = google_protobuf_FileDescriptorSet_mutable_file(set, &count);
  for (size_t i = 0; i < count; i++) {
    upb_Status status;
    upb_Status_Clear(&status);
    const upb_FileDef *def = upb_DefPool_AddFile(loader->pool, files[i], &status);
    if (def == NULL) {
      fprintf(stderr, "csi-proxy-api-gen: %s: %s\n", path, upb_Status_ErrorMessage(&status));
      return false;
    }
    take_file(loader, def, files[i], versions_only);
  }
  size_t size;
  char *bytes = google_protobuf_FileDescriptorSet_serialize(versions_only, loader->upb, &size);
  loader->group->descriptor_set = (const uint8_t *)gen_strndup(loader->arena, bytes, size);
  loader->group->descriptor_set_bytes = size;
  return true;
}

bool gen_load(struct gen_group *group, const char *path) {
  size_t size;
  char *bytes = gen_read_file(group->arena, path, &size);
  if (bytes == NULL) {
    fprintf(stderr, "csi-proxy-api-gen: cannot read %s\n", path);
    return false;
  }
  struct loader loader = {
      .group = group, .arena = group->arena, .upb = upb_Arena_New(), .pool = upb_DefPool_New()};
  google_protobuf_FileDescriptorSet *set = google_protobuf_FileDescriptorSet_parse(bytes, size, loader.upb);
  bool loaded = set != NULL && load_set(&loader, path, set);
  if (set == NULL) fprintf(stderr, "csi-proxy-api-gen: %s is no FileDescriptorSet\n", path);
  upb_DefPool_Free(loader.pool);
  upb_Arena_Free(loader.upb);
  return loaded;
}
