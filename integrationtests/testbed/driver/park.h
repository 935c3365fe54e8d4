/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls that wait: for an event of the testbed, for their time, or because a fault was asked for. The
 * dispatch thread never blocks. Functions are called with the lock held unless said otherwise.
 *
 * Wine 8 can crash when a call is cancelled just while it is being dispatched, whatever a driver does; once
 * it is parked it can be cancelled safely.
 */
#ifndef VDISK_PARK_H
#define VDISK_PARK_H

#include "call.h"
#include "nt.h"

/* What a parked call waits for. */
enum vdisk_wait {
  VDISK_WAIT_ANY,       /* vdisk_park_end(): whatever it is, except VDISK_WAIT_REMOVED */
  VDISK_WAIT_DELAY,     /* its time; then it is served */
  VDISK_WAIT_HANG,      /* being cancelled, or `fault clear` */
  VDISK_WAIT_HANG_HARD, /* `fault clear` only */
  VDISK_WAIT_VOLUMES,   /* the arrival of every volume of a disk */
  VDISK_WAIT_STARTED,   /* the start of a disk by plug and play */
  VDISK_WAIT_REMOVED,   /* the removal of a disk by plug and play, or of all */
};

/* Puts the call aside; it belongs to the park until it is completed. object is what it waits for, most often
 * call->object. delay_ms is for VDISK_WAIT_DELAY. Returns STATUS_PENDING, which the caller returns too. */
NTSTATUS vdisk_park(struct vdisk_call *call, struct vdisk_object *object, enum vdisk_wait wait,
                    uint32_t delay_ms);

/* Ends the calls that wait for this at this object (NULL: any). */
void vdisk_park_end(struct vdisk_object *object, enum vdisk_wait wait, NTSTATUS status);

/* Serves the calls that wait for this, at any object, as if they had just come. */
void vdisk_park_resume(enum vdisk_wait wait);

/* For vdisk_unlock(): moves the calls that have ended to a list, and completes them, without the lock. */
void vdisk_park_take_ended(LIST_ENTRY *ended_out);
void vdisk_park_deliver(LIST_ENTRY *ended);

#endif
