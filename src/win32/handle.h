/* SPDX-License-Identifier: Apache-2.0
 *
 * HANDLEs that close themselves at the end of their scope.
 */
#ifndef CSI_WIN32_HANDLE_H
#define CSI_WIN32_HANDLE_H

#include <windows.h>

/* Closes *handle unless it is NULL or INVALID_HANDLE_VALUE, and makes it NULL. The last error stays. */
void csi_handle_close(HANDLE *handle);

/* CSI_SCOPED_HANDLE file = CreateFileW(...); */
#define CSI_SCOPED_HANDLE __attribute__((cleanup(csi_handle_close))) HANDLE

#endif
