/* SPDX-License-Identifier: Apache-2.0 */
#include "operation.h"

#include <stdlib.h>
#include <wchar.h>

#include "instance.h"

struct operation {
  struct mi_outcome outcome;
  bool instance_is_out;
  bool is_over; /* the end has been told */
};

static struct operation *from(const MI_Operation *operation) {
  return (struct operation *)operation->reserved2;
}

static MI_Result MI_CALL close(MI_Operation *handle) {
  struct operation *operation = from(handle);
  if (!operation->is_over) return MI_RESULT_FAILED; /* Windows asks for all results to be taken, too */
  mi_instance_delete(operation->outcome.instance);
  mi_instance_delete(operation->outcome.details);
  free(operation);
  *handle = (MI_Operation){0};
  return MI_RESULT_OK;
}

static MI_Result MI_CALL cancel(MI_Operation *handle, MI_CancellationReason reason) {
  (void)handle;
  (void)reason;
  return MI_RESULT_OK;
}

/* The next result: the instance, then the end. */
static MI_Result next(MI_Operation *handle, const MI_Instance **instance_out, MI_Boolean *more_out,
                      MI_Result *result_out, const MI_Instance **details_out) {
  struct operation *operation = from(handle);
  if (operation->is_over) return MI_RESULT_FAILED;
  bool is_next = operation->outcome.instance != NULL && !operation->instance_is_out;
  operation->is_over = !is_next || !operation->outcome.is_list;
  operation->instance_is_out = true;
  if (instance_out != NULL) *instance_out = is_next ? operation->outcome.instance : NULL;
  if (more_out != NULL) *more_out = !operation->is_over;
  if (result_out != NULL) *result_out = operation->is_over ? operation->outcome.result : MI_RESULT_OK;
  if (details_out != NULL) *details_out = operation->is_over ? operation->outcome.details : NULL;
  return MI_RESULT_OK;
}

static MI_Result MI_CALL get_instance(MI_Operation *handle, const MI_Instance **instance_out,
                                      MI_Boolean *more_out, MI_Result *result_out,
                                      const MI_Char **message_out, const MI_Instance **details_out) {
  if (message_out != NULL) *message_out = NULL;
  return next(handle, instance_out, more_out, result_out, details_out);
}

/* Classes have no contents here. */
static MI_Result MI_CALL get_class(MI_Operation *handle, const void **class_out, MI_Boolean *more_out,
                                   MI_Result *result_out, const MI_Char **message_out,
                                   const MI_Instance **details_out) {
  if (message_out != NULL) *message_out = NULL;
  if (class_out != NULL) *class_out = NULL;
  return next(handle, NULL, more_out, result_out, details_out);
}

static const MI_OperationFT table = {
    .Close = close,
    .Cancel = cancel,
    .GetSession = mi_unsupported,
    .GetInstance = get_instance,
    .GetIndication = mi_unsupported,
    .GetClass = get_class,
};

void mi_operation_begin(MI_Operation *operation_out, const struct mi_outcome *outcome) {
  struct operation *operation = calloc(1, sizeof *operation);
  *operation_out = (MI_Operation){0};
  if (operation == NULL) {
    mi_instance_delete(outcome->instance);
    mi_instance_delete(outcome->details);
    return;
  }
  operation->outcome = *outcome;
  operation_out->reserved2 = (ptrdiff_t)operation;
  operation_out->ft = &table;
}

struct mi_outcome mi_failed_with(uint32_t error) {
  enum { TEXT_UNITS = 40 };
  wchar_t text_w[TEXT_UNITS];
  bool is_hresult = error > INT32_MAX;
  (void)swprintf(text_w, TEXT_UNITS, is_hresult ? L"HRESULT 0x%08x" : L"Windows System Error %u", error);
  MI_Instance *details = mi_instance_new();
  (void)mi_instance_add_text(details, L"MessageID", text_w);
  (void)mi_instance_add_number(details, L"error_Code", error);
  (void)mi_instance_add_text(details, L"error_Type", is_hresult ? L"HRESULT" : L"WIN32");
  return (struct mi_outcome){.result = MI_RESULT_FAILED, .details = details};
}
