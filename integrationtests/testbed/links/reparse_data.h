/* SPDX-License-Identifier: Apache-2.0
 *
 * What NTFS demands of a REPARSE_DATA_BUFFER that is to be stored, and where a stored link leads. Written
 * without the code under test, so that the two check each other.
 */
#ifndef CSI_TESTBED_LINKS_REPARSE_DATA_H
#define CSI_TESTBED_LINKS_REPARSE_DATA_H

#include <stddef.h>

#include "win32/nt.h"

enum {
  LINKS_HEADER_BYTES = 8,
};

#define LINKS_TAG_MOUNT_POINT 0xA0000003UL
#define LINKS_TAG_SYMLINK 0xA000000CUL

#define LINKS_STATUS_DATA_INVALID ((NTSTATUS)0xC0000278)
#define LINKS_STATUS_TAG_INVALID ((NTSTATUS)0xC0000276)
#define LINKS_STATUS_TAG_MISMATCH ((NTSTATUS)0xC0000277)

struct links_target {
  const wchar_t *name_w; /* into the buffer */
  size_t units;
  bool relative; /* to the link's directory, or to its volume's root when it begins with a backslash */
};

ULONG links_tag_of(const uint8_t *bytes);

/* Checks a buffer for FSCTL_SET_REPARSE_POINT. */
NTSTATUS links_check_data(const uint8_t *bytes, size_t size_bytes);
/* Checks a buffer for FSCTL_DELETE_REPARSE_POINT: a header without data. */
NTSTATUS links_check_header(const uint8_t *bytes, size_t size_bytes);

/* Finds where data that passed links_check_data() leads; false when it is no link. */
bool links_find_target(const uint8_t *bytes, struct links_target *target_out);

#endif
