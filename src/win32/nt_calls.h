/* SPDX-License-Identifier: Apache-2.0
 *
 * The native calls through which all code reaches files, as one table. csi-proxy.exe has the system's own
 * calls in it. A program that defines csi_nt itself gets its definition instead, since nothing then draws
 * nt_calls.c out of the library: so tests supply reparse points where the system has none.
 */
#ifndef CSI_WIN32_NT_CALLS_H
#define CSI_WIN32_NT_CALLS_H

#include "win32/nt.h"

/* Each as the call of that name is documented. */
struct csi_nt_calls {
  __typeof__(NtCreateFile) *create_file;
  __typeof__(NtFsControlFile) *fs_control_file;
  __typeof__(NtQueryDirectoryFile) *query_directory_file;
  __typeof__(NtQueryInformationFile) *query_information_file;
  __typeof__(NtQueryVolumeInformationFile) *query_volume_information_file;
  __typeof__(NtSetInformationFile) *set_information_file;
};

extern const struct csi_nt_calls csi_nt;

#endif
