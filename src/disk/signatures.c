/* SPDX-License-Identifier: Apache-2.0 */
#include "disk/signatures.h"

#include <string.h>

enum {
  SECTOR_BYTES = 512,
  BOOT_MARK_AT = 510, /* 55 AA */
};

struct signature {
  size_t offset_bytes;
  const char *magic;
  size_t magic_bytes;
  const char *name;
  bool is_table;
};

#define SIGNATURE(offset, magic, name)                                                                       \
  { offset, magic, sizeof(magic) - 1, name, false }
#define TABLE(offset, magic, name)                                                                           \
  { offset, magic, sizeof(magic) - 1, name, true }

/* The first that fits wins: what is told by more bytes comes first. Tables come last, as they outlive what
 * was made over them. */
static const struct signature signatures[] = {
    SIGNATURE(3, "-FVE-FS-", "BitLocker"),
    SIGNATURE(3, "MSWIN4.1", "BitLocker To Go or FAT"),
    SIGNATURE(3, "NTFS    ", "NTFS"),
    SIGNATURE(3, "ReFS\0\0\0\0", "ReFS"),
    SIGNATURE(3, "EXFAT   ", "exFAT"),
    SIGNATURE(82, "FAT32   ", "FAT32"),
    SIGNATURE(54, "FAT16   ", "FAT16"),
    SIGNATURE(54, "FAT12   ", "FAT12"),
    SIGNATURE(0, "bluestore block device", "Ceph BlueStore"),
    SIGNATURE(0xC00, "PRIVHEAD", "a dynamic disk"),
    SIGNATURE(32, "ORCLDISK", "Oracle ASM"),
    SIGNATURE(0, "LUKS\xba\xbe", "LUKS"),
    SIGNATURE(0, "SPACEDB ", "Storage Spaces"),
    SIGNATURE(0, "XFSB", "XFS"),
    SIGNATURE(0, "hsqs", "squashfs"),
    SIGNATURE(32, "NXSB", "APFS"),
    SIGNATURE(0, "LABELONE", "LVM"),
    SIGNATURE(512, "LABELONE", "LVM"),
    SIGNATURE(1024, "LABELONE", "LVM"),
    SIGNATURE(1536, "LABELONE", "LVM"),
    SIGNATURE(4086, "SWAPSPACE2", "Linux swap"),
    SIGNATURE(4086, "SWAP-SPACE", "Linux swap"),
    SIGNATURE(65526, "SWAPSPACE2", "Linux swap"),
    SIGNATURE(0x10040, "_BHRfS_M", "btrfs"),
    SIGNATURE(0x10034, "ReIsEr", "ReiserFS"),
    SIGNATURE(0x10000, "\x01\x16\x19\x70", "GFS2"),
    SIGNATURE(0x400, "OCFSV2", "OCFS2"),
    SIGNATURE(0x800, "OCFSV2", "OCFS2"),
    SIGNATURE(0x1000, "OCFSV2", "OCFS2"),
    SIGNATURE(0x2000, "OCFSV2", "OCFS2"),
    SIGNATURE(0x8000, "JFS1", "JFS"),
    SIGNATURE(0x8001, "CD001", "ISO 9660"),
    SIGNATURE(0x8001, "BEA01", "UDF"),
    SIGNATURE(4120, "\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81", "bcache"),
    SIGNATURE(4096, "\xfc\x4e\x2b\xa9", "Linux software RAID"),
    SIGNATURE(0, "\xfc\x4e\x2b\xa9", "Linux software RAID"),
    SIGNATURE(1024, "\x10\x20\xf5\xf2", "F2FS"),
    SIGNATURE(1024, "H+\0\4", "HFS Plus"),
    SIGNATURE(1024, "HX\0\5", "HFS Plus"),
    SIGNATURE(1080, "\x53\xef", "ext2, ext3 or ext4"),
    TABLE(512, "EFI PART", "a partition table"),
    TABLE(4096, "EFI PART", "a partition table"),
    TABLE(BOOT_MARK_AT, "\x55\xaa", "a boot sector or partition table"),
};

/* Relative to the start of a sector among the last ones. */
static const struct signature end_signatures[] = {
    SIGNATURE(3, "-FVE-FS-", "BitLocker"),     SIGNATURE(3, "NTFS    ", "NTFS"),
    SIGNATURE(3, "ReFS\0\0\0\0", "ReFS"),      SIGNATURE(0, "PRIVHEAD", "a dynamic disk"),
    TABLE(0, "EFI PART", "a partition table"), SIGNATURE(0, "\xfc\x4e\x2b\xa9", "Linux software RAID"),
};

static bool fits(const struct signature *signature, const uint8_t *bytes, size_t size_bytes) {
  return size_bytes >= signature->offset_bytes + signature->magic_bytes &&
         memcmp(bytes + signature->offset_bytes, signature->magic, signature->magic_bytes) == 0;
}

static struct csi_contents found(const struct signature *signature, size_t at) {
  return (struct csi_contents){
      .is_table = signature->is_table, .name = signature->name, .offset_bytes = at + signature->offset_bytes};
}

static size_t leading_zeros(const uint8_t *bytes, size_t size_bytes) {
  size_t zeros = 0;
  while (zeros < size_bytes && bytes[zeros] == 0)
    zeros++;
  return zeros;
}

struct csi_contents csi_contents_recognise(const uint8_t *bytes, size_t size_bytes) {
  size_t zeros = leading_zeros(bytes, size_bytes);
  if (zeros == size_bytes) return (struct csi_contents){.is_empty = true};
  for (size_t i = 0; i < sizeof signatures / sizeof *signatures; i++)
    if (fits(&signatures[i], bytes, size_bytes)) return found(&signatures[i], 0);
  return (struct csi_contents){.offset_bytes = zeros};
}

struct csi_contents csi_contents_recognise_end(const uint8_t *bytes, size_t size_bytes) {
  for (size_t at = 0; at + SECTOR_BYTES <= size_bytes; at += SECTOR_BYTES)
    for (size_t i = 0; i < sizeof end_signatures / sizeof *end_signatures; i++)
      if (fits(&end_signatures[i], bytes + at, size_bytes - at)) return found(&end_signatures[i], at);
  return (struct csi_contents){.is_empty = true};
}
