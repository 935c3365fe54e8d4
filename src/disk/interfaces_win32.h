/* SPDX-License-Identifier: Apache-2.0
 *
 * Device interfaces that are present now. SetupDi and not the shorter CM_Get_Device_Interface_List, because
 * Wine has only the former.
 */
#ifndef CSI_DISK_INTERFACES_WIN32_H
#define CSI_DISK_INTERFACES_WIN32_H

#include <windows.h>

#include <stddef.h>

#include "base/ctx.h"

struct csi_device_interface {
  const wchar_t *path_w; /* to be opened */
  DWORD node;            /* the device's DEVINST */
};

/* Lists the present interfaces of a class, such as GUID_DEVINTERFACE_DISK. In the arena. Blocks as long as
 * the plug-and-play manager does. */
bool csi_list_device_interfaces(struct csi_ctx *ctx, const GUID *class,
                                struct csi_device_interface **interfaces_out,
                                size_t *count_out) CSI_MUST_CHECK;

#endif
