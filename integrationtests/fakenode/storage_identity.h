/* SPDX-License-Identifier: Apache-2.0
 *
 * What a disk in memory says of itself, in the bytes of IOCTL_STORAGE_QUERY_PROPERTY. Page 83 comes from
 * the testbed's driver (testbed/driver/page83.h), so that both understand the same profiles.
 */
#ifndef CSI_FAKENODE_STORAGE_IDENTITY_H
#define CSI_FAKENODE_STORAGE_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  STORAGE_IDENTITY_BYTES = 1024,
  STORAGE_IDENTITY_TEXT_BYTES = 65, /* longest text of one, NUL included */
};

/* Makes a STORAGE_DEVICE_ID_DESCRIPTOR of a spec of testbed/driver/page83.h. size_out: 0 when the spec says
 * that the device does not know the request. False: the spec is not understood. */
bool storage_make_identifiers(const char *spec, uint8_t bytes_out[STORAGE_IDENTITY_BYTES], size_t *size_out);

enum {
  STORAGE_BUS_SAS = 10, /* STORAGE_BUS_TYPE; what disks are on unless somebody says otherwise */
};

/* The STORAGE_BUS_TYPE of the testbed's name for it, "nvme". False: not known. */
bool storage_find_bus(const char *name, uint8_t *bus_type_out);

/* Makes a STORAGE_DEVICE_DESCRIPTOR; NULL = the device does not say. False: a text is too long. */
bool storage_make_descriptor(const char *vendor, const char *product, const char *serial, uint8_t bus_type,
                             uint8_t bytes_out[STORAGE_IDENTITY_BYTES], size_t *size_out);

#endif
