/* SPDX-License-Identifier: Apache-2.0
 *
 * The verbs for people: status, disks, explain, volumes, mounts, smb, iscsi, top.
 */
#ifndef CSI_CTL_PEOPLE_H
#define CSI_CTL_PEOPLE_H

#include "client/ctl/verb.h"

enum {
  CSI_CTL_PEOPLE_VERBS = 8,
};

extern const struct csi_ctl_verb csi_ctl_people_verbs[CSI_CTL_PEOPLE_VERBS];

#endif
