/* SPDX-License-Identifier: Apache-2.0 */
#include "filesystem/host_win32.h"

#include <windows.h>

#include <stdatomic.h>
#include <string.h>
#include <winioctl.h>

#include "base/log.h"
#include "filesystem/reparse.h"
#include "win32/device.h"
#include "win32/handle.h"
#include "win32/mount_manager.h"
#include "win32/nt.h"
#include "win32/nt_calls.h"

enum {
  SHARE_ALL = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
  ENTRY_OPTIONS = FILE_SYNCHRONOUS_IO_NONALERT | FILE_OPEN_FOR_BACKUP_INTENT,
  PREFIX_UNITS = 4,          /* `\\?\` and `\??\` */
  FOLDER_UNITS = 1024,       /* longest path of a mounted folder that the mount manager is told of */
  LINK_ARENA_BYTES = 262144, /* for reading one reparse point */
};

/* A watch for steps that wait for other devices. They know no call whose deadline could count. */
static void watch_begin(struct csi_device_watch *watch) {
  csi_device_watch_begin(&(struct csi_ctx){.deadline_ns = CSI_NO_DEADLINE}, watch, CSI_DEVICE_CALL_MS, NULL);
}

/* Says what has become of the step: who had to be given up has timed out. */
static uint32_t watch_end(struct csi_device_watch *watch, uint32_t error) {
  bool gave_up = csi_device_watch_end(watch, error == ERROR_SUCCESS);
  return gave_up && error == ERROR_OPERATION_ABORTED ? WAIT_TIMEOUT : error;
}

static ACCESS_MASK access_mask(unsigned access) {
  ACCESS_MASK mask = FILE_READ_ATTRIBUTES | SYNCHRONIZE;
  if ((access & CSI_ACCESS_LIST) != 0) mask |= FILE_LIST_DIRECTORY;
  if ((access & CSI_ACCESS_REMOVE) != 0) mask |= DELETE | FILE_WRITE_ATTRIBUTES;
  return mask;
}

static uint32_t open_near_path(const char *path, unsigned access, void **handle_out) {
  CSI_SCOPED_NT_PATH path_w = csi_nt_path_new(path);
  if (path_w == NULL) return GetLastError();
  UNICODE_STRING name = csi_unicode_string(path_w, wcslen(path_w));
  OBJECT_ATTRIBUTES attributes;
  InitializeObjectAttributes(&attributes, &name, OBJ_CASE_INSENSITIVE, NULL, NULL);
  IO_STATUS_BLOCK io;
  /* Sharing all, and with no right that share modes are about unless it is to be listed, the handle meets
   * no sharing violation, whatever others have the directory open for. */
  NTSTATUS status = csi_nt.create_file(handle_out, access_mask(access), &attributes, &io, NULL, 0, SHARE_ALL,
                                       FILE_OPEN, ENTRY_OPTIONS | FILE_DIRECTORY_FILE, NULL, 0);
  return csi_win32_of_ntstatus(status);
}

static uint32_t open_path(void *self, const char *path, unsigned access, void **handle_out) {
  (void)self;
  if ((access & CSI_ACCESS_FAR) == 0) return open_near_path(path, access, handle_out);
  struct csi_device_watch watch;
  watch_begin(&watch);
  return watch_end(&watch, open_near_path(path, access, handle_out));
}

/* True for what is one component, and neither this directory nor the one above: listings come from disks
 * that may lie. */
static bool is_component(struct csi_name name) {
  if (name.count == 0 || name.count > CSI_NAME_UNITS_MAX) return false;
  for (size_t i = 0; i < name.count; i++)
    if (name.units[i] == '\\' || name.units[i] == '/') return false;
  return name.units[0] != '.' || name.count > 2 || (name.count == 2 && name.units[1] != '.');
}

/* Opens or makes `name` in the directory behind parent, as itself. One component is all the name has, so
 * nothing can be followed on the way; OBJ_DONT_REPARSE is there for a parent that was turned into a link
 * after it had been opened. */
