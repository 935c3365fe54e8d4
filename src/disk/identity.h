/* SPDX-License-Identifier: Apache-2.0
 *
 * What a disk calls itself: the SCSI page 83 identifiers and the serial number, read from what
 * IOCTL_STORAGE_QUERY_PROPERTY returned. Portable and pure; the bytes come from firmware and are trusted
 * in nothing.
 */
#ifndef CSI_DISK_IDENTITY_H
#define CSI_DISK_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

/* STORAGE_BUS_TYPE, as far as anybody asks for one. */
enum csi_bus_type {
  CSI_BUS_UNKNOWN = 0,
  CSI_BUS_SCSI = 1,
  CSI_BUS_ISCSI = 9,
  CSI_BUS_SAS = 10,
  CSI_BUS_NVME = 17,
};

/* The identifier that stands for a disk. */
struct csi_page83 {
  const char *text;    /* as csi_page83_choose() gives it */
  uint32_t type;       /* STORAGE_IDENTIFIER_TYPE; means something when there is a text, as does is_ascii */
  bool is_ascii;       /* its code set; the text may be hex all the same */
  unsigned seen_count; /* identifiers up to the chosen one, those of ports and targets included */
};

/* Chooses as csi_page83_choose(), and tells more of it. False when memory is short. */
bool csi_page83_find(struct csi_arena *arena, const uint8_t *bytes, size_t size_bytes,
                     struct csi_page83 *chosen_out) CSI_MUST_CHECK;

/* "NAA" and so on; never NULL. */
const char *csi_page83_type_name(uint32_t type);

/* Chooses from a STORAGE_DEVICE_ID_DESCRIPTOR the first identifier of the device (association 0) whose code
 * set is ASCII (as it is) or binary (lower-case hex). "" when there is none, when it is all blanks, and for
 * what is malformed behind the last good one. ASCII that is not UTF-8 is given in hex, as protobuf could not
 * carry it. The text is in the arena; NULL when memory is short. */
const char *csi_page83_choose(struct csi_arena *arena, const uint8_t *bytes, size_t size_bytes);

/* The serial number of a STORAGE_DEVICE_DESCRIPTOR as Windows shows it: trailing blanks removed. "" when
 * there is none. What is not UTF-8 has '?' for every byte that is not ASCII. The text is in the arena; NULL
 * when memory is short. */
const char *csi_serial_number(struct csi_arena *arena, const uint8_t *bytes, size_t size_bytes);

/* Vendor and product of a STORAGE_DEVICE_DESCRIPTOR, without blanks around them; otherwise as
 * csi_serial_number(). */
const char *csi_disk_vendor(struct csi_arena *arena, const uint8_t *bytes, size_t size_bytes);
const char *csi_disk_product(struct csi_arena *arena, const uint8_t *bytes, size_t size_bytes);

/* How the device is attached, as its STORAGE_DEVICE_DESCRIPTOR says: a STORAGE_BUS_TYPE, CSI_BUS_UNKNOWN when
 * it does not say. */
uint32_t csi_disk_bus_type(const uint8_t *bytes, size_t size_bytes);

/* "SCSI" and so on; "" for one that is not known. */
const char *csi_bus_type_name(uint32_t bus_type);

#endif
