/* SPDX-License-Identifier: Apache-2.0
 *
 * The verbs of the engine, for the table in verbs.c.
 */
#ifndef CSI_CTL_VERBS_H
#define CSI_CTL_VERBS_H

#include "client/ctl/verb.h"

extern const struct csi_ctl_verb csi_ctl_call_verb;
extern const struct csi_ctl_verb csi_ctl_list_verb;
extern const struct csi_ctl_verb csi_ctl_describe_verb;
extern const struct csi_ctl_verb csi_ctl_completion_verb;
extern const struct csi_ctl_verb csi_ctl_version_verb;
extern const struct csi_ctl_verb csi_ctl_help_verb;

#endif
