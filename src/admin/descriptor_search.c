/* SPDX-License-Identifier: Apache-2.0 */
#include "admin/descriptor_search.h"

#include <string.h>

/* What is left of a symbol behind a name and a dot: "" when the name is all of it, NULL when it begins with
 * something else. */
static const char *behind(const char *symbol, upb_StringView name) {
  if (name.size == 0 || strncmp(symbol, name.data, name.size) != 0) return NULL;
  if (symbol[name.size] == '\0') return symbol + name.size;
  return symbol[name.size] == '.' && symbol[name.size + 1] != '\0' ? symbol + name.size + 1 : NULL;
}

static bool is_whole(const char *symbol, upb_StringView name) {
  const char *rest = behind(symbol, name);
  return rest && rest[0] == '\0';
}

/* Values stand beside their enum, not in it. */
static bool is_enum_or_value(const google_protobuf_EnumDescriptorProto *enumeration, const char *symbol) {
  if (is_whole(symbol, google_protobuf_EnumDescriptorProto_name(enumeration))) return true;
  size_t count = 0;
  const google_protobuf_EnumValueDescriptorProto *const *values =
      google_protobuf_EnumDescriptorProto_value(enumeration, &count);
  for (size_t i = 0; i < count; i++)
    if (is_whole(symbol, google_protobuf_EnumValueDescriptorProto_name(values[i]))) return true;
  return false;
}

static bool is_in_enums(const google_protobuf_EnumDescriptorProto *const *enumerations, size_t count,
                        const char *symbol) {
  for (size_t i = 0; i < count; i++)
    if (is_enum_or_value(enumerations[i], symbol)) return true;
  return false;
}

static bool is_in_fields(const google_protobuf_FieldDescriptorProto *const *fields, size_t count,
                         const char *symbol) {
  for (size_t i = 0; i < count; i++)
    if (is_whole(symbol, google_protobuf_FieldDescriptorProto_name(fields[i]))) return true;
  return false;
}

static bool is_in_oneofs(const google_protobuf_OneofDescriptorProto *const *oneofs, size_t count,
                         const char *symbol) {
  for (size_t i = 0; i < count; i++)
    if (is_whole(symbol, google_protobuf_OneofDescriptorProto_name(oneofs[i]))) return true;
  return false;
}

/* Goes no deeper than the symbol has parts. */
static bool is_in_messages(const google_protobuf_DescriptorProto *const *messages, size_t count,
                           const char *symbol) {
  for (size_t i = 0; i < count; i++) {
    const google_protobuf_DescriptorProto *message = messages[i];
    const char *rest = behind(symbol, google_protobuf_DescriptorProto_name(message));
    if (!rest) continue;
    if (rest[0] == '\0') return true;
    size_t fields, extensions, oneofs, enumerations, nested;
    const google_protobuf_FieldDescriptorProto *const *field =
        google_protobuf_DescriptorProto_field(message, &fields);
    const google_protobuf_FieldDescriptorProto *const *extension =
        google_protobuf_DescriptorProto_extension(message, &extensions);
    const google_protobuf_OneofDescriptorProto *const *oneof =
        google_protobuf_DescriptorProto_oneof_decl(message, &oneofs);
    const google_protobuf_EnumDescriptorProto *const *enumeration =
        google_protobuf_DescriptorProto_enum_type(message, &enumerations);
    const google_protobuf_DescriptorProto *const *inner =
        google_protobuf_DescriptorProto_nested_type(message, &nested);
    if (is_in_fields(field, fields, rest) || is_in_fields(extension, extensions, rest) ||
        is_in_oneofs(oneof, oneofs, rest) || is_in_enums(enumeration, enumerations, rest) ||
        is_in_messages(inner, nested, rest))
      return true;
  }
  return false;
}

static bool is_in_services(const google_protobuf_ServiceDescriptorProto *const *services, size_t count,
                           const char *symbol) {
  for (size_t i = 0; i < count; i++) {
    const char *rest = behind(symbol, google_protobuf_ServiceDescriptorProto_name(services[i]));
    if (!rest) continue;
    if (rest[0] == '\0') return true;
    size_t methods = 0;
    const google_protobuf_MethodDescriptorProto *const *method =
        google_protobuf_ServiceDescriptorProto_method(services[i], &methods);
    for (size_t j = 0; j < methods; j++)
      if (is_whole(rest, google_protobuf_MethodDescriptorProto_name(method[j]))) return true;
  }
  return false;
}

bool csi_descriptor_declares(const google_protobuf_FileDescriptorProto *file, const char *symbol) {
  upb_StringView package = google_protobuf_FileDescriptorProto_package(file);
  const char *rest = package.size == 0 ? symbol : behind(symbol, package);
  if (!rest || rest[0] == '\0') return false;
  size_t services, messages, enumerations, extensions;
  const google_protobuf_ServiceDescriptorProto *const *service =
      google_protobuf_FileDescriptorProto_service(file, &services);
  const google_protobuf_DescriptorProto *const *message =
      google_protobuf_FileDescriptorProto_message_type(file, &messages);
  const google_protobuf_EnumDescriptorProto *const *enumeration =
      google_protobuf_FileDescriptorProto_enum_type(file, &enumerations);
  const google_protobuf_FieldDescriptorProto *const *extension =
      google_protobuf_FileDescriptorProto_extension(file, &extensions);
  return is_in_services(service, services, rest) || is_in_messages(message, messages, rest) ||
         is_in_enums(enumeration, enumerations, rest) || is_in_fields(extension, extensions, rest);
}

const google_protobuf_FileDescriptorProto *
csi_descriptor_find_file(const google_protobuf_FileDescriptorSet *set, upb_StringView name) {
  size_t count = 0;
  const google_protobuf_FileDescriptorProto *const *files =
      google_protobuf_FileDescriptorSet_file(set, &count);
  for (size_t i = 0; i < count; i++)
    if (upb_StringView_IsEqual(google_protobuf_FileDescriptorProto_name(files[i]), name)) return files[i];
  return NULL;
}
