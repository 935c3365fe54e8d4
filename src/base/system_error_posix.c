/* SPDX-License-Identifier: Apache-2.0 */
#include "base/system_error.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

bool csi_ask_system_for_error_text(enum csi_error_space space, uint32_t number, char *buffer,
                                   size_t buffer_bytes) {
  if (space != CSI_SPACE_ERRNO || number > INT_MAX) return false;
  char text[256];
  (void)snprintf(buffer, buffer_bytes, "%s", strerror_r((int)number, text, sizeof text));
  return true;
}

enum csi_code csi_code_of_errno(uint32_t number) {
  switch (number) {
  case ENOENT:
  case ENODEV:
    return CSI_NOT_FOUND;
  case EEXIST:
    return CSI_ALREADY_EXISTS;
  case EACCES:
  case EPERM:
    return CSI_PERMISSION_DENIED;
  case EINVAL:
  case ENAMETOOLONG:
    return CSI_INVALID_ARGUMENT;
  case ENOMEM:
  case ENOSPC:
  case EMFILE:
  case ENFILE:
    return CSI_RESOURCE_EXHAUSTED;
  case ENOTDIR:
  case ENOTEMPTY:
  case EBUSY:
  case ELOOP:
    return CSI_FAILED_PRECONDITION;
  case ECANCELED:
    return CSI_CANCELLED;
  case ETIMEDOUT:
    return CSI_DEADLINE_EXCEEDED;
  case ENOSYS:
  case ENOTSUP:
    return CSI_UNIMPLEMENTED;
  case ECONNREFUSED:
  case ECONNRESET:
  case EPIPE:
    return CSI_UNAVAILABLE;
  default:
    return CSI_UNKNOWN;
  }
}
