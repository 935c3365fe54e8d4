/* SPDX-License-Identifier: Apache-2.0
 *
 * mi.dll for the testbed, which Wine lacks: one class on this machine, MSFT_SmbGlobalMapping. Of the tables
 * only what csi-proxy calls does something.
 */
#include <windows.h>

#include <stdlib.h>

#include "instance.h"
#include "mapping_class.h"
#include "operation.h"
#include "smb/mi_api_win32.h"

__declspec(dllexport) MI_Result MI_CALL
    MI_Application_InitializeV1(MI_Uint32 flags, const MI_Char *application_id, MI_Instance **error_out,
                                MI_Application *application_out);

enum { DEFAULT_TIMEOUT_MS = 60 * 1000 };

/* ---- Options: the time limit in milliseconds is reserved2. ---- */

static void MI_CALL delete_options(MI_OperationOptions *options) {
  *options = (MI_OperationOptions){0};
}

static MI_Result MI_CALL set_interval(MI_OperationOptions *options, const MI_Char *name_w,
                                      const MI_Interval *value, MI_Uint32 flags) {
  if (flags != 0 || wcscmp(name_w, MI_OPERATIONOPTIONS_TIMEOUT) != 0) return MI_RESULT_INVALID_PARAMETER;
  options->reserved2 = ((ptrdiff_t)value->minutes * 60 + (ptrdiff_t)value->seconds) * 1000 +
                       (ptrdiff_t)value->microseconds / 1000;
  return MI_RESULT_OK;
}

static const MI_OperationOptionsFT options_table = {
    .Delete = delete_options,
    .SetString = mi_unsupported,
    .SetNumber = mi_unsupported,
    .SetCustomOption = mi_unsupported,
    .GetString = mi_unsupported,
    .GetNumber = mi_unsupported,
    .GetOptionCount = mi_unsupported,
    .GetOptionAt = mi_unsupported,
    .GetOption = mi_unsupported,
    .GetEnabledChannels = mi_unsupported,
    .Clone = mi_unsupported,
    .SetInterval = set_interval,
    .GetInterval = mi_unsupported,
};

static uint32_t timeout_ms(const MI_OperationOptions *options) {
  return options == NULL || options->reserved2 == 0 ? DEFAULT_TIMEOUT_MS : (uint32_t)options->reserved2;
}

/* ---- Sessions have no state. ---- */

static MI_Result MI_CALL close_session(MI_Session *session, void *context,
                                       void(MI_CALL *closed)(void *context)) {
  *session = (MI_Session){0};
  if (closed != NULL) closed(context);
  return MI_RESULT_OK;
}

static void MI_CALL invoke(MI_Session *session, MI_Uint32 flags, MI_OperationOptions *options,
                           const MI_Char *name_space_w, const MI_Char *class_w, const MI_Char *method_w,
                           const MI_Instance *instance, const MI_Instance *parameters, void *callbacks,
                           MI_Operation *operation_out) {
  (void)session;
  (void)flags;
  (void)callbacks;
  struct mi_outcome outcome =
      mi_mapping_invoke(name_space_w, class_w, method_w, instance, parameters, timeout_ms(options));
  mi_operation_begin(operation_out, &outcome);
}

static void MI_CALL query_instances(MI_Session *session, MI_Uint32 flags, MI_OperationOptions *options,
                                    const MI_Char *name_space_w, const MI_Char *dialect_w,
                                    const MI_Char *query_w, void *callbacks, MI_Operation *operation_out) {
  (void)session;
  (void)flags;
  (void)callbacks;
  struct mi_outcome outcome = mi_mapping_query(name_space_w, dialect_w, query_w, timeout_ms(options));
  mi_operation_begin(operation_out, &outcome);
}

static void MI_CALL get_class(MI_Session *session, MI_Uint32 flags, MI_OperationOptions *options,
                              const MI_Char *name_space_w, const MI_Char *class_w, void *callbacks,
                              MI_Operation *operation_out) {
  (void)session;
  (void)flags;
  (void)callbacks;
  struct mi_outcome outcome = mi_mapping_get_class(name_space_w, class_w, timeout_ms(options));
  mi_operation_begin(operation_out, &outcome);
}

static const MI_SessionFT session_table = {
    .Close = close_session,
    .GetApplication = mi_unsupported,
    .GetInstance = mi_unsupported,
    .ModifyInstance = mi_unsupported,
    .CreateInstance = mi_unsupported,
    .DeleteInstance = mi_unsupported,
    .Invoke = invoke,
    .EnumerateInstances = mi_unsupported,
    .QueryInstances = query_instances,
    .AssociatorInstances = mi_unsupported,
    .ReferenceInstances = mi_unsupported,
    .Subscribe = mi_unsupported,
    .GetClass = get_class,
    .EnumerateClasses = mi_unsupported,
    .TestConnection = mi_unsupported,
};

/* ---- Application. ---- */

static MI_Result MI_CALL close_application(MI_Application *application) {
  *application = (MI_Application){0};
  return MI_RESULT_OK;
}

static MI_Result MI_CALL new_session(MI_Application *application, const MI_Char *protocol_w,
                                     const MI_Char *destination_w, void *options, void *callbacks,
                                     MI_Instance **error_out, MI_Session *session_out) {
  (void)application;
  (void)callbacks;
  if (error_out != NULL) *error_out = NULL;
  if (protocol_w != NULL || destination_w != NULL || options != NULL) return MI_RESULT_NOT_SUPPORTED;
  *session_out = (MI_Session){.ft = &session_table};
  return MI_RESULT_OK;
}

static MI_Result MI_CALL new_instance(MI_Application *application, const MI_Char *class_w,
                                      const void *declaration, MI_Instance **instance_out) {
  (void)application;
  (void)class_w;
  (void)declaration;
  *instance_out = mi_instance_new();
  return *instance_out == NULL ? MI_RESULT_FAILED : MI_RESULT_OK;
}

static MI_Result MI_CALL new_options(MI_Application *application, MI_Boolean must_understand,
                                     MI_OperationOptions *options_out) {
  (void)application;
  (void)must_understand;
  *options_out = (MI_OperationOptions){.ft = &options_table};
  return MI_RESULT_OK;
}

static const MI_ApplicationFT application_table = {
    .Close = close_application,
    .NewSession = new_session,
    .NewHostedProvider = mi_unsupported,
    .NewInstance = new_instance,
    .NewDestinationOptions = mi_unsupported,
    .NewOperationOptions = new_options,
    .NewSubscriptionDeliveryOptions = mi_unsupported,
    .NewSerializer = mi_unsupported,
    .NewDeserializer = mi_unsupported,
    .NewInstanceFromClass = mi_unsupported,
    .NewClass = mi_unsupported,
};

MI_Result MI_CALL MI_Application_InitializeV1(MI_Uint32 flags, const MI_Char *application_id,
                                              MI_Instance **error_out, MI_Application *application_out) {
  (void)application_id;
  if (error_out != NULL) *error_out = NULL;
  if (flags != 0) return MI_RESULT_INVALID_PARAMETER;
  *application_out = (MI_Application){.ft = &application_table};
  return MI_RESULT_OK;
}
