/* SPDX-License-Identifier: Apache-2.0
 *
 * The control device: takes command lines. Functions are called with the lock held.
 */
#ifndef VDISK_CONTROL_H
#define VDISK_CONTROL_H

#include "call.h"

NTSTATUS vdisk_control_create(void);
void vdisk_control_delete(void);

/* Answers a call on the control device. */
NTSTATUS vdisk_control_serve(struct vdisk_call *call);

#endif
