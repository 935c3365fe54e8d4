/* SPDX-License-Identifier: Apache-2.0
 *
 * The mount manager, which keeps its own record of mounted folders.
 */
#ifndef CSI_WIN32_MOUNT_MANAGER_H
#define CSI_WIN32_MOUNT_MANAGER_H

#include <stdint.h>
#include <wchar.h>

/* Tells the mount manager that a folder has become a mounted one, so that it lists it among the volume's
 * paths. The folder must be one already: the mount manager opens it.
 *
 * folder_w: NT name, `\??\C:\...`. volume_w: `\??\Volume{guid}`, without a separator at the end.
 * Returns 0 or a Win32 error number. Needs an administrator. Blocks as long as the mount manager does.
 * UNVERIFIED ON WINDOWS: Wine's mount manager does not know the request. */
uint32_t csi_mount_manager_remember_folder(const wchar_t *folder_w, const wchar_t *volume_w);

/* Tells the mount manager that a folder has ceased to be a mounted one, so that it does not go on listing
 * it among the volume's paths. The folder must still be there, as a plain directory: the mount manager
 * opens it. As csi_mount_manager_remember_folder() in all else. */
uint32_t csi_mount_manager_forget_folder(const wchar_t *folder_w, const wchar_t *volume_w);

#endif
