/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether the beginning of a volume, or of a disk, holds anything, and what: asked before a volume that
 * Windows does not know is called unformatted, since whoever asks will format it, and before a raw disk is
 * partitioned. Portable and pure.
 */
#ifndef CSI_DISK_SIGNATURES_H
#define CSI_DISK_SIGNATURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  /* How much of the beginning is looked at: the signatures farthest behind, of btrfs and ReiserFS, are just
   * after the first 64 KiB. */
  CSI_CONTENTS_BYTES = 128 * 1024,
  /* How much of the end: NTFS keeps a copy of its boot sector there, Linux software RAID its description. */
  CSI_CONTENTS_END_BYTES = 64 * 1024,
};

struct csi_contents {
  bool is_empty;       /* all zero */
  bool is_table;       /* a partition table or boot sector, and nothing that has another name */
  const char *name;    /* what the data are, for people; NULL when nobody knows */
  size_t offset_bytes; /* of the signature, or of the first byte that is not zero */
};

/* What is said where data are in the way. */
#define CSI_CONTENTS_ADVICE                                                                                  \
  "would destroy it. If that is wanted, clear the disk first, for example with diskpart clean; "             \
  "Clear-Disk -RemoveData refuses a disk that is not initialised"

/* Looks at the first bytes of a volume or disk; the more, up to CSI_CONTENTS_BYTES, the better. */
struct csi_contents csi_contents_recognise(const uint8_t *bytes, size_t size_bytes);

/* Looks at the last bytes of a volume. What is there counts only if it has a name: is_empty is true and name
 * NULL otherwise, as data at the end are often left over from something smaller. */
struct csi_contents csi_contents_recognise_end(const uint8_t *bytes, size_t size_bytes);

#endif
