/* SPDX-License-Identifier: Apache-2.0
 *
 * Faults that commands ask for: certain calls fail, take their time, never end, or answer nonsense. Functions
 * are called with the lock held.
 */
#ifndef VDISK_FAULT_H
#define VDISK_FAULT_H

#include "call.h"
#include "object.h"

enum vdisk_fault_action {
  VDISK_FAULT_FAIL,      /* with a status */
  VDISK_FAULT_DELAY,     /* done after some time */
  VDISK_FAULT_HANG,      /* ends when cancelled; is done at `fault clear` */
  VDISK_FAULT_HANG_HARD, /* cannot be cancelled; is done at `fault clear` */
  VDISK_FAULT_REMOVE,    /* the disk is pulled out instead */
  VDISK_FAULT_SHORT,     /* done, but half of the output is missing */
  VDISK_FAULT_GARBAGE,   /* done, but the output is overwritten */
};

/* A fault, and which calls it is for. */
struct vdisk_fault {
  LIST_ENTRY link;
  bool is_for_any; /* object; otherwise the next three say which */
  enum vdisk_kind kind;
  uint32_t disk_number;
  uint8_t guid[16];
  uint32_t code;
  uint64_t skip_count;      /* matching calls that are still to be let through */
  uint64_t remaining_count; /* matching calls it is still for; 0: all */
  enum vdisk_fault_action action;
  uint32_t parameter; /* the status or the milliseconds */
};

/* Does the call, or whatever a fault that is for it demands. As vdisk_call_serve(). */
NTSTATUS vdisk_fault_serve(struct vdisk_call *call);

/* Adds a copy of the fault. Wine opens a device before it asks the driver and takes no notice of the answer;
 * therefore a fault of VDISK_CALL_OPEN takes away the names of its object, until vdisk_fault_clear().
 * STATUS_NO_SUCH_DEVICE when that is not there. */
NTSTATUS vdisk_fault_add(const struct vdisk_fault *fault);

/* Removes all, and does the calls that hang. */
void vdisk_fault_clear(void);

/* The faults in the order in which they are looked at. */
const struct vdisk_fault *vdisk_fault_next(const struct vdisk_fault *fault);

#endif
