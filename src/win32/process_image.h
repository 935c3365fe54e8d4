/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CSI_WIN32_PROCESS_IMAGE_H
#define CSI_WIN32_PROCESS_IMAGE_H

#include <stddef.h>
#include <stdint.h>

/* The image path of a process as UTF-8, "" when it cannot be told. Does not block. Windows:
 * QueryFullProcessImageName. */
void csi_process_image_path(uint32_t process_id, char *path, size_t size_bytes);

#endif
