/* SPDX-License-Identifier: Apache-2.0
 *
 * The other calls of csi_nt, with emulated reparse points. What the emulation would have to alter and does
 * not know how to gives STATUS_NOT_IMPLEMENTED, so that nobody is told a half-truth.
 */
#ifndef CSI_TESTBED_LINKS_CALLS_H
#define CSI_TESTBED_LINKS_CALLS_H

#include "win32/nt.h"

/* FSCTL_SET_, _GET_ and _DELETE_REPARSE_POINT; others go to the system. */
NTSTATUS NTAPI links_fs_control_file(HANDLE handle, HANDLE event, PIO_APC_ROUTINE apc, PVOID apc_context,
                                     PIO_STATUS_BLOCK io, ULONG code, PVOID in, ULONG in_bytes, PVOID out,
                                     ULONG out_bytes);

/* FileDirectoryInformation only. */
NTSTATUS NTAPI links_query_directory_file(HANDLE handle, HANDLE event, PIO_APC_ROUTINE apc, PVOID apc_context,
                                          PIO_STATUS_BLOCK io, PVOID buffer, ULONG buffer_bytes,
                                          FILE_INFORMATION_CLASS information_class, BOOLEAN single_entry,
                                          PUNICODE_STRING pattern, BOOLEAN restart);

/* Adds attribute and tag of a reparse point, and the serial number of an emulated volume. */
NTSTATUS NTAPI links_query_information_file(HANDLE handle, PIO_STATUS_BLOCK io, PVOID buffer,
                                            ULONG buffer_bytes, FILE_INFORMATION_CLASS information_class);
NTSTATUS NTAPI links_query_volume_information_file(HANDLE handle, PIO_STATUS_BLOCK io, PVOID buffer,
                                                   ULONG buffer_bytes,
                                                   FS_INFORMATION_CLASS information_class);

/* The entry whose removal is asked for is a reparse point no more. */
NTSTATUS NTAPI links_set_information_file(HANDLE handle, PIO_STATUS_BLOCK io, PVOID buffer,
                                          ULONG buffer_bytes, FILE_INFORMATION_CLASS information_class);

#endif
