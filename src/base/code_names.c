/* SPDX-License-Identifier: Apache-2.0 */
#include "csi-proxy/error.h"

#include <stddef.h>

const char *csi_code_name(enum csi_code code) {
  static const char *const names[] = {
      [CSI_OK] = "OK",
      [CSI_CANCELLED] = "CANCELLED",
      [CSI_UNKNOWN] = "UNKNOWN",
      [CSI_INVALID_ARGUMENT] = "INVALID_ARGUMENT",
      [CSI_DEADLINE_EXCEEDED] = "DEADLINE_EXCEEDED",
      [CSI_NOT_FOUND] = "NOT_FOUND",
      [CSI_ALREADY_EXISTS] = "ALREADY_EXISTS",
      [CSI_PERMISSION_DENIED] = "PERMISSION_DENIED",
      [CSI_RESOURCE_EXHAUSTED] = "RESOURCE_EXHAUSTED",
      [CSI_FAILED_PRECONDITION] = "FAILED_PRECONDITION",
      [CSI_ABORTED] = "ABORTED",
      [CSI_OUT_OF_RANGE] = "OUT_OF_RANGE",
      [CSI_UNIMPLEMENTED] = "UNIMPLEMENTED",
      [CSI_INTERNAL] = "INTERNAL",
      [CSI_UNAVAILABLE] = "UNAVAILABLE",
      [CSI_DATA_LOSS] = "DATA_LOSS",
      [CSI_UNAUTHENTICATED] = "UNAUTHENTICATED",
  };
  size_t index = (size_t)code;
  return index < sizeof names / sizeof names[0] ? names[index] : "UNKNOWN";
}

const char *csi_error_space_name(enum csi_error_space space) {
  static const char *const names[] = {
      [CSI_SPACE_NONE] = "none",   [CSI_SPACE_WIN32] = "Win32",     [CSI_SPACE_NTSTATUS] = "NTSTATUS",
      [CSI_SPACE_ISDSC] = "ISDSC", [CSI_SPACE_HRESULT] = "HRESULT", [CSI_SPACE_CONFIGRET] = "CONFIGRET",
      [CSI_SPACE_ERRNO] = "errno",
  };
  size_t index = (size_t)space;
  return index < sizeof names / sizeof names[0] ? names[index] : "none";
}
