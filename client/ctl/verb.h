/* SPDX-License-Identifier: Apache-2.0
 *
 * The verbs of csi-proxyctl. One table (verbs.c) has them all; help, the manual page and completion are made
 * from it.
 */
#ifndef CSI_CTL_VERB_H
#define CSI_CTL_VERB_H

#include <stddef.h>

#include "base/flags.h"
#include "client/ctl/ctl.h"

struct csi_ctl_verb {
  const char *name;
  const char *arguments; /* as usage shows them: "GROUP VERSION RPC [JSON|-|@FILE]"; "" for none */
  const char *summary;   /* one line that begins with a capital and has no full stop, at most 60 characters */
  const char *help;      /* paragraphs, separated by empty lines; a line that begins with two blanks is an
                            example and is not wrapped */
  const struct csi_flag
      *flags; /* of this verb alone; NULL for none. Reset to their defaults before each run */
  size_t flag_count;
  unsigned least_arguments; /* how many there must be; */
  unsigned most_arguments;  /* main refuses what is outside */

  /* argv[0] is the verb, argv[1] its first argument; flags are gone. What it prints goes to standard output,
   * failures through csi_ctl_report(). Returns an enum csi_ctl_exit. */
  int (*run)(struct csi_ctl *ctl, int argc, char **argv);
};

struct csi_ctl_verb_table {
  const struct csi_ctl_verb *verbs;
  size_t count;
};

/* All tables, in the order of help; the last one has count 0. */
extern const struct csi_ctl_verb_table csi_ctl_verb_tables[];

/* NULL when there is no such verb. */
const struct csi_ctl_verb *csi_ctl_find_verb(const char *name);

#endif
