/* SPDX-License-Identifier: Apache-2.0 */
#include "instance.h"

#include <stdlib.h>
#include <string.h>
#include <wchar.h>

enum { ELEMENTS_MAX = 16 };

struct element {
  wchar_t *name_w;
  MI_Type type;
  MI_Value value;
  bool is_borrowed;
};

struct instance {
  MI_Instance head; /* first */
  struct element elements[ELEMENTS_MAX];
  size_t count;
};

MI_Result MI_CALL mi_unsupported(void) {
  return MI_RESULT_NOT_SUPPORTED;
}

static struct element *find(const MI_Instance *self, const MI_Char *name_w) {
  struct instance *instance = (struct instance *)self;
  for (size_t i = 0; i < instance->count; i++)
    if (_wcsicmp(instance->elements[i].name_w, name_w) == 0) return &instance->elements[i];
  return NULL;
}

static MI_Result MI_CALL add_element(MI_Instance *self, const MI_Char *name_w, const MI_Value *value,
                                     MI_Type type, MI_Uint32 flags) {
  struct instance *instance = (struct instance *)self;
  if (name_w == NULL || value == NULL) return MI_RESULT_INVALID_PARAMETER;
  if (find(self, name_w) != NULL) return MI_RESULT_ALREADY_EXISTS;
  if (instance->count == ELEMENTS_MAX) return MI_RESULT_FAILED;
  struct element element = {
      .name_w = _wcsdup(name_w), .type = type, .value = *value, .is_borrowed = (flags & MI_FLAG_BORROW) != 0};
  bool is_copied = type == MI_STRING && !element.is_borrowed && value->string != NULL;
  if (is_copied) element.value.string = _wcsdup(value->string);
  if (element.name_w == NULL || (is_copied && element.value.string == NULL)) {
    free(element.name_w);
    return MI_RESULT_FAILED;
  }
  instance->elements[instance->count++] = element;
  return MI_RESULT_OK;
}

static MI_Result MI_CALL get_element(const MI_Instance *self, const MI_Char *name_w, MI_Value *value_out,
                                     MI_Type *type_out, MI_Uint32 *flags_out, MI_Uint32 *index_out) {
  const struct element *element = find(self, name_w);
  if (element == NULL) return MI_RESULT_NO_SUCH_PROPERTY;
  if (value_out != NULL) *value_out = element->value;
  if (type_out != NULL) *type_out = element->type;
  if (flags_out != NULL)
    *flags_out = element->type == MI_STRING && element->value.string == NULL ? MI_FLAG_NULL : 0;
  if (index_out != NULL) *index_out = (MI_Uint32)(element - ((const struct instance *)self)->elements);
  return MI_RESULT_OK;
}

static MI_Result MI_CALL delete (MI_Instance *self) {
  struct instance *instance = (struct instance *)self;
  for (size_t i = 0; i < instance->count; i++) {
    struct element *element = &instance->elements[i];
    free(element->name_w);
    if (element->type == MI_STRING && !element->is_borrowed) free(element->value.string);
  }
  free(instance);
  return MI_RESULT_OK;
}

static MI_Result MI_CALL clone(const MI_Instance *self, MI_Instance **copy_out) {
  const struct instance *instance = (const struct instance *)self;
  MI_Instance *copy = mi_instance_new();
  MI_Result result = copy == NULL ? MI_RESULT_FAILED : MI_RESULT_OK;
  for (size_t i = 0; result == MI_RESULT_OK && i < instance->count; i++)
    result = add_element(copy, instance->elements[i].name_w, &instance->elements[i].value,
                         instance->elements[i].type, 0);
  if (result != MI_RESULT_OK) mi_instance_delete(copy);
  *copy_out = result == MI_RESULT_OK ? copy : NULL;
  return result;
}

static const MI_InstanceFT table = {
    .Clone = clone,
    .Destruct = mi_unsupported,
    .Delete = delete,
    .IsA = mi_unsupported,
    .GetClassName = mi_unsupported,
    .SetNameSpace = mi_unsupported,
    .GetNameSpace = mi_unsupported,
    .GetElementCount = mi_unsupported,
    .AddElement = add_element,
    .SetElement = mi_unsupported,
    .SetElementAt = mi_unsupported,
    .GetElement = get_element,
    .GetElementAt = mi_unsupported,
    .ClearElement = mi_unsupported,
    .ClearElementAt = mi_unsupported,
    .GetServerName = mi_unsupported,
    .SetServerName = mi_unsupported,
    .GetClass = mi_unsupported,
};

MI_Instance *mi_instance_new(void) {
  struct instance *instance = calloc(1, sizeof *instance);
  if (instance == NULL) return NULL;
  instance->head.ft = &table;
  return &instance->head;
}

void mi_instance_delete(MI_Instance *instance) {
  if (instance != NULL) delete (instance);
}

bool mi_instance_add_number(MI_Instance *instance, const wchar_t *name_w, uint32_t number) {
  MI_Value value = {.uint32 = number};
  return instance != NULL && add_element(instance, name_w, &value, MI_UINT32, 0) == MI_RESULT_OK;
}

bool mi_instance_add_text(MI_Instance *instance, const wchar_t *name_w, const wchar_t *text_w) {
  MI_Value value = {.string = (MI_Char *)text_w};
  return instance != NULL && add_element(instance, name_w, &value, MI_STRING, 0) == MI_RESULT_OK;
}

size_t mi_instance_count(const MI_Instance *instance) {
  return ((const struct instance *)instance)->count;
}

const MI_Value *mi_instance_value(const MI_Instance *instance, const wchar_t *name_w, MI_Type type) {
  const struct element *element = instance == NULL ? NULL : find(instance, name_w);
  bool is_null = element != NULL && type == MI_STRING && element->value.string == NULL;
  return element == NULL || element->type != type || is_null ? NULL : &element->value;
}
