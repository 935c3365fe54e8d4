/* SPDX-License-Identifier: Apache-2.0
 *
 * What iscsidsc.dll lists: functions that fill a buffer, called again with a bigger one until it suffices.
 */
#ifndef CSI_ISCSI_LISTING_WIN32_H
#define CSI_ISCSI_LISTING_WIN32_H

#include "iscsi/library_win32.h"

enum csi_iscsi_list {
  CSI_ISCSI_LIST_PORTALS = 0,
  CSI_ISCSI_LIST_TARGETS,    /* names, as csi_iscsi_read_texts() reads them */
  CSI_ISCSI_LIST_MECHANISMS, /* the same; of a target */
  CSI_ISCSI_LIST_SESSIONS,
  CSI_ISCSI_LIST_PERSISTENT_LOGINS,
  CSI_ISCSI_LIST_DEVICES, /* of a session */
};

/* What is to be listed; target and session where the list is of one. */
struct csi_iscsi_listing {
  enum csi_iscsi_list list;
  const char *target;
  const struct csi_iscsi_session_id *session;
};

/* An answer of the library, where it wrote it; zeroed, it is none. Freed at the end of its scope. */
struct csi_iscsi_answer {
  struct csi_iscsi_reply reply; /* behind what the library wrote the bytes are 0 */
  struct csi_library_call *call;
};

void csi_iscsi_answer_free(struct csi_iscsi_answer *answer);

/* CSI_SCOPED_ISCSI_ANSWER answer = {0}; */
#define CSI_SCOPED_ISCSI_ANSWER __attribute__((cleanup(csi_iscsi_answer_free))) struct csi_iscsi_answer

/* Lists. Fails with the library's own ERROR_INSUFFICIENT_BUFFER when no room suffices. */
bool csi_iscsi_library_list(struct csi_ctx *ctx, const struct csi_iscsi_listing *listing,
                            struct csi_iscsi_answer *answer_out) CSI_MUST_CHECK;

#endif
