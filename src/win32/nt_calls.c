/* SPDX-License-Identifier: Apache-2.0
 *
 * Nothing else may be defined for others in this file: see the header. How long each call takes is told to
 * base/call_timing.h; the parameters are those of the documented calls.
 */
#include "win32/nt_calls.h"

#include "base/call_timing.h"

static NTSTATUS tell(const char *call, int64_t begin_ns, NTSTATUS status) {
  csi_call_timing_end(call, begin_ns, NT_SUCCESS(status));
  return status;
}

static NTSTATUS NTAPI create_file(PHANDLE file, ACCESS_MASK access, POBJECT_ATTRIBUTES object,
                                  PIO_STATUS_BLOCK io, PLARGE_INTEGER size_bytes, ULONG attributes,
                                  ULONG share, ULONG disposition, ULONG options, PVOID extended,
                                  ULONG extended_bytes) {
  int64_t begin_ns = csi_call_timing_begin();
  return tell("NtCreateFile", begin_ns,
              NtCreateFile(file, access, object, io, size_bytes, attributes, share, disposition, options,
                           extended, extended_bytes));
}

static NTSTATUS NTAPI fs_control_file(HANDLE file, HANDLE event, PIO_APC_ROUTINE apc, PVOID apc_context,
                                      PIO_STATUS_BLOCK io, ULONG code, PVOID in, ULONG in_bytes, PVOID out,
                                      ULONG out_bytes) {
  int64_t begin_ns = csi_call_timing_begin();
  return tell("NtFsControlFile", begin_ns,
              NtFsControlFile(file, event, apc, apc_context, io, code, in, in_bytes, out, out_bytes));
}

static NTSTATUS NTAPI query_directory_file(HANDLE file, HANDLE event, PIO_APC_ROUTINE apc, PVOID apc_context,
                                           PIO_STATUS_BLOCK io, PVOID buffer, ULONG buffer_bytes,
                                           FILE_INFORMATION_CLASS information_class, BOOLEAN single_entry,
                                           PUNICODE_STRING pattern, BOOLEAN restart) {
  int64_t begin_ns = csi_call_timing_begin();
  NTSTATUS status = NtQueryDirectoryFile(file, event, apc, apc_context, io, buffer, buffer_bytes,
                                         information_class, single_entry, pattern, restart);
  /* The end of a listing is no failure. */
  csi_call_timing_end("NtQueryDirectoryFile", begin_ns,
                      NT_SUCCESS(status) || status == CSI_STATUS_NO_MORE_FILES);
  return status;
}

static NTSTATUS NTAPI query_information_file(HANDLE file, PIO_STATUS_BLOCK io, PVOID buffer,
                                             ULONG buffer_bytes, FILE_INFORMATION_CLASS information_class) {
  int64_t begin_ns = csi_call_timing_begin();
  return tell("NtQueryInformationFile", begin_ns,
              NtQueryInformationFile(file, io, buffer, buffer_bytes, information_class));
}

static NTSTATUS NTAPI query_volume_information_file(HANDLE file, PIO_STATUS_BLOCK io, PVOID buffer,
                                                    ULONG buffer_bytes,
                                                    FS_INFORMATION_CLASS information_class) {
  int64_t begin_ns = csi_call_timing_begin();
  return tell("NtQueryVolumeInformationFile", begin_ns,
              NtQueryVolumeInformationFile(file, io, buffer, buffer_bytes, information_class));
}

static NTSTATUS NTAPI set_information_file(HANDLE file, PIO_STATUS_BLOCK io, PVOID buffer, ULONG buffer_bytes,
                                           FILE_INFORMATION_CLASS information_class) {
  int64_t begin_ns = csi_call_timing_begin();
  return tell("NtSetInformationFile", begin_ns,
              NtSetInformationFile(file, io, buffer, buffer_bytes, information_class));
}

const struct csi_nt_calls csi_nt = {
    .create_file = create_file,
    .fs_control_file = fs_control_file,
    .query_directory_file = query_directory_file,
    .query_information_file = query_information_file,
    .query_volume_information_file = query_volume_information_file,
    .set_information_file = set_information_file,
};
