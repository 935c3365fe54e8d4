/* SPDX-License-Identifier: Apache-2.0
 *
 * UNVERIFIED ON WINDOWS: that WMI answers threads which have not initialised COM, and that it keeps to the
 * time limit of an operation.
 */
#include "smb/mi_session_win32.h"

#include <string.h>

#include "win32/late_dll.h"

enum {
  US_PER_MS = 1000,
  MS_PER_SECOND = 1000,
  MS_PER_MINUTE = 60 * MS_PER_SECOND,
};

static struct { MI_Application_InitializeV1_function initialize; } mi;
static const char *const mi_names[] = {"MI_Application_InitializeV1"};
static struct csi_late_dll mi_dll = {
    .name = "mi.dll", .names = mi_names, .count = 1, .required_count = 1, .functions = &mi};

/* Lives as long as the process. */
static struct {
  SRWLOCK lock;
  bool is_ready;
  MI_Application application;
} library = {.lock = SRWLOCK_INIT};

/* What one call of MI_Operation_GetInstance() or MI_Operation_GetClass() tells. */
struct outcome {
  const MI_Instance *instance; /* NULL: none */
  const MI_Instance *details;  /* of a failure; NULL: none */
  MI_Result result;
  MI_Boolean more;
};

bool csi_mi_load(struct csi_status *status) {
  return csi_late_dll_load(&mi_dll, status);
}

static bool read_element(const MI_Instance *instance, const wchar_t *name_w, MI_Value *value_out,
                         MI_Type *type_out) {
  MI_Uint32 flags = 0;
  memset(value_out, 0, sizeof *value_out);
  return instance->ft->GetElement(instance, name_w, value_out, type_out, &flags, NULL) == MI_RESULT_OK &&
         (flags & MI_FLAG_NULL) == 0;
}

bool csi_mi_read_number(const MI_Instance *instance, const wchar_t *name_w, uint32_t *number_out) {
  MI_Value value;
  MI_Type type;
  if (!read_element(instance, name_w, &value, &type)) return false;
  int64_t number = -1;
  switch (type) {
  case MI_UINT8:
    number = value.uint8;
    break;
  case MI_UINT16:
    number = value.uint16;
    break;
  case MI_SINT16:
    number = value.sint16;
    break;
  case MI_UINT32:
    number = value.uint32;
    break;
  case MI_SINT32:
    number = value.sint32;
    break;
  default:
    break;
  }
  if (number < 0) return false;
  *number_out = (uint32_t)number;
  return true;
}

/* Only texts of ASCII are of use; others become question marks. */
static void read_text(const MI_Instance *instance, const wchar_t *name_w, char text_out[CSI_MI_TEXT_BYTES]) {
  MI_Value value;
  MI_Type type;
  text_out[0] = '\0';
  if (!read_element(instance, name_w, &value, &type) || type != MI_STRING || value.string == NULL) return;
  size_t i = 0;
  for (; value.string[i] != L'\0' && i + 1 < CSI_MI_TEXT_BYTES; i++)
    text_out[i] = value.string[i] < 0x80 ? (char)value.string[i] : '?';
  text_out[i] = '\0';
}

/* details may be NULL. */
static bool fail(struct csi_mi_session *session, const char *what, MI_Result result,
                 const MI_Instance *details) {
  if (session->failed != NULL) return false;
  session->failed = what;
  session->failure.result = (uint32_t)result;
  if (details != NULL && details->ft != NULL) {
    read_text(details, L"MessageID", session->failure.message_id);
    read_text(details, L"error_Type", session->failure.error_type);
    if (!csi_mi_read_number(details, L"error_Code", &session->failure.error_code))
      session->failure.error_code = 0;
  }
  return false;
}

/* A call that hands out something with a table of functions. details may be NULL. */
static bool check(struct csi_mi_session *session, const char *what, MI_Result result, const void *table,
                  const MI_Instance *details) {
  if (result == MI_RESULT_OK && table != NULL) return true;
  return fail(session, what, result == MI_RESULT_OK ? MI_RESULT_FAILED : result, details);
}

static bool find_application(struct csi_mi_session *session) {
  bool ready;
  AcquireSRWLockExclusive(&library.lock);
  if (!library.is_ready) {
    MI_Instance *details = NULL;
    MI_Result result = mi.initialize(0, NULL, &details, &library.application);
    library.is_ready = check(session, "MI_Application_InitializeV1", result, library.application.ft, details);
    csi_mi_delete(details);
  }
  ready = library.is_ready;
  ReleaseSRWLockExclusive(&library.lock);
  session->application = &library.application;
  return ready;
}

/* Whoever waits gives up at the deadline in any case. */
static bool set_timeout(struct csi_mi_session *session, uint32_t timeout_ms) {
  const MI_Interval interval = {
      .minutes = timeout_ms / MS_PER_MINUTE,
      .seconds = timeout_ms % MS_PER_MINUTE / MS_PER_SECOND,
      .microseconds = timeout_ms % MS_PER_SECOND * US_PER_MS,
  };
  MI_Result result =
      session->application->ft->NewOperationOptions(session->application, 0, &session->options);
  if (!check(session, "MI_Application_NewOperationOptions", result, session->options.ft, NULL)) return false;
  (void)session->options.ft->SetInterval(&session->options, MI_OPERATIONOPTIONS_TIMEOUT, &interval, 0);
  return true;
}

