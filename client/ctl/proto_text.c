/* SPDX-License-Identifier: Apache-2.0 */
#include "client/ctl/proto_text.h"

#include <string.h>

/* Numbers of the paths in SourceCodeInfo: fields of FileDescriptorProto and below. */
enum {
  IN_FILE_MESSAGE = 4,
  IN_FILE_ENUM = 5,
  IN_FILE_SERVICE = 6,
  IN_MESSAGE_FIELD = 2,
  IN_ENUM_VALUE = 2,
  IN_SERVICE_METHOD = 2,
  DEEPEST_PATH = 4,
};

/* Of what a comment is. */
struct path {
  int32_t steps[DEEPEST_PATH];
  size_t length;
};

#define PATH(...)                                                                                            \
  (struct path) {                                                                                            \
    {__VA_ARGS__}, sizeof(int32_t[]){__VA_ARGS__} / sizeof(int32_t)                                          \
  }

/* --- comments */

static const google_protobuf_SourceCodeInfo *source_info(const struct csi_proto_text *text) {
  size_t count;
  const google_protobuf_FileDescriptorProto *const *files =
      google_protobuf_FileDescriptorSet_file(text->group->files, &count);
  for (size_t i = 0; i < count; i++) {
    const upb_StringView name = google_protobuf_FileDescriptorProto_name(files[i]);
    const char *wanted = upb_FileDef_Name(text->file);
    if (name.size == strlen(wanted) && memcmp(name.data, wanted, name.size) == 0)
      return google_protobuf_FileDescriptorProto_source_code_info(files[i]);
  }
  return NULL;
}

static upb_StringView find_comment(const struct csi_proto_text *text, struct path path) {
  size_t count = 0;
  const google_protobuf_SourceCodeInfo *info = source_info(text);
  const google_protobuf_SourceCodeInfo_Location *const *locations =
      info != NULL ? google_protobuf_SourceCodeInfo_location(info, &count) : NULL;
  for (size_t i = 0; i < count; i++) {
    size_t length;
    const int32_t *steps = google_protobuf_SourceCodeInfo_Location_path(locations[i], &length);
    if (length != path.length || memcmp(steps, path.steps, length * sizeof *steps) != 0) continue;
    upb_StringView comment = google_protobuf_SourceCodeInfo_Location_leading_comments(locations[i]);
    if (comment.size == 0) comment = google_protobuf_SourceCodeInfo_Location_trailing_comments(locations[i]);
    return comment;
  }
  return (upb_StringView){NULL, 0};
}

/* Each line of a comment in a line of its own. */
static void put_comment(struct csi_proto_text *text, size_t indent, struct path path) {
  const upb_StringView comment = find_comment(text, path);
  for (size_t at = 0; at < comment.size;) {
    const char *end = memchr(comment.data + at, '\n', comment.size - at);
    size_t length = end != NULL ? (size_t)(end - comment.data) - at : comment.size - at;
    csi_text_buffer_fill(text->out, ' ', indent);
    csi_text_buffer_begin(text->out, CSI_STYLE_FAINT);
    csi_text_buffer_put(text->out, length > 0 && comment.data[at] != ' ' ? "// " : "//");
    csi_text_buffer_add(text->out, comment.data + at, length);
    csi_text_buffer_end(text->out, CSI_STYLE_FAINT);
    csi_text_buffer_put(text->out, "\n");
    at += length + 1;
  }
}

/* --- types */

static const char *type_name(const upb_FieldDef *field) {
  static const char *const names[] = {
      [kUpb_FieldType_Double] = "double",     [kUpb_FieldType_Float] = "float",
      [kUpb_FieldType_Int64] = "int64",       [kUpb_FieldType_UInt64] = "uint64",
      [kUpb_FieldType_Int32] = "int32",       [kUpb_FieldType_Fixed64] = "fixed64",
      [kUpb_FieldType_Fixed32] = "fixed32",   [kUpb_FieldType_Bool] = "bool",
      [kUpb_FieldType_String] = "string",     [kUpb_FieldType_Bytes] = "bytes",
      [kUpb_FieldType_UInt32] = "uint32",     [kUpb_FieldType_SFixed32] = "sfixed32",
      [kUpb_FieldType_SFixed64] = "sfixed64", [kUpb_FieldType_SInt32] = "sint32",
      [kUpb_FieldType_SInt64] = "sint64",
  };
  if (upb_FieldDef_IsSubMessage(field)) return upb_MessageDef_Name(upb_FieldDef_MessageSubDef(field));
  if (upb_FieldDef_CType(field) == kUpb_CType_Enum) return upb_EnumDef_Name(upb_FieldDef_EnumSubDef(field));
  return names[upb_FieldDef_Type(field)];
}

static void put_field(struct csi_proto_text *text, const upb_FieldDef *field, struct path path) {
  put_comment(text, 2, path);
  if (upb_FieldDef_IsMap(field)) {
    const upb_MessageDef *entry = upb_FieldDef_MessageSubDef(field);
    csi_text_buffer_print(text->out, "  map<%s, %s>",
                          type_name(upb_MessageDef_FindFieldByNumber(entry, kUpb_MapEntry_KeyFieldNumber)),
                          type_name(upb_MessageDef_FindFieldByNumber(entry, kUpb_MapEntry_ValueFieldNumber)));
  } else {
    const char *label = upb_FieldDef_IsRepeated(field)                                         ? "repeated "
                        : upb_FieldDef_HasPresence(field) && !upb_FieldDef_IsSubMessage(field) ? "optional "
                                                                                               : "";
    csi_text_buffer_print(text->out, "  %s%s", label, type_name(field));
  }
  csi_text_buffer_print(text->out, " %s = %u;%s\n", upb_FieldDef_Name(field), upb_FieldDef_Number(field),
                        csi_ctl_is_secret(text->group, field) ? "  // secret" : "");
}

