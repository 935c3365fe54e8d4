/* SPDX-License-Identifier: Apache-2.0
 *
 * What runs the verbs of people.c. Each is a csi_ctl_verb.run.
 */
#ifndef CSI_CTL_PEOPLE_VERBS_H
#define CSI_CTL_PEOPLE_VERBS_H

#include "base/flags.h"
#include "client/ctl/ctl.h"
#include "client/ctl/listing.h"

enum {
  CSI_CTL_NOT_READY = 4, /* `status`: the service answers, and says that it is not ready */
  CSI_TOP_FLAGS = 2,
};

int csi_status_run(struct csi_ctl *ctl, int argc, char **argv);
int csi_explain_run(struct csi_ctl *ctl, int argc, char **argv);
int csi_top_run(struct csi_ctl *ctl, int argc, char **argv);
int csi_disks_run(struct csi_ctl *ctl, int argc, char **argv);
int csi_volumes_run(struct csi_ctl *ctl, int argc, char **argv);
int csi_mounts_run(struct csi_ctl *ctl, int argc, char **argv);
int csi_smb_run(struct csi_ctl *ctl, int argc, char **argv);
int csi_iscsi_run(struct csi_ctl *ctl, int argc, char **argv);

extern const struct csi_flag csi_top_flags[CSI_TOP_FLAGS];

/* Cells that several verbs have. */
enum csi_style csi_disk_state(struct csi_ctl_view disk, struct csi_arena *arena,
                              struct csi_text_buffer *cell);
enum csi_style csi_disk_location(struct csi_ctl_view disk, struct csi_arena *arena,
                                 struct csi_text_buffer *cell);
enum csi_style csi_disk_device(struct csi_ctl_view disk, struct csi_arena *arena,
                               struct csi_text_buffer *cell);

#endif
