/* SPDX-License-Identifier: Apache-2.0
 *
 * What a disk calls itself: the SCSI page 83 identifiers and the serial number, read from what
 * IOCTL_STORAGE_QUERY_PROPERTY returned. Portable and pure; the bytes come from firmware and are trusted
 * in nothing.
 */
#ifndef CSI_DISK_IDENTITY_H
#define CSI_DISK_IDENTITY_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

/* Chooses from a STORAGE_DEVICE_ID_DESCRIPTOR the first identifier of the device (association 0) whose code
 * set is ASCII (as it is) or binary (lower-case hex). "" when there is none, when it is all blanks, and for
 * what is malformed behind the last good one. ASCII that is not UTF-8 is given in hex, as protobuf could not
 * carry it. The text is in the arena; NULL when memory is short. */
const char *csi_page83_choose(struct csi_arena *arena, const uint8_t *bytes, size_t size_bytes);

/* The serial number of a STORAGE_DEVICE_DESCRIPTOR as Windows shows it: trailing blanks removed. "" when
 * there is none. What is not UTF-8 has '?' for every byte that is not ASCII. The text is in the arena; NULL
 * when memory is short. */
const char *csi_serial_number(struct csi_arena *arena, const uint8_t *bytes, size_t size_bytes);

#endif
