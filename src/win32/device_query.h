/* SPDX-License-Identifier: Apache-2.0
 *
 * Questions to devices whose answer is one structure.
 */
#ifndef CSI_WIN32_DEVICE_QUERY_H
#define CSI_WIN32_DEVICE_QUERY_H

#include "win32/device.h"

/* As csi_device_control() without input. Fails with DATA_LOSS when the device answers with less than
 * min_bytes; what it leaves out beyond those is zero. */
bool csi_device_query(struct csi_ctx *ctx, HANDLE device, struct csi_control control, void *out,
                      size_t out_bytes, size_t min_bytes, const char *object) CSI_MUST_CHECK;

#endif
