/* SPDX-License-Identifier: Apache-2.0 */
#include "client/ctl/people.h"

#include "client/ctl/people_verbs.h"

const struct csi_ctl_verb csi_ctl_people_verbs[CSI_CTL_PEOPLE_VERBS] = {
    {.name = "status",
     .arguments = "",
     .summary = "How the service is, and what of Windows it lacks",
     .help =
         "Shows version, readiness of each group with reasons and advice, connections, calls and memory.\n\n"
         "Exit code 0: ready. 4: the service answers, but is not ready. Other codes as for all verbs.\n\n"
         "  csi-proxyctl status || echo not ready",
     .run = csi_status_run},
    {.name = "disks",
     .arguments = "",
     .summary = "All disks of the node",
     .help =
         "Shows each disk with what drivers recognise it by. LOCATION is adapter.bus.target.LUN. GUARDED BY "
         "says what Windows needs the disk for, so that the service refuses to change it.\n\n"
         "Lines that begin with ! tell what could not be found out; the exit code is 1 when disks may be "
         "missing "
         "for it. On a terminal long texts are cut to its width, and columns for which there is no room are "
         "named below the table; -o json shows everything.",
     .run = csi_disks_run},
    {.name = "explain",
     .arguments = "disk NUMBER|SERIAL|PAGE83",
     .summary = "Why a driver would or would not find a disk",
     .help =
         "Shows all that is known of a disk, and findings: problems first, then notes, then what is as it "
         "should be, each with advice where there is any. The disk is named by its number, or by its "
         "serial number or page 83 identifier as \"csi-proxyctl disks\" shows them; digits are a number "
         "first, "
         "and a serial number when no disk has it.\n\n"
         "  csi-proxyctl explain disk 3\n"
         "  csi-proxyctl explain disk vol0a1b2c3d4e5f60718_00000001.",
     .least_arguments = 2,
     .most_arguments = 2,
     .run = csi_explain_run},
    {.name = "volumes",
     .arguments = "",
     .summary = "All volumes on the node's disks",
     .help = "Shows each volume with its disk, partition, file system, and where it is mounted.",
     .run = csi_volumes_run},
    {.name = "mounts",
     .arguments = "",
     .summary = "Where volumes are mounted",
     .help = "Shows a line for each directory or drive letter that a volume is mounted on.",
     .run = csi_mounts_run},
    {.name = "smb",
     .arguments = "",
     .summary = "SMB shares mapped for the node",
     .help =
         "Shows the shares that are mapped for the whole node, as far as they can be known, with the links "
         "that lead to them.",
     .run = csi_smb_run},
    {.name = "iscsi",
     .arguments = "",
     .summary = "Portals, targets and sessions of the iSCSI initiator",
     .help = "Shows the portals with the targets found there, and the sessions with their disks.",
     .run = csi_iscsi_run},
    {.name = "top",
     .arguments = "",
     .summary = "Calls as they run, and rates of each method",
     .help =
         "Shows what the service is doing just now, anew every second, until q or Ctrl-C. Rates and the mean "
         "of "
         "the interval come from the differences of two answers, so the first one has none. ListCalls, by "
         "which it "
         "looks, is left out.\n\n"
         "When standard output is no terminal, the rounds follow one another; with -o json or yaml each is "
         "a document of its own.\n\n"
         "  csi-proxyctl top -interval 5s\n"
         "  csi-proxyctl top -n 3",
     .flags = csi_top_flags,
     .flag_count = CSI_TOP_FLAGS,
     .run = csi_top_run},
};