bool csi_mi_open(struct csi_mi_session *session, const wchar_t *name_space_w, uint32_t timeout_ms) {
  memset(session, 0, sizeof *session);
  session->name_space_w = name_space_w;
  if (!find_application(session) || !set_timeout(session, timeout_ms)) return false;
  MI_Instance *details = NULL;
  MI_Result result = session->application->ft->NewSession(session->application, NULL, NULL, NULL, NULL,
                                                          &details, &session->session);
  bool done = check(session, "MI_Application_NewSession", result, session->session.ft, details);
  csi_mi_delete(details);
  return done;
}

void csi_mi_close(struct csi_mi_session *session) {
  if (session->session.ft != NULL) session->session.ft->Close(&session->session, NULL, NULL);
  if (session->options.ft != NULL) session->options.ft->Delete(&session->options);
}

static MI_Result next(MI_Operation *operation, bool is_class, struct outcome *outcome_out) {
  const void *class_object = NULL;
  const MI_Char *message_w = NULL;
  memset(outcome_out, 0, sizeof *outcome_out);
  if (is_class)
    return operation->ft->GetClass(operation, &class_object, &outcome_out->more, &outcome_out->result,
                                   &message_w, &outcome_out->details);
  return operation->ft->GetInstance(operation, &outcome_out->instance, &outcome_out->more,
                                    &outcome_out->result, &message_w, &outcome_out->details);
}

/* Takes all results, as it must, and closes the operation. */
static bool finish(struct csi_mi_session *session, const char *what, MI_Operation *operation, bool is_class,
                   csi_mi_take *take, void *context) {
  if (operation->ft == NULL) return fail(session, what, MI_RESULT_FAILED, NULL);
  struct outcome outcome;
  bool good = true;
  do {
    MI_Result result = next(operation, is_class, &outcome);
    if (result != MI_RESULT_OK) outcome = (struct outcome){.result = result};
    if (outcome.result != MI_RESULT_OK)
      good = fail(session, what, outcome.result, outcome.details);
    else if (good && outcome.instance != NULL && take != NULL)
      take(context, outcome.instance);
  } while (outcome.more);
  operation->ft->Close(operation);
  return good;
}

bool csi_mi_query(struct csi_mi_session *session, const char *what, const wchar_t *query_w, csi_mi_take *take,
                  void *context) {
  MI_Operation operation = {0};
  session->session.ft->QueryInstances(&session->session, MI_OPERATIONFLAGS_DEFAULT_RTTI, &session->options,
                                      session->name_space_w, L"WQL", query_w, NULL, &operation);
  return finish(session, what, &operation, false, take, context);
}

bool csi_mi_get_class(struct csi_mi_session *session, const char *what, const wchar_t *class_w) {
  MI_Operation operation = {0};
  session->session.ft->GetClass(&session->session, MI_OPERATIONFLAGS_DEFAULT_RTTI, &session->options,
                                session->name_space_w, class_w, NULL, &operation);
  return finish(session, what, &operation, true, NULL, NULL);
}

bool csi_mi_invoke(struct csi_mi_session *session, const char *what, const wchar_t *class_w,
                   const wchar_t *method_w, const MI_Instance *instance, const MI_Instance *parameters,
                   csi_mi_take *take, void *context) {
  MI_Operation operation = {0};
  session->session.ft->Invoke(&session->session, MI_OPERATIONFLAGS_DEFAULT_RTTI, &session->options,
                              session->name_space_w, class_w, method_w, instance, parameters, NULL,
                              &operation);
  return finish(session, what, &operation, false, take, context);
}

MI_Instance *csi_mi_new_parameters(struct csi_mi_session *session) {
  MI_Instance *parameters = NULL;
  MI_Result result =
      session->application->ft->NewInstance(session->application, L"Parameters", NULL, &parameters);
  return check(session, "MI_Application_NewInstance", result, parameters, NULL) ? parameters : NULL;
}

static bool add_element(struct csi_mi_session *session, MI_Instance *parameters, const wchar_t *name_w,
                        const MI_Value *value, MI_Type type, MI_Uint32 flags) {
  MI_Result result = parameters->ft->AddElement(parameters, name_w, value, type, flags);
  return result == MI_RESULT_OK || fail(session, "MI_Instance_AddElement", result, NULL);
}

bool csi_mi_set_text(struct csi_mi_session *session, MI_Instance *parameters, const wchar_t *name_w,
                     wchar_t *text_w) {
  const MI_Value value = {.string = text_w};
  return add_element(session, parameters, name_w, &value, MI_STRING, MI_FLAG_BORROW);
}

bool csi_mi_set_boolean(struct csi_mi_session *session, MI_Instance *parameters, const wchar_t *name_w,
                        bool value) {
  const MI_Value mi_value = {.boolean = value};
  return add_element(session, parameters, name_w, &mi_value, MI_BOOLEAN, 0);
}

MI_Instance *csi_mi_clone(struct csi_mi_session *session, const MI_Instance *instance) {
  MI_Instance *copy = NULL;
  MI_Result result = instance->ft->Clone(instance, &copy);
  return check(session, "MI_Instance_Clone", result, copy, NULL) ? copy : NULL;
}

void csi_mi_delete(MI_Instance *instance) {
  if (instance != NULL && instance->ft != NULL) instance->ft->Delete(instance);
}
