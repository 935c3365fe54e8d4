/* SPDX-License-Identifier: Apache-2.0 */
#include "client/ctl/dynamic.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <upb/reflection.h>

/* --- finding a field */

static void die(const upb_MessageDef *definition, const char *path, const char *why) {
  fprintf(stderr, "csi-proxyctl: %s of %s %s\n", path, upb_MessageDef_FullName(definition), why);
  abort();
}

static const upb_FieldDef *field_of(struct csi_ctl_view view, const char *name, size_t length) {
  const upb_FieldDef *field = upb_MessageDef_FindFieldByNameWithSize(view.definition, name, length);
  if (field == NULL) die(view.definition, name, "does not exist");
  return field;
}

static struct csi_ctl_view inner(struct csi_ctl_view view, const upb_FieldDef *field) {
  if (!upb_FieldDef_IsSubMessage(field) || upb_FieldDef_IsRepeated(field))
    die(view.definition, upb_FieldDef_Name(field), "is not one message");
  bool is_set = view.message != NULL && upb_Message_Has(view.message, field);
  return (struct csi_ctl_view){
      .message = is_set ? upb_Message_Get(view.message, field).msg_val : NULL,
      .definition = upb_FieldDef_MessageSubDef(field),
  };
}

/* Follows the path to its last name. */
static const upb_FieldDef *walk(struct csi_ctl_view *view, const char *path) {
  for (;;) {
    const char *dot = strchr(path, '.');
    const upb_FieldDef *field = field_of(*view, path, dot != NULL ? (size_t)(dot - path) : strlen(path));
    if (dot == NULL) return field;
    *view = inner(*view, field);
    path = dot + 1;
  }
}

static upb_MessageValue value_of(struct csi_ctl_view view, const upb_FieldDef *field) {
  if (view.message != NULL) return upb_Message_Get(view.message, field);
  bool is_scalar = !upb_FieldDef_IsRepeated(field) && !upb_FieldDef_IsSubMessage(field);
  return is_scalar ? upb_FieldDef_Default(field) : (upb_MessageValue){0};
}

static const upb_FieldDef *walk_to_single(struct csi_ctl_view *view, const char *path) {
  const upb_FieldDef *field = walk(view, path);
  if (upb_FieldDef_IsRepeated(field)) die(view->definition, path, "is repeated");
  return field;
}

struct csi_ctl_view csi_ctl_view_of(const struct csi_ctl_message *message) {
  return (struct csi_ctl_view){message->message, message->definition};
}

/* --- values */

static uint64_t integer(struct csi_ctl_view view, const upb_FieldDef *field, upb_MessageValue value) {
  switch (upb_FieldDef_CType(field)) {
  case kUpb_CType_Int32:
  case kUpb_CType_Enum:
    return (uint64_t)(int64_t)value.int32_val;
  case kUpb_CType_UInt32:
    return value.uint32_val;
  case kUpb_CType_Int64:
    return (uint64_t)value.int64_val;
  case kUpb_CType_UInt64:
    return value.uint64_val;
  default:
    die(view.definition, upb_FieldDef_Name(field), "is no integer");
    return 0;
  }
}

static const char *copy_text(struct csi_ctl_view view, const upb_FieldDef *field, upb_MessageValue value,
                             struct csi_arena *arena) {
  if (upb_FieldDef_CType(field) != kUpb_CType_String)
    die(view.definition, upb_FieldDef_Name(field), "is no text");
  const char *text = csi_arena_strndup(arena, value.str_val.data, value.str_val.size);
  return text != NULL ? text : "";
}

uint64_t csi_ctl_u64(struct csi_ctl_view view, const char *path) {
  const upb_FieldDef *field = walk_to_single(&view, path);
  return integer(view, field, value_of(view, field));
}

int64_t csi_ctl_i64(struct csi_ctl_view view, const char *path) {
  return (int64_t)csi_ctl_u64(view, path);
}

bool csi_ctl_bool(struct csi_ctl_view view, const char *path) {
  const upb_FieldDef *field = walk_to_single(&view, path);
  if (upb_FieldDef_CType(field) != kUpb_CType_Bool) die(view.definition, path, "is no bool");
  return value_of(view, field).bool_val;
}

const char *csi_ctl_text(struct csi_ctl_view view, const char *path, struct csi_arena *arena) {
  const upb_FieldDef *field = walk_to_single(&view, path);
  return copy_text(view, field, value_of(view, field), arena);
}

