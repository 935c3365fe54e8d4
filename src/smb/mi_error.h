/* SPDX-License-Identifier: Apache-2.0
 *
 * What mi.dll says of a failure, as the number that mpr.dll would give for it. Pure functions.
 */
#ifndef CSI_SMB_MI_ERROR_H
#define CSI_SMB_MI_ERROR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

enum {
  CSI_MI_TEXT_BYTES = 64,
};

/* The three things mi.dll may tell. What is not known is 0 or "". */
struct csi_mi_failure {
  uint32_t result;                    /* MI_Result */
  char message_id[CSI_MI_TEXT_BYTES]; /* of the error instance: `Windows System Error 53`, `HRESULT
                                         0x80041001` */
  char error_type[CSI_MI_TEXT_BYTES]; /* of the error instance: what error_code counts in */
  uint32_t error_code;
};

struct csi_mi_error {
  enum csi_error_space space;
  uint32_t number; /* a Win32 error where there is one, else a HRESULT; never 0 */
};

/* Which number a failure has. */
struct csi_mi_error csi_mi_error_of_failure(const struct csi_mi_failure *failure);

/* value: not 0; what a method of SMB's classes has returned. */
struct csi_mi_error csi_mi_error_of_return_value(uint32_t value);

/* The same as enum csi_smb_error has it: that the thing exists already, or does not exist, has many numbers.
 */
struct csi_mi_error csi_mi_error_of_create(struct csi_mi_error error);
struct csi_mi_error csi_mi_error_of_remove(struct csi_mi_error error);

/* Whether the class, or the whole name space, is not there. */
bool csi_mi_error_is_missing(struct csi_mi_error error);

#endif
