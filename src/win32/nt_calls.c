/* SPDX-License-Identifier: Apache-2.0 */
#include "win32/nt_calls.h"

/* Nothing else may stand in this file: see the header. */
const struct csi_nt_calls csi_nt = {
    .create_file = NtCreateFile,
    .fs_control_file = NtFsControlFile,
    .query_directory_file = NtQueryDirectoryFile,
    .query_information_file = NtQueryInformationFile,
    .query_volume_information_file = NtQueryVolumeInformationFile,
    .set_information_file = NtSetInformationFile,
};
