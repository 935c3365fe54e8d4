/* SPDX-License-Identifier: Apache-2.0
 *
 * The program between its command line and its exit code, apart from what wmain() and main() differ in.
 */
#ifndef CSI_CTL_PROGRAM_H
#define CSI_CTL_PROGRAM_H

#include <stdio.h>

#include "client/ctl/verb.h"

/* Runs a command line, UTF-8. Returns an enum csi_ctl_exit, or what a verb has of its own. One at a time. */
int csi_ctl_run(int argc, char **argv);

/* The flags that all verbs have, as usage shows them. */
void csi_ctl_print_flags(FILE *out);

/* Their table, for completion. The values are those of the run. */
struct csi_flag_table csi_ctl_global_flags(void);

/* What `help` prints: all verbs; one verb. */
void csi_ctl_print_help(FILE *out);
void csi_ctl_print_verb(FILE *out, const struct csi_ctl_verb *verb);

/* Wrong usage, with the nearest verb. */
void csi_ctl_fail_unknown_verb(const char *name, struct csi_ctl_error *error);

#endif
