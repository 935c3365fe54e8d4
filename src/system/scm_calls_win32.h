/* SPDX-License-Identifier: Apache-2.0
 *
 * The calls of the service manager that depend on what a service needs, as one table. csi-proxy.exe has the
 * system's own calls in it. A program that defines csi_scm itself gets its definition instead, since nothing
 * then draws scm_calls_win32.c out of the library: so tests supply dependencies where the system has none.
 */
#ifndef CSI_SYSTEM_SCM_CALLS_WIN32_H
#define CSI_SYSTEM_SCM_CALLS_WIN32_H

#include <windows.h>

#include <winsvc.h>

/* Each as the call of that name is documented. */
struct csi_scm_calls {
  __typeof__(OpenServiceW) *open_service; /* before the others, in the same thread */
  __typeof__(ControlService) *control_service;
  __typeof__(EnumDependentServicesW) *enum_dependent_services;
};

extern const struct csi_scm_calls csi_scm;

#endif