static const char *enum_name(const upb_FieldDef *field, upb_MessageValue value, struct csi_arena *arena) {
  const upb_EnumValueDef *named =
      upb_EnumDef_FindValueByNumber(upb_FieldDef_EnumSubDef(field), value.int32_val);
  const char *text =
      named != NULL ? upb_EnumValueDef_Name(named) : csi_arena_printf(arena, "%" PRId32, value.int32_val);
  return text != NULL ? text : "";
}

struct csi_ctl_view csi_ctl_message_at(struct csi_ctl_view view, const char *path) {
  const upb_FieldDef *field = walk(&view, path);
  return inner(view, field);
}

const char *csi_ctl_show(struct csi_ctl_view view, const char *path, struct csi_arena *arena) {
  const upb_FieldDef *field = walk_to_single(&view, path);
  const upb_MessageValue value = value_of(view, field);
  char *text = NULL;
  switch (upb_FieldDef_CType(field)) {
  case kUpb_CType_Bool:
    return value.bool_val ? "true" : "false";
  case kUpb_CType_Enum:
    return enum_name(field, value, arena);
  case kUpb_CType_String:
    return copy_text(view, field, value, arena);
  case kUpb_CType_UInt32:
  case kUpb_CType_UInt64:
    text = csi_arena_printf(arena, "%" PRIu64, integer(view, field, value));
    break;
  case kUpb_CType_Float:
    text = csi_arena_printf(arena, "%g", (double)value.float_val);
    break;
  case kUpb_CType_Double:
    text = csi_arena_printf(arena, "%g", value.double_val);
    break;
  default: /* bytes are no integer */
    text = csi_arena_printf(arena, "%" PRId64, (int64_t)integer(view, field, value));
  }
  return text != NULL ? text : "";
}

/* --- repeated fields */

static const upb_Array *array_of(struct csi_ctl_view *view, const char *path,
                                 const upb_FieldDef **field_out) {
  *field_out = walk(view, path);
  if (!upb_FieldDef_IsRepeated(*field_out) || upb_FieldDef_IsMap(*field_out))
    die(view->definition, path, "is no list");
  return value_of(*view, *field_out).array_val;
}

static upb_MessageValue item_of(struct csi_ctl_view *view, const char *path, size_t index,
                                const upb_FieldDef **field_out) {
  const upb_Array *array = array_of(view, path, field_out);
  if (array == NULL || index >= upb_Array_Size(array)) die(view->definition, path, "has no such item");
  return upb_Array_Get(array, index);
}

size_t csi_ctl_count(struct csi_ctl_view view, const char *path) {
  const upb_FieldDef *field;
  const upb_Array *array = array_of(&view, path, &field);
  return array != NULL ? upb_Array_Size(array) : 0;
}

struct csi_ctl_view csi_ctl_item(struct csi_ctl_view view, const char *path, size_t index) {
  const upb_FieldDef *field;
  const upb_MessageValue item = item_of(&view, path, index, &field);
  if (!upb_FieldDef_IsSubMessage(field)) die(view.definition, path, "has no messages");
  return (struct csi_ctl_view){item.msg_val, upb_FieldDef_MessageSubDef(field)};
}

const char *csi_ctl_text_item(struct csi_ctl_view view, const char *path, size_t index,
                              struct csi_arena *arena) {
  const upb_FieldDef *field;
  const upb_MessageValue item = item_of(&view, path, index, &field);
  return copy_text(view, field, item, arena);
}

uint64_t csi_ctl_u64_item(struct csi_ctl_view view, const char *path, size_t index) {
  const upb_FieldDef *field;
  const upb_MessageValue item = item_of(&view, path, index, &field);
  return integer(view, field, item);
}

/* --- setting */

static const upb_FieldDef *settable(struct csi_ctl_message *message, const char *name) {
  struct csi_ctl_view view = csi_ctl_view_of(message);
  const upb_FieldDef *field = field_of(view, name, strlen(name));
  if (upb_FieldDef_IsRepeated(field)) die(message->definition, name, "is repeated");
  return field;
}

bool csi_ctl_set_u64(struct csi_ctl_message *message, const char *name, uint64_t number) {
  const upb_FieldDef *field = settable(message, name);
  upb_MessageValue value = {0};
  switch (upb_FieldDef_CType(field)) {
  case kUpb_CType_Int32:
  case kUpb_CType_Enum:
    value.int32_val = (int32_t)number;
    break;
  case kUpb_CType_UInt32:
    value.uint32_val = (uint32_t)number;
    break;
  case kUpb_CType_Int64:
  case kUpb_CType_UInt64:
    value.uint64_val = number;
    break;
  default:
    die(message->definition, name, "is no integer");
  }
  return upb_Message_Set(message->message, field, value, message->arena);
}
