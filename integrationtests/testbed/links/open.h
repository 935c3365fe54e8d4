/* SPDX-License-Identifier: Apache-2.0
 *
 * NtCreateFile() that follows emulated links, or does not, as it is asked.
 */
#ifndef CSI_TESTBED_LINKS_OPEN_H
#define CSI_TESTBED_LINKS_OPEN_H

#include "win32/nt.h"

#define LINKS_STATUS_NOT_HANDLED ((NTSTATUS)0xC0000279)      /* a reparse point that is no link */
#define LINKS_STATUS_NOT_RESOLVED ((NTSTATUS)0xC0000280)     /* too many links */
#define LINKS_STATUS_LINK_ENCOUNTERED ((NTSTATUS)0xC000050B) /* OBJ_DONT_REPARSE */

/* Links are followed in the middle of a name always, at its end without FILE_OPEN_REPARSE_POINT, and never
 * with OBJ_DONT_REPARSE in the attributes. Names of anything but files go to the system as they are. */
NTSTATUS NTAPI links_create_file(PHANDLE handle_out, ACCESS_MASK mask, POBJECT_ATTRIBUTES attributes,
                                 PIO_STATUS_BLOCK io, PLARGE_INTEGER allocation_bytes, ULONG file_attributes,
                                 ULONG share, ULONG disposition, ULONG options, PVOID ea, ULONG ea_bytes);

enum {
  LINKS_NAME_BYTES = sizeof(UNICODE_STRING) + 65536,
};

/* The NT path of what is behind a handle. buffer: LINKS_NAME_BYTES of it, well aligned. */
NTSTATUS links_query_name(HANDLE handle, void *buffer, UNICODE_STRING *name_out);

#endif
