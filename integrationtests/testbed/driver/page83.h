/* SPDX-License-Identifier: Apache-2.0
 *
 * The identifiers of a disk from SCSI's page 83, as STORAGE_DEVICE_ID_DESCRIPTOR carries them, the broken
 * ones of bad devices included.
 */
#ifndef VDISK_PAGE83_H
#define VDISK_PAGE83_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { VDISK_PAGE83_IDS_MAX = 8, VDISK_PAGE83_ID_LIMIT_BYTES = 64 };

enum vdisk_page83_mode {
  VDISK_PAGE83_NORMAL,
  VDISK_PAGE83_UNSUPPORTED,    /* the query fails */
  VDISK_PAGE83_MALFORMED_NEXT, /* an offset to the next identifier leads out of the descriptor */
  VDISK_PAGE83_OVERSIZED,      /* the descriptor says it is of 256 MiB */
};

struct vdisk_page83_id {
  uint8_t code_set; /* STORAGE_IDENTIFIER_CODE_SET: 1 binary, 2 ASCII, 3 UTF-8 */
  uint8_t type;     /* STORAGE_IDENTIFIER_TYPE */
  uint8_t association;
  uint8_t length_bytes;
  uint8_t bytes[VDISK_PAGE83_ID_LIMIT_BYTES];
};

struct vdisk_page83 {
  enum vdisk_page83_mode mode;
  uint32_t count;
  struct vdisk_page83_id ids[VDISK_PAGE83_IDS_MAX];
};

/* Reads SPEC[,SPEC...], `none`, `unsupported`, `malformed-next` or `oversized`. A SPEC is ascii:TEXT,
 * utf8:TEXT or hex:DIGITS, with @association and /type behind it (0 and 1, vendor specific, by default). The
 * string is changed. False when it is not understood. */
bool vdisk_page83_parse(struct vdisk_page83 *page, char *spec);

enum { VDISK_PAGE83_DESCRIPTOR_LIMIT_BYTES = 12 + VDISK_PAGE83_IDS_MAX * (16 + VDISK_PAGE83_ID_LIMIT_BYTES) };

/* Writes the descriptor and returns its length in bytes. */
size_t vdisk_page83_descriptor(const struct vdisk_page83 *page,
                               uint8_t descriptor_out[VDISK_PAGE83_DESCRIPTOR_LIMIT_BYTES]);

#endif
