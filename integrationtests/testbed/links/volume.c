/* SPDX-License-Identifier: Apache-2.0 */
#include "volume.h"

#include <stdio.h>
#include <string.h>
#include <wchar.h>

#include "win32/handle.h"

enum {
  NT_PREFIX_UNITS = 4, /* `\??\` */
  DRIVE_UNITS = NT_PREFIX_UNITS + 2,
  BRACE_AT = 6,                                    /* in `Volume{guid}` */
  GUID_UNITS = LINKS_VOLUME_NAME_UNITS - BRACE_AT, /* `{guid}` */
  LETTER_AT = LINKS_VOLUME_NAME_UNITS - 3,         /* where Wine's own ids have the drive letter, in hex */
  TARGET_UNITS = 512,
  LABEL_BYTES = 256,
};

#define VOLUMES_W L"\\??\\C:\\testbed\\volumes\\"
#define VOLUMES_UNITS (sizeof VOLUMES_W / sizeof(wchar_t) - 1)

static bool is_hex(wchar_t unit) {
  return (unit >= '0' && unit <= '9') || (unit >= 'a' && unit <= 'f') || (unit >= 'A' && unit <= 'F');
}

static bool is_braced_guid(const wchar_t *text_w, size_t units) {
  static const wchar_t shape_w[] = L"{hhhhhhhh-hhhh-hhhh-hhhh-hhhhhhhhhhhh}";
  if (units < GUID_UNITS) return false;
  for (size_t i = 0; i < GUID_UNITS; i++)
    if (shape_w[i] == 'h' ? !is_hex(text_w[i]) : text_w[i] != shape_w[i]) return false;
  return true;
}

bool links_is_volume_name(const wchar_t *text_w, size_t units) {
  return units >= LINKS_VOLUME_NAME_UNITS && _wcsnicmp(text_w, L"Volume{", BRACE_AT + 1) == 0 &&
         is_braced_guid(text_w + BRACE_AT, units - BRACE_AT);
}

/* The drive that one of Wine's own volumes is, else 0. */
static wchar_t drive_of(const wchar_t *name_w) {
  if (wcsncmp(name_w + BRACE_AT, L"{00000000-0000-0000-0000-0000000000", LETTER_AT - BRACE_AT) != 0) return 0;
  wchar_t letter = (wchar_t)wcstoul(name_w + LETTER_AT, NULL, 16);
  return letter >= 'A' && letter <= 'Z' ? letter : 0;
}

static bool has_device(const wchar_t *name_w) {
  wchar_t target_w[TARGET_UNITS];
  return QueryDosDeviceW(name_w, target_w, TARGET_UNITS) != 0;
}

bool links_have_driver(void) {
  return has_device(L"VdiskControl");
}

/* Success when there is a file system on the volume. device_w: `Volume{guid}`. */
static NTSTATUS check_file_system(const wchar_t *device_w) {
  wchar_t root_w[LINKS_VOLUME_PATH_UNITS];
  swprintf(root_w, LINKS_VOLUME_PATH_UNITS, L"\\??\\%ls\\", device_w);
  UNICODE_STRING name = csi_unicode_string(root_w, wcslen(root_w));
  OBJECT_ATTRIBUTES attributes;
  InitializeObjectAttributes(&attributes, &name, OBJ_CASE_INSENSITIVE, NULL, NULL);
  IO_STATUS_BLOCK io;
  CSI_SCOPED_HANDLE root = NULL;
  NTSTATUS status =
      NtCreateFile(&root, FILE_READ_ATTRIBUTES | SYNCHRONIZE, &attributes, &io, NULL, 0,
                   FILE_SHARE_READ | FILE_SHARE_WRITE, FILE_OPEN, FILE_SYNCHRONOUS_IO_NONALERT, NULL, 0);
  union {
    FILE_FS_VOLUME_INFORMATION volume;
    uint8_t bytes[sizeof(FILE_FS_VOLUME_INFORMATION) + LABEL_BYTES];
  } buffer;
  if (!NT_SUCCESS(status)) return status;
  return NtQueryVolumeInformationFile(root, &io, &buffer, sizeof buffer, FileFsVolumeInformation);
}

static bool is_there(const wchar_t *path_w) {
  return GetFileAttributesW(path_w) != INVALID_FILE_ATTRIBUTES;
}

static NTSTATUS make_directory(const wchar_t *device_w, const wchar_t *path_w) {
  NTSTATUS status = check_file_system(device_w);
  if (!NT_SUCCESS(status)) return status;
  CreateDirectoryW(L"C:\\testbed", NULL);
  CreateDirectoryW(L"C:\\testbed\\volumes", NULL);
  bool made = CreateDirectoryW(path_w, NULL) || GetLastError() == ERROR_ALREADY_EXISTS;
  return made ? CSI_STATUS_SUCCESS : LINKS_STATUS_NO_SUCH_VOLUME;
}

NTSTATUS links_volume_directory(const wchar_t *name_w, wchar_t path_out[LINKS_VOLUME_PATH_UNITS]) {
  wchar_t drive = drive_of(name_w);
  if (drive != 0) {
    swprintf(path_out, LINKS_VOLUME_PATH_UNITS, L"\\??\\%lc:", drive);
    return CSI_STATUS_SUCCESS;
  }
  swprintf(path_out, LINKS_VOLUME_PATH_UNITS, VOLUMES_W L"%.*ls", GUID_UNITS, name_w + BRACE_AT);
  wchar_t device_w[LINKS_VOLUME_NAME_UNITS + 1] = {0};
  wmemcpy(device_w, name_w, LINKS_VOLUME_NAME_UNITS);
  bool known = is_there(path_out + NT_PREFIX_UNITS), has = has_device(device_w);
  if (known && (has || !links_have_driver())) return CSI_STATUS_SUCCESS;
  return has ? make_directory(device_w, path_out + NT_PREFIX_UNITS) : LINKS_STATUS_NO_SUCH_VOLUME;
}

/* True for a path in a directory that stands for a volume. */
static bool is_emulated(const wchar_t *path_w, size_t units) {
  return units >= VOLUMES_UNITS + GUID_UNITS && _wcsnicmp(path_w, VOLUMES_W, VOLUMES_UNITS) == 0 &&
         is_braced_guid(path_w + VOLUMES_UNITS, units - VOLUMES_UNITS);
}

size_t links_volume_root_units(const wchar_t *path_w, size_t units) {
  if (is_emulated(path_w, units)) return VOLUMES_UNITS + GUID_UNITS;
  return units < DRIVE_UNITS ? units : DRIVE_UNITS;
}

ULONG links_volume_serial(const wchar_t *path_w, size_t units) {
  if (!is_emulated(path_w, units)) return 0;
  ULONG hash = 2166136261; /* FNV-1a */
  for (size_t i = 0; i < GUID_UNITS; i++)
    hash = (hash ^ (ULONG)towlower(path_w[VOLUMES_UNITS + i])) * 16777619;
  return hash | 1;
}
