/* SPDX-License-Identifier: Apache-2.0
 *
 * mpr.dll for the testbed: what csi-proxy calls works on the testbed's shares, and what Wine's own DLLs
 * import (no_network.c) says that there is no network, as Wine's mpr.dll does.
 */
#ifndef CSI_TESTBED_MPR_H
#define CSI_TESTBED_MPR_H

#include <windows.h>

#define MPR_EXPORT __declspec(dllexport)

/* The only provider of the testbed. */
extern const wchar_t mpr_provider_w[];

/* Leaves the error as the thread's last one too. */
DWORD mpr_end(DWORD error);

#endif
