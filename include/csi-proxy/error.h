/* SPDX-License-Identifier: Apache-2.0
 *
 * Error vocabulary shared by the client library and the service.
 */
#ifndef CSI_PROXY_ERROR_H
#define CSI_PROXY_ERROR_H

#include <stdint.h>

/* Marks what the shared library exports; scripts/cmake/CsiExports.cmake reads it. A program that links
 * to the DLL may define CSI_PROXY_SHARED to save a jump per call; the CMake package does. */
#if defined(_WIN32) && defined(CSI_PROXY_SHARED)
#define CSI_PROXY_API __declspec(dllimport)
#else
#define CSI_PROXY_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The gRPC status codes, with gRPC's numbers. Specification: grpc/doc/statuscodes.md. */
enum csi_code {
  CSI_OK = 0,
  CSI_CANCELLED = 1,
  CSI_UNKNOWN = 2,
  CSI_INVALID_ARGUMENT = 3,
  CSI_DEADLINE_EXCEEDED = 4,
  CSI_NOT_FOUND = 5,
  CSI_ALREADY_EXISTS = 6,
  CSI_PERMISSION_DENIED = 7,
  CSI_RESOURCE_EXHAUSTED = 8,
  CSI_FAILED_PRECONDITION = 9,
  CSI_ABORTED = 10,
  CSI_OUT_OF_RANGE = 11,
  CSI_UNIMPLEMENTED = 12,
  CSI_INTERNAL = 13,
  CSI_UNAVAILABLE = 14,
  CSI_DATA_LOSS = 15,
  CSI_UNAUTHENTICATED = 16,
};

/* What kind of number a system error is. The number is never translated from one space to another. */
enum csi_error_space {
  CSI_SPACE_NONE = 0,      /* no system call was involved */
  CSI_SPACE_WIN32 = 1,     /* GetLastError(): winerror.h */
  CSI_SPACE_NTSTATUS = 2,  /* Nt*: ntstatus.h */
  CSI_SPACE_CONFIGRET = 3, /* CM_*: cfgmgr32.h */
  CSI_SPACE_ISDSC = 4,     /* iscsidsc.dll: iscsierr.h */
  CSI_SPACE_HRESULT = 5,   /* COM and MI */
  CSI_SPACE_ERRNO = 6,     /* the C library; in native (non-Windows) builds only */
};

/* Names a code the way gRPC spells it, for example "NOT_FOUND".
 *
 * code (in): any value. Returns a static string, "CODE_<n>" style text is never returned: an unknown
 * value gives "UNKNOWN". Never blocks, may be called from any thread. */
CSI_PROXY_API const char *csi_code_name(enum csi_code code);

/* Names an error space, for example "Win32" or "NTSTATUS".
 *
 * space (in): any value; an unknown one gives "none". Returns a static string. Never blocks, may be
 * called from any thread. */
CSI_PROXY_API const char *csi_error_space_name(enum csi_error_space space);

#ifdef __cplusplus
}
#endif

#endif
