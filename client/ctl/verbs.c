/* SPDX-License-Identifier: Apache-2.0 */
#include "client/ctl/verbs.h"

#include "client/ctl/people.h"

const struct csi_ctl_verb_table csi_ctl_verb_tables[] = {
    {csi_ctl_people_verbs, CSI_CTL_PEOPLE_VERBS},
    {&csi_ctl_list_verb, 1},
    {&csi_ctl_describe_verb, 1},
    {&csi_ctl_call_verb, 1},
    {&csi_ctl_completion_verb, 1},
    {&csi_ctl_version_verb, 1},
    {&csi_ctl_help_verb, 1},
    {NULL, 0},
};
