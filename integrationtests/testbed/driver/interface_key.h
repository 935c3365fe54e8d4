/* SPDX-License-Identifier: Apache-2.0
 *
 * The registry's record of a device interface.
 */
#ifndef VDISK_INTERFACE_KEY_H
#define VDISK_INTERFACE_KEY_H

#include "nt.h"

/* Deletes the record. Wine keeps those of devices that are gone and goes through all of them at every
 * arrival, and whenever a program lists interfaces. name is the one that IoRegisterDeviceInterface()
 * returned. */
void vdisk_interface_key_delete(const UNICODE_STRING *name);

#endif
