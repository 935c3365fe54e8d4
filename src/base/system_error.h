/* SPDX-License-Identifier: Apache-2.0
 *
 * Raw error numbers beyond what status.h offers. Pure functions; any thread.
 */
#ifndef CSI_BASE_SYSTEM_ERROR_H
#define CSI_BASE_SYSTEM_ERROR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "csi-proxy/error.h"

#define CSI_NO_WIN32_ERROR UINT32_MAX

/* The Win32 error that Windows makes of the number, so that code can treat ERROR_FILE_NOT_FOUND and
 * STATUS_OBJECT_NAME_NOT_FOUND alike; CSI_NO_WIN32_ERROR when there is none or it is not known. */
uint32_t csi_win32_of_system_error(enum csi_error_space space, uint32_t number);

/* One implementation per platform: what the system says about a number our tables lack; first line
 * only. False when it has no text either; buffer is then unspecified. */
bool csi_ask_system_for_error_text(enum csi_error_space space, uint32_t number, char *buffer,
                                   size_t buffer_bytes);

/* One implementation per platform: the gRPC code for a C library error number. */
enum csi_code csi_code_of_errno(uint32_t number);

#endif
