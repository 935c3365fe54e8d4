/* SPDX-License-Identifier: Apache-2.0
 *
 * The firmware's system information as Windows hands it over (struct RawSMBIOSData). Portable and pure; every
 * length is checked.
 */
#ifndef CSI_SYSTEM_SMBIOS_H
#define CSI_SYSTEM_SMBIOS_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/status.h"
#include "csi-proxy/bytes.h"

/* Finds the serial number of the machine: of the first structure of type 1, without the blanks at its end.
 *
 * serial_out: valid UTF-8 in the arena; "" when the firmware has none. A text that is not UTF-8 is taken for
 * Latin-1.
 * Fails with DATA_LOSS when the table is malformed before a serial number is found, RESOURCE_EXHAUSTED. */
bool csi_smbios_get_serial_number(struct csi_arena *arena, const struct csi_bytes *table,
                                  const char **serial_out, struct csi_status *status) CSI_MUST_CHECK;

#endif
