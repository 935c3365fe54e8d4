/* SPDX-License-Identifier: Apache-2.0
 *
 * How many calls of which kind there have been at which object; they outlive the object. Functions are called
 * with the lock held.
 */
#ifndef VDISK_COUNTER_H
#define VDISK_COUNTER_H

#include "call.h"
#include "text.h"

/* Takes the memory for the counters, gives it back. */
NTSTATUS vdisk_counters_init(void);
void vdisk_counters_free(void);

void vdisk_counter_count(const struct vdisk_call *call);
void vdisk_counter_reset(void);

/* `disk=3 call=DISK_GET_DRIVE_LAYOUT_EX count=4`, one line each, in the order of the first calls. */
void vdisk_counter_list(struct vdisk_text *text);

#endif