/* --- pieces; each is printed once */

static bool is_new(struct csi_proto_text *text, const void *definition) {
  for (size_t i = 0; i < text->printed_count; i++)
    if (text->printed[i] == definition) return false;
  if (text->printed_count == CSI_PROTO_TEXT_TYPES) return false;
  text->printed[text->printed_count++] = definition;
  return true;
}

static void put_blank_line(struct csi_proto_text *text) {
  if (text->out->length_bytes > 0) csi_text_buffer_put(text->out, "\n");
}

static int32_t index_of_message(const struct csi_proto_text *text, const upb_MessageDef *message) {
  for (int i = 0; i < upb_FileDef_TopLevelMessageCount(text->file); i++)
    if (upb_FileDef_TopLevelMessage(text->file, i) == message) return i;
  return -1;
}

static int32_t index_of_enum(const struct csi_proto_text *text, const upb_EnumDef *enumeration) {
  for (int i = 0; i < upb_FileDef_TopLevelEnumCount(text->file); i++)
    if (upb_FileDef_TopLevelEnum(text->file, i) == enumeration) return i;
  return -1;
}

void csi_proto_enum(struct csi_proto_text *text, const upb_EnumDef *enumeration) {
  if (!is_new(text, enumeration)) return;
  int32_t index = index_of_enum(text, enumeration);
  put_blank_line(text);
  put_comment(text, 0, PATH(IN_FILE_ENUM, index));
  csi_text_buffer_print(text->out, "enum %s {\n", upb_EnumDef_Name(enumeration));
  for (int i = 0; i < upb_EnumDef_ValueCount(enumeration); i++) {
    const upb_EnumValueDef *value = upb_EnumDef_Value(enumeration, i);
    put_comment(text, 2, PATH(IN_FILE_ENUM, index, IN_ENUM_VALUE, i));
    csi_text_buffer_print(text->out, "  %s = %d;\n", upb_EnumValueDef_Name(value),
                          upb_EnumValueDef_Number(value));
  }
  csi_text_buffer_put(text->out, "}\n");
}

/* What a field refers to; of a map, what its values do. */
static void put_referred(struct csi_proto_text *text, const upb_FieldDef *field) {
  if (upb_FieldDef_IsMap(field))
    field =
        upb_MessageDef_FindFieldByNumber(upb_FieldDef_MessageSubDef(field), kUpb_MapEntry_ValueFieldNumber);
  if (upb_FieldDef_IsSubMessage(field))
    csi_proto_message(text, upb_FieldDef_MessageSubDef(field));
  else if (upb_FieldDef_CType(field) == kUpb_CType_Enum)
    csi_proto_enum(text, upb_FieldDef_EnumSubDef(field));
}

void csi_proto_message(struct csi_proto_text *text, const upb_MessageDef *message) {
  if (!is_new(text, message)) return;
  int32_t index = index_of_message(text, message);
  int count = upb_MessageDef_FieldCount(message);
  put_blank_line(text);
  put_comment(text, 0, PATH(IN_FILE_MESSAGE, index));
  csi_text_buffer_print(text->out, "message %s {%s", upb_MessageDef_Name(message), count > 0 ? "\n" : "");
  for (int i = 0; i < count; i++)
    put_field(text, upb_MessageDef_Field(message, i), PATH(IN_FILE_MESSAGE, index, IN_MESSAGE_FIELD, i));
  csi_text_buffer_put(text->out, "}\n");
  for (int i = 0; i < count; i++)
    put_referred(text, upb_MessageDef_Field(message, i));
}

static void put_method(struct csi_proto_text *text, size_t indent, const upb_MethodDef *method) {
  put_comment(text, indent, PATH(IN_FILE_SERVICE, 0, IN_SERVICE_METHOD, upb_MethodDef_Index(method)));
  csi_text_buffer_fill(text->out, ' ', indent);
  csi_text_buffer_print(text->out, "rpc %s(%s) returns (%s);\n", upb_MethodDef_Name(method),
                        upb_MessageDef_Name(upb_MethodDef_InputType(method)),
                        upb_MessageDef_Name(upb_MethodDef_OutputType(method)));
}

void csi_proto_method(struct csi_proto_text *text, const upb_MethodDef *method) {
  put_method(text, 0, method);
  csi_proto_message(text, upb_MethodDef_InputType(method));
  csi_proto_message(text, upb_MethodDef_OutputType(method));
}

void csi_proto_service(struct csi_proto_text *text, const upb_ServiceDef *service) {
  put_comment(text, 0, PATH(IN_FILE_SERVICE, 0));
  csi_text_buffer_begin(text->out, CSI_STYLE_STRONG);
  csi_text_buffer_print(text->out, "service %s", upb_ServiceDef_FullName(service));
  csi_text_buffer_end(text->out, CSI_STYLE_STRONG);
  csi_text_buffer_put(text->out, " {\n");
  for (int i = 0; i < upb_ServiceDef_MethodCount(service); i++)
    put_method(text, 2, upb_ServiceDef_Method(service, i));
  csi_text_buffer_put(text->out, "}\n");
}

void csi_proto_file(struct csi_proto_text *text) {
  csi_text_buffer_print(text->out, "package %s;\n\n", upb_FileDef_Package(text->file));
  csi_proto_service(text, upb_FileDef_Service(text->file, 0));
  for (int i = 0; i < upb_FileDef_TopLevelMessageCount(text->file); i++)
    csi_proto_message(text, upb_FileDef_TopLevelMessage(text->file, i));
  for (int i = 0; i < upb_FileDef_TopLevelEnumCount(text->file); i++)
    csi_proto_enum(text, upb_FileDef_TopLevelEnum(text->file, i));
}
