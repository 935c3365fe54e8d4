/* SPDX-License-Identifier: Apache-2.0
 *
 * The bus that disks are plugged into: plug and play of the bus itself and of the disks on it.
 */
#ifndef VDISK_BUS_H
#define VDISK_BUS_H

#include "call.h"
#include "nt.h"

struct vdisk_object;

DRIVER_ADD_DEVICE vdisk_bus_add;
DRIVER_DISPATCH vdisk_bus_pnp;

/* The bus, once it is there; waited on by what waits for all disks. */
struct vdisk_object *vdisk_bus_object(void);

/* Answers a call on the bus, which programs know as a storage adapter. With the lock held. */
NTSTATUS vdisk_bus_serve(struct vdisk_call *call);

/* Has plug and play ask for the disks again. With the lock held; returns at once. */
void vdisk_bus_changed(void);

#endif
