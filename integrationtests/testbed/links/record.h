/* SPDX-License-Identifier: Apache-2.0
 *
 * Which entries of the file system are emulated reparse points: one small file for each in C:\testbed\links,
 * so that all processes see the same, and a process that comes later sees it too.
 *
 * A record is found by the number of the entry's file and by the time of its last write, which tells the
 * entry from a later one that was given the same number. What removes an entry behind the emulation's back
 * leaves a file that means nothing any more. What writes into an emulated link behind its back turns it
 * into what it is without the emulation: a directory, or a file.
 */
#ifndef CSI_TESTBED_LINKS_RECORD_H
#define CSI_TESTBED_LINKS_RECORD_H

#include "win32/nt.h"

enum {
  LINKS_REPARSE_BYTES_MAX = 16384, /* as on NTFS */
};

#define LINKS_DIRECTORY_W L"C:\\testbed\\links"

#define LINKS_STATUS_NOT_A_REPARSE_POINT ((NTSTATUS)0xC0000275)

/* A REPARSE_DATA_BUFFER. */
struct links_record {
  size_t size_bytes;
  uint8_t bytes[LINKS_REPARSE_BYTES_MAX];
};

/* entry: an open handle that may read attributes. All return LINKS_STATUS_NOT_A_REPARSE_POINT when there is
 * no record of it, and STATUS_UNEXPECTED_IO_ERROR when the records are out of order. */
NTSTATUS links_record_read(HANDLE entry, struct links_record *record_out);
NTSTATUS links_record_read_tag(HANDLE entry, ULONG *tag_out);
NTSTATUS links_record_delete(HANDLE entry);

/* Makes or replaces the record; all at once, so that nobody ever reads half of it. size_bytes: at most
 * LINKS_REPARSE_BYTES_MAX. */
NTSTATUS links_record_write(HANDLE entry, const uint8_t *bytes, size_t size_bytes);

#endif
