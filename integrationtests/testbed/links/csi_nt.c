/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that is linked with this file has reparse points where Wine has none.
 */
#include "calls.h"
#include "open.h"
#include "win32/nt_calls.h"

const struct csi_nt_calls csi_nt = {
    .create_file = links_create_file,
    .fs_control_file = links_fs_control_file,
    .query_directory_file = links_query_directory_file,
    .query_information_file = links_query_information_file,
    .query_volume_information_file = links_query_volume_information_file,
    .set_information_file = links_set_information_file,
};
