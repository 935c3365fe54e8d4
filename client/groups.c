/* SPDX-License-Identifier: Apache-2.0 */
#include "client/groups.h"

#include "admin/client_group.h"
#include "disk/client_group.h"
#include "filesystem/client_group.h"
#include "iscsi/client_group.h"
#include "smb/client_group.h"
#include "system/client_group.h"
#include "volume/client_group.h"

const struct csi_client_group *const csi_client_groups[] = {
    &csi_filesystem_client_group, &csi_disk_client_group,   &csi_volume_client_group, &csi_smb_client_group,
    &csi_iscsi_client_group,      &csi_system_client_group, &csi_admin_client_group,  NULL,
};
