/* SPDX-License-Identifier: Apache-2.0
 *
 * Partition tables for tests, written as any Windows program writes them.
 */
#ifndef CSI_TESTBED_CTL_TABLE_H
#define CSI_TESTBED_CTL_TABLE_H

#include <stdbool.h>

#include "control.h"
#include "driver/words.h"

/* table disk=N style=gpt|mbr|raw [partition=TYPE,OFFSET,LENGTH ...]
 * Replaces the partition table. TYPE: basic, msr, efi, recovery or {GUID} on GPT, two hexadecimal digits on
 * MBR. LENGTH: a size, or `rest`. */
bool csi_table_command(struct vdisk_words *words, struct csi_ctl_error *error);

#endif
