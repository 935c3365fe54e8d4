/* SPDX-License-Identifier: Apache-2.0
 *
 * The native calls below Win32 that this project uses, as far as mingw's headers lack them, and Win32
 * numbers for what they return. All are in ntdll since long before the oldest Windows supported here, so
 * they are linked; what a supported Windows may lack would have to be looked up at run time.
 */
#ifndef CSI_WIN32_NT_H
#define CSI_WIN32_NT_H

#include <windows.h>

#include <stdbool.h>
#include <stdint.h>
#include <winternl.h>

/* UNICODE_STRING counts bytes in 16 bits. */
enum {
  CSI_NT_PATH_UNITS_MAX = 32766,
};

#define CSI_STATUS_SUCCESS ((NTSTATUS)0)
#define CSI_STATUS_BUFFER_OVERFLOW ((NTSTATUS)0x80000005)
#define CSI_STATUS_NO_MORE_FILES ((NTSTATUS)0x80000006)
#define CSI_STATUS_NOT_IMPLEMENTED ((NTSTATUS)0xC0000002)
#define CSI_STATUS_INVALID_INFO_CLASS ((NTSTATUS)0xC0000003)
#define CSI_STATUS_INVALID_PARAMETER ((NTSTATUS)0xC000000D)
#define CSI_STATUS_NO_SUCH_FILE ((NTSTATUS)0xC000000F)
#define CSI_STATUS_INVALID_DEVICE_REQUEST ((NTSTATUS)0xC0000010)
#define CSI_STATUS_DELETE_PENDING ((NTSTATUS)0xC0000056)
#define CSI_STATUS_NOT_SUPPORTED ((NTSTATUS)0xC00000BB)
#define CSI_STATUS_CANNOT_DELETE ((NTSTATUS)0xC0000121)

/* FILE_INFORMATION_CLASS. */
enum {
  CSI_FILE_ID_INFORMATION = 59,             /* FILE_ID_INFO; Windows 8 and later */
  CSI_FILE_DISPOSITION_INFORMATION_EX = 64, /* Windows 10 1607 and later */
};

enum {
  CSI_FILE_DISPOSITION_DELETE = 0x1,
  CSI_FILE_DISPOSITION_POSIX_SEMANTICS = 0x2,
  CSI_FILE_DISPOSITION_IGNORE_READONLY = 0x10, /* Windows 10 1809 */
};

NTSTATUS NTAPI NtQueryDirectoryFile(HANDLE file, HANDLE event, PIO_APC_ROUTINE apc, PVOID apc_context,
                                    PIO_STATUS_BLOCK io, PVOID buffer, ULONG buffer_bytes,
                                    FILE_INFORMATION_CLASS information_class, BOOLEAN single_entry,
                                    PUNICODE_STRING pattern, BOOLEAN restart);

/* The Win32 number for status, as RtlNtStatusToDosError has it, but ERROR_DELETE_PENDING where that says
 * ERROR_ACCESS_DENIED: the difference decides between an entry that is going away and one that stays.
 * 0 for success, warnings included. */
uint32_t csi_win32_of_ntstatus(NTSTATUS status);

/* Makes the NT name of an absolute Win32 path: `\??\C:\...` of `C:\...` or `\\?\C:\...`. path is UTF-8.
 * Returns NULL, with the last error set, when it is too long, not UTF-8, or memory is short. Free it with
 * csi_nt_path_free(). */
wchar_t *csi_nt_path_new(const char *path);
void csi_nt_path_free(wchar_t **path_w);

#define CSI_SCOPED_NT_PATH __attribute__((cleanup(csi_nt_path_free))) wchar_t *

/* A UNICODE_STRING over text_w, which it borrows; units: at most CSI_NT_PATH_UNITS_MAX. */
UNICODE_STRING csi_unicode_string(const wchar_t *text_w, size_t units);

#endif
