/* SPDX-License-Identifier: Apache-2.0
 *
 * Operations: what a call to a class has come to, handed out result by result. The call itself is done before
 * the operation is there, so Cancel() comes too late.
 */
#ifndef CSI_TESTBED_MI_OPERATION_H
#define CSI_TESTBED_MI_OPERATION_H

#include <stdbool.h>

#include "smb/mi_api_win32.h"

struct mi_outcome {
  MI_Result result;
  MI_Instance *instance; /* NULL: none */
  MI_Instance *details;  /* of a failure; NULL: none */
  bool is_list;          /* a query: the end is told by itself */
};

/* Fills the operation with the outcome, whose instances are its own from now on. */
void mi_operation_begin(MI_Operation *operation_out, const struct mi_outcome *outcome);

/* A failure as WMI tells it: with the number that a provider had, `Windows System Error 53` or a HRESULT. */
struct mi_outcome mi_failed_with(uint32_t error);

#endif
