/* SPDX-License-Identifier: Apache-2.0
 *
 * The commands `target`, `session` and `initiator` (docs/TESTBED.md), on the records of targets.h. Portable:
 * disks follow when the caller has lun_disks_settle() look at the records.
 */
#ifndef CSI_TESTBED_ISCSIDSC_TARGET_WORDS_H
#define CSI_TESTBED_ISCSIDSC_TARGET_WORDS_H

#include "driver/text.h"
#include "driver/words.h"
#include "targets.h"

/* Executes a command; words: with its first word taken, and given as `noun`. False with what was wrong, and
 * nothing done. Secrets are wiped from the words. */
bool targets_command(struct network_state *state, const char *noun, struct vdisk_words *words,
                     uint64_t now_ms, struct vdisk_text *reply, const char **problem_out);

#endif
