/* SPDX-License-Identifier: Apache-2.0
 *
 * What this Windows calls itself.
 */
#ifndef CSI_SERVICE_OS_VERSION_WIN32_H
#define CSI_SERVICE_OS_VERSION_WIN32_H

#include <stddef.h>

/* Writes "Windows Server 2022 Datacenter, build 20348.2113", as UTF-8; "Windows, build 20348" when the
 * registry does not tell more. Rests on RtlGetVersion, which no manifest deceives, and on the registry key
 * CurrentVersion. */
void csi_os_version(char *text_out, size_t text_bytes);

#endif