static NTSTATUS open_in(HANDLE parent, struct csi_name name, ACCESS_MASK mask, ULONG disposition,
                        ULONG options, HANDLE *handle_out) {
  UNICODE_STRING string = csi_unicode_string(name.units, name.count);
  OBJECT_ATTRIBUTES attributes;
  InitializeObjectAttributes(&attributes, &string, OBJ_CASE_INSENSITIVE | OBJ_DONT_REPARSE, parent, NULL);
  IO_STATUS_BLOCK io;
  return csi_nt.create_file(handle_out, mask, &attributes, &io, NULL, FILE_ATTRIBUTE_NORMAL, SHARE_ALL,
                            disposition, options | ENTRY_OPTIONS | FILE_OPEN_REPARSE_POINT, NULL, 0);
}

static uint32_t read_entry(HANDLE handle, struct csi_entry *entry_out) {
  FILE_ATTRIBUTE_TAG_INFORMATION information;
  IO_STATUS_BLOCK io;
  NTSTATUS status = csi_nt.query_information_file(handle, &io, &information, sizeof information,
                                                  FileAttributeTagInformation);
  if (!NT_SUCCESS(status)) return csi_win32_of_ntstatus(status);
  entry_out->attributes = information.FileAttributes;
  entry_out->tag =
      (information.FileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0 ? information.ReparseTag : 0;
  return ERROR_SUCCESS;
}

static uint32_t open_near_child(HANDLE parent, struct csi_name name, unsigned access, void **handle_out,
                                struct csi_entry *entry_out) {
  if (!is_component(name)) return ERROR_INVALID_NAME;
  CSI_SCOPED_HANDLE handle = NULL;
  NTSTATUS status = open_in(parent, name, access_mask(access), FILE_OPEN, 0, &handle);
  if (!NT_SUCCESS(status)) return csi_win32_of_ntstatus(status);
  uint32_t error = read_entry(handle, entry_out);
  if (error != ERROR_SUCCESS) return error;
  *handle_out = handle;
  handle = NULL;
  return ERROR_SUCCESS;
}

static uint32_t open_child(void *self, void *parent, struct csi_name name, unsigned access, void **handle_out,
                           struct csi_entry *entry_out) {
  (void)self;
  if ((access & CSI_ACCESS_FAR) == 0) return open_near_child(parent, name, access, handle_out, entry_out);
  struct csi_device_watch watch;
  watch_begin(&watch);
  return watch_end(&watch, open_near_child(parent, name, access, handle_out, entry_out));
}

static uint32_t find_child(void *self, void *parent, struct csi_name name) {
  (void)self;
  if (!is_component(name)) return ERROR_INVALID_NAME;
  CSI_SCOPED_HANDLE handle = NULL;
  return csi_win32_of_ntstatus(open_in(parent, name, access_mask(CSI_ACCESS_LOOK), FILE_OPEN, 0, &handle));
}

static uint32_t create_child(void *self, void *parent, struct csi_name name, bool directory, unsigned access,
                             void **handle_out) {
  (void)self;
  if (!is_component(name)) return ERROR_INVALID_NAME;
  NTSTATUS status = open_in(parent, name, access_mask(access) | FILE_WRITE_ATTRIBUTES, FILE_CREATE,
                            directory ? FILE_DIRECTORY_FILE : FILE_NON_DIRECTORY_FILE, handle_out);
  return csi_win32_of_ntstatus(status);
}

static bool is_dot_or_dot_dot(const FILE_DIRECTORY_INFORMATION *entry) {
  size_t units = entry->FileNameLength / sizeof(WCHAR);
  return entry->FileName[0] == '.' && (units == 1 || (units == 2 && entry->FileName[1] == '.'));
}

static uint32_t next_child(void *self, void *handle, bool restart, struct csi_child *child_out) {
  (void)self;
  union {
    FILE_DIRECTORY_INFORMATION entry;
    uint8_t bytes[sizeof(FILE_DIRECTORY_INFORMATION) + CSI_NAME_UNITS_MAX * sizeof(WCHAR)];
  } buffer;
  do {
    IO_STATUS_BLOCK io;
    NTSTATUS status = csi_nt.query_directory_file(handle, NULL, NULL, NULL, &io, &buffer, sizeof buffer,
                                                  FileDirectoryInformation, TRUE, NULL, restart);
    /* The second is what an empty listing says when it has just begun. */
    if (status == CSI_STATUS_NO_MORE_FILES || status == CSI_STATUS_NO_SUCH_FILE) return ERROR_NO_MORE_FILES;
    if (status == CSI_STATUS_BUFFER_OVERFLOW) return ERROR_INVALID_NAME;
    if (!NT_SUCCESS(status)) return csi_win32_of_ntstatus(status);
    restart = false;
  } while (is_dot_or_dot_dot(&buffer.entry));

  size_t units = buffer.entry.FileNameLength / sizeof(WCHAR);
  if (units > CSI_NAME_UNITS_MAX) return ERROR_INVALID_NAME;
  memcpy(child_out->name_w, buffer.entry.FileName, units * sizeof(WCHAR));
  child_out->name_w[units] = 0;
  child_out->name_units = units;
  child_out->attributes = buffer.entry.FileAttributes;
  return ERROR_SUCCESS;
}

static uint32_t read_reparse(void *self, void *handle, uint8_t *bytes, size_t capacity_bytes,
                             size_t *size_out) {
  (void)self;
  IO_STATUS_BLOCK io = {.Information = 0};
  NTSTATUS status = csi_nt.fs_control_file(handle, NULL, NULL, NULL, &io, FSCTL_GET_REPARSE_POINT, NULL, 0,
                                           bytes, (ULONG)capacity_bytes);
  *size_out = io.Information < capacity_bytes ? io.Information : capacity_bytes;
  return csi_win32_of_ntstatus(status);
}

/* UNVERIFIED ON WINDOWS: Wine has no reparse points. */
static uint32_t write_reparse(void *self, void *handle, const uint8_t *bytes, size_t size_bytes) {
  (void)self;
  IO_STATUS_BLOCK io;
  NTSTATUS status = csi_nt.fs_control_file(handle, NULL, NULL, NULL, &io, FSCTL_SET_REPARSE_POINT,
                                           (void *)bytes, (ULONG)size_bytes, NULL, 0);
  return csi_win32_of_ntstatus(status);
}

/* Takes effect at once, even if others have the entry open, and whether it is read-only or not. Not every
 * file system can do that, and neither can Wine 8.
 * UNVERIFIED ON WINDOWS: that FILE_WRITE_ATTRIBUTES is right enough to ignore read-only. */
static NTSTATUS remove_like_posix(HANDLE handle) {
  static atomic_bool unknown; /* to this system, as a whole */
  if (atomic_load_explicit(&unknown, memory_order_relaxed)) return CSI_STATUS_NOT_SUPPORTED;
  ULONG flags = CSI_FILE_DISPOSITION_DELETE | CSI_FILE_DISPOSITION_POSIX_SEMANTICS |
                CSI_FILE_DISPOSITION_IGNORE_READONLY;
  IO_STATUS_BLOCK io;
  NTSTATUS status = csi_nt.set_information_file(handle, &io, &flags, sizeof flags,
                                                (FILE_INFORMATION_CLASS)CSI_FILE_DISPOSITION_INFORMATION_EX);
  if (status == CSI_STATUS_INVALID_INFO_CLASS || status == CSI_STATUS_NOT_IMPLEMENTED) {
    atomic_store_explicit(&unknown, true, memory_order_relaxed);
    return CSI_STATUS_NOT_SUPPORTED;
  }
  bool unsupported = status == CSI_STATUS_INVALID_PARAMETER || status == CSI_STATUS_INVALID_DEVICE_REQUEST;
  return unsupported ? CSI_STATUS_NOT_SUPPORTED : status;
}

static NTSTATUS remove_on_close(HANDLE handle) {
  FILE_DISPOSITION_INFORMATION disposition = {.DoDeleteFile = TRUE};
  IO_STATUS_BLOCK io;
  return csi_nt.set_information_file(handle, &io, &disposition, sizeof disposition,
                                     FileDispositionInformation);
}

static NTSTATUS clear_read_only(HANDLE handle) {
  FILE_BASIC_INFORMATION basic;
  IO_STATUS_BLOCK io;
  NTSTATUS status = csi_nt.query_information_file(handle, &io, &basic, sizeof basic, FileBasicInformation);
  if (!NT_SUCCESS(status)) return status;
  /* 0 leaves the times and, in a basic information, also the attributes as they are. */
  ULONG attributes = basic.FileAttributes & ~(ULONG)FILE_ATTRIBUTE_READONLY;
  basic = (FILE_BASIC_INFORMATION){.FileAttributes = attributes == 0 ? FILE_ATTRIBUTE_NORMAL : attributes};
  return csi_nt.set_information_file(handle, &io, &basic, sizeof basic, FileBasicInformation);
}

static NTSTATUS remove_by_any_means(HANDLE handle) {
  NTSTATUS status = remove_like_posix(handle);
  if (status != CSI_STATUS_NOT_SUPPORTED) return status;
  status = remove_on_close(handle);
  if (status != CSI_STATUS_CANNOT_DELETE) return status;
  NTSTATUS cleared = clear_read_only(handle);
  return NT_SUCCESS(cleared) ? remove_on_close(handle) : status;
}

/* Finds out which volume is mounted on a folder: `\??\Volume{guid}`; NULL when that is none or cannot be
 * read. */
static wchar_t *read_mounted_volume(HANDLE handle) {
  uint8_t bytes[CSI_REPARSE_BYTES_MAX];
  size_t size_bytes;
  if (read_reparse(NULL, handle, bytes, sizeof bytes, &size_bytes) != ERROR_SUCCESS) return NULL;
  struct csi_ctx ctx = {.arena = csi_arena_new(LINK_ARENA_BYTES), .deadline_ns = CSI_NO_DEADLINE};
  if (ctx.arena == NULL) return NULL;
  struct csi_reparse link;
  wchar_t *volume_w = NULL;
  if (csi_reparse_parse(&ctx, bytes, size_bytes, &link) && csi_reparse_is_volume_root(&link))
    volume_w = csi_nt_path_new(link.target);
  csi_arena_free(ctx.arena);
  if (volume_w != NULL) volume_w[PREFIX_UNITS + wcscspn(volume_w + PREFIX_UNITS, L"\\")] = L'\0';
  return volume_w;
}

/* For tags that Microsoft gave out; those of others would need their GUID. */
static NTSTATUS delete_reparse_point(HANDLE handle, ULONG tag) {
  struct {
    ULONG tag;
    USHORT data_bytes;
    USHORT reserved;
  } header = {.tag = tag};
  IO_STATUS_BLOCK io;
  return csi_nt.fs_control_file(handle, NULL, NULL, NULL, &io, FSCTL_DELETE_REPARSE_POINT, &header,
                                sizeof header, NULL, 0);
}

/* Turns a mounted folder into an empty directory, and has the mount manager strike its record while it can
 * still open the folder: it does so first. A record that stays is a blemish, the volume is then listed with
 * a path that is gone; so that is no failure.
 * UNVERIFIED ON WINDOWS: Wine has no mounted folders. */
static NTSTATUS unmount(HANDLE handle, const wchar_t *volume_w) {
  wchar_t folder_w[FOLDER_UNITS];
  DWORD units = GetFinalPathNameByHandleW(handle, folder_w, FOLDER_UNITS, VOLUME_NAME_DOS);
  NTSTATUS status = delete_reparse_point(handle, CSI_REPARSE_TAG_MOUNT_POINT);
  if (!NT_SUCCESS(status) || units < PREFIX_UNITS || units >= FOLDER_UNITS) return status;
  wmemcpy(folder_w, L"\\??\\", PREFIX_UNITS); /* instead of `\\?\` */
  uint32_t error = csi_mount_manager_forget_folder(folder_w, volume_w);
  if (error != ERROR_SUCCESS)
    CSI_V(2, "The mount manager keeps the record of a mounted folder: error %u", error);
  return status;
}

/* The caller may hold locks, which others must not wait for without end. */
static uint32_t delete_reparse(void *self, void *handle, uint32_t tag) {
  (void)self;
  struct csi_device_watch watch;
  watch_begin(&watch);
  CSI_SCOPED_NT_PATH volume_w = tag == CSI_REPARSE_TAG_MOUNT_POINT ? read_mounted_volume(handle) : NULL;
  NTSTATUS status = volume_w != NULL ? unmount(handle, volume_w) : delete_reparse_point(handle, tag);
  return watch_end(&watch, csi_win32_of_ntstatus(status));
}

static NTSTATUS remove_junction(HANDLE handle) {
  CSI_SCOPED_NT_PATH volume_w = read_mounted_volume(handle);
  if (volume_w != NULL) {
    struct csi_device_watch watch;
    watch_begin(&watch);
    bool unmounted = NT_SUCCESS(unmount(handle, volume_w)); /* the folder goes in any case */
    csi_device_watch_end(&watch, unmounted);
  }
  return remove_by_any_means(handle);
}

static uint32_t remove_handle(void *self, void *handle, uint32_t tag) {
  (void)self;
  return csi_win32_of_ntstatus(tag == CSI_REPARSE_TAG_MOUNT_POINT ? remove_junction(handle)
                                                                  : remove_by_any_means(handle));
}

static uint32_t read_serial(HANDLE handle, uint64_t *serial_out) {
  union {
    FILE_FS_VOLUME_INFORMATION volume;
    uint8_t bytes[sizeof(FILE_FS_VOLUME_INFORMATION) + 256]; /* with the label */
  } buffer;
  IO_STATUS_BLOCK io;
  NTSTATUS status =
      csi_nt.query_volume_information_file(handle, &io, &buffer, sizeof buffer, FileFsVolumeInformation);
  *serial_out = buffer.volume.VolumeSerialNumber;
  return csi_win32_of_ntstatus(status);
}

static uint32_t read_system_serial(uint64_t *serial_out) {
  wchar_t windows_w[MAX_PATH + 1];
  UINT units = GetSystemWindowsDirectoryW(windows_w, MAX_PATH);
  if (units == 0) return GetLastError();
  if (units > MAX_PATH) return ERROR_FILENAME_EXCED_RANGE;
  CSI_SCOPED_HANDLE windows = CreateFileW(windows_w, FILE_READ_ATTRIBUTES, SHARE_ALL, NULL, OPEN_EXISTING,
                                          FILE_FLAG_BACKUP_SEMANTICS, NULL);
  if (windows == INVALID_HANDLE_VALUE) return GetLastError();
  return read_serial(windows, serial_out);
}

static uint32_t get_volume(void *self, void *handle, struct csi_file_volume *volume_out) {
  (void)self;
  uint64_t serial, system_serial;
  uint32_t error = read_serial(handle, &serial);
  if (error == ERROR_SUCCESS) error = read_system_serial(&system_serial);
  if (error == ERROR_SUCCESS)
    *volume_out = (struct csi_file_volume){.serial = serial, .is_system = serial == system_serial};
  return error;
}

/* For file systems without 128-bit numbers, such as FAT. */
static uint32_t read_short_identity(HANDLE handle, struct csi_identity *identity_out) {
  FILE_INTERNAL_INFORMATION information;
  IO_STATUS_BLOCK io;
  NTSTATUS status =
      csi_nt.query_information_file(handle, &io, &information, sizeof information, FileInternalInformation);
  if (!NT_SUCCESS(status)) return csi_win32_of_ntstatus(status);
  *identity_out = (struct csi_identity){0};
  memcpy(identity_out->file_id, &information, sizeof information);
  return read_serial(handle, &identity_out->volume_serial);
}

static uint32_t get_identity(void *self, void *handle, struct csi_identity *identity_out) {
  (void)self;
  FILE_ID_INFO information;
  IO_STATUS_BLOCK io;
  NTSTATUS status = csi_nt.query_information_file(handle, &io, &information, sizeof information,
                                                  (FILE_INFORMATION_CLASS)CSI_FILE_ID_INFORMATION);
  if (!NT_SUCCESS(status)) return read_short_identity(handle, identity_out);
  identity_out->volume_serial = information.VolumeSerialNumber;
  memcpy(identity_out->file_id, &information.FileId, sizeof identity_out->file_id);
  return ERROR_SUCCESS;
}

static void close_handle(void *self, void *handle) {
  (void)self;
  csi_handle_close(&handle);
}

const struct csi_filesystem_host *csi_filesystem_host_win32(void) {
  static const struct csi_filesystem_host host = {
      .open_path = open_path,
      .open_child = open_child,
      .find_child = find_child,
      .create_child = create_child,
      .next_child = next_child,
      .remove = remove_handle,
      .read_reparse = read_reparse,
      .write_reparse = write_reparse,
      .delete_reparse = delete_reparse,
      .get_volume = get_volume,
      .get_identity = get_identity,
      .close = close_handle,
  };
  return &host;
}
