/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls to WMI's classes on this machine through mi.dll, with a time limit for each. A session belongs to one
 * thread. All functions but csi_mi_load() block as long as WMI wants them to: for threads that may be given
 * up.
 *
 * A failure stays in the session: the first one, `failed` says at what.
 */
#ifndef CSI_SMB_MI_SESSION_WIN32_H
#define CSI_SMB_MI_SESSION_WIN32_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "smb/mi_api_win32.h"
#include "smb/mi_error.h"

struct csi_mi_session {
  const char *failed; /* literal; NULL: nothing has failed */
  struct csi_mi_failure failure;

  const wchar_t *name_space_w; /* private, and all below */
  MI_Application *application;
  MI_Session session;
  MI_OperationOptions options;
};

/* Is handed each result of an operation, which lives as long as the call. */
typedef void csi_mi_take(void *context, const MI_Instance *result);

/* Loads mi.dll. False with UNIMPLEMENTED when this Windows has none. */
bool csi_mi_load(struct csi_status *status) CSI_MUST_CHECK;

/* Opens a session; each of its calls ends after timeout_ms, if WMI keeps to it. name_space_w is a literal.
 * To be closed, also when it could not be opened. */
bool csi_mi_open(struct csi_mi_session *session, const wchar_t *name_space_w,
                 uint32_t timeout_ms) CSI_MUST_CHECK;
void csi_mi_close(struct csi_mi_session *session);

/* what: literal, for session->failed. */
bool csi_mi_query(struct csi_mi_session *session, const char *what, const wchar_t *query_w, csi_mi_take *take,
                  void *context) CSI_MUST_CHECK;
bool csi_mi_get_class(struct csi_mi_session *session, const char *what,
                      const wchar_t *class_w) CSI_MUST_CHECK;

/* Invokes a method of an instance, and class_w is NULL; or of the class itself, and instance is NULL. */
bool csi_mi_invoke(struct csi_mi_session *session, const char *what, const wchar_t *class_w,
                   const wchar_t *method_w, const MI_Instance *instance, const MI_Instance *parameters,
                   csi_mi_take *take, void *context) CSI_MUST_CHECK;

/* Parameters for a method; to be freed with csi_mi_delete(). Texts are borrowed until then. */
MI_Instance *csi_mi_new_parameters(struct csi_mi_session *session) CSI_MUST_CHECK;
bool csi_mi_set_text(struct csi_mi_session *session, MI_Instance *parameters, const wchar_t *name_w,
                     wchar_t *text_w) CSI_MUST_CHECK;
bool csi_mi_set_boolean(struct csi_mi_session *session, MI_Instance *parameters, const wchar_t *name_w,
                        bool value) CSI_MUST_CHECK;

/* A copy that outlives its operation; to be freed with csi_mi_delete(). NULL when memory is short. */
MI_Instance *csi_mi_clone(struct csi_mi_session *session, const MI_Instance *instance) CSI_MUST_CHECK;
void csi_mi_delete(MI_Instance *instance); /* NULL is accepted */

/* Reads an element that is a whole number. False when it is not there, negative, or something else. */
bool csi_mi_read_number(const MI_Instance *instance, const wchar_t *name_w,
                        uint32_t *number_out) CSI_MUST_CHECK;

#endif
