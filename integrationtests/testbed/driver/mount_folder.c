/* SPDX-License-Identifier: Apache-2.0 */
#include "mount_folder.h"

#include <string.h>

#include "name.h"
#include "volume.h"

enum { FOLDER_LIMIT_BYTES = 4096 };

/* The record outlives the volume, as Windows' does. */
struct folder {
  LIST_ENTRY link;
  uint8_t guid[16];
  USHORT path_bytes;
  WCHAR path_w[]; /* C:\..., without a separator at the end */
};

static LIST_ENTRY folders = {&folders, &folders};

static struct folder *folder_of(LIST_ENTRY *entry) {
  return CONTAINING_RECORD(entry, struct folder, link);
}

static UNICODE_STRING without_separator(UNICODE_STRING path) {
  if (path.Length >= sizeof(WCHAR) && path.Buffer[path.Length / sizeof(WCHAR) - 1] == '\\')
    path.Length = (USHORT)(path.Length - sizeof(WCHAR));
  return path;
}

/* The volume that a name stands for: \??\Volume{guid}, \\?\Volume{guid}, with or without a separator at the
 * end, or \Device\HarddiskVolumeN. */
static struct vdisk_volume *find_volume(UNICODE_STRING name) {
  name = without_separator(name);
  for (struct vdisk_volume *volume = vdisk_volume_next(NULL); volume != NULL;
       volume = vdisk_volume_next(volume)) {
    char buffer[VDISK_VOLUME_NAME_LIMIT];
    vdisk_volume_device_name(volume, buffer);
    if (vdisk_name_equals(&name, buffer)) return volume;
    vdisk_volume_link_name(volume, buffer);
    if (vdisk_name_equals(&name, buffer)) return volume;
    buffer[1] = '\\';
    if (vdisk_name_equals(&name, buffer)) return volume;
  }
  return NULL;
}

static bool get_string(const struct vdisk_call *call, USHORT offset, USHORT bytes, UNICODE_STRING *out) {
  if (offset > call->input_bytes || bytes > call->input_bytes - offset || bytes % sizeof(WCHAR) != 0)
    return false;
  *out = (UNICODE_STRING){
      .Length = bytes, .MaximumLength = bytes, .Buffer = (WCHAR *)((char *)call->buffer + offset)};
  return true;
}

/* Takes \??\ off the beginning and a separator off the end. */
static UNICODE_STRING plain_path(UNICODE_STRING path) {
  static const WCHAR prefix_w[] = {'\\', '?', '?', '\\'};
  path = without_separator(path);
  if (path.Length <= sizeof prefix_w || memcmp(path.Buffer, prefix_w, sizeof prefix_w) != 0) return path;
  USHORT bytes = (USHORT)(path.Length - sizeof prefix_w);
  return (UNICODE_STRING){
      .Length = bytes, .MaximumLength = bytes, .Buffer = path.Buffer + sizeof prefix_w / sizeof prefix_w[0]};
}

static struct folder *find_folder(const UNICODE_STRING *path) {
  for (LIST_ENTRY *entry = folders.Flink; entry != &folders; entry = entry->Flink) {
    struct folder *folder = folder_of(entry);
    UNICODE_STRING own = {
        .Length = folder->path_bytes, .MaximumLength = folder->path_bytes, .Buffer = folder->path_w};
    if (RtlEqualUnicodeString(&own, path, TRUE)) return folder;
  }
  return NULL;
}

static void forget(struct folder *folder) {
  if (folder == NULL) return;
  RemoveEntryList(&folder->link);
  ExFreePoolWithTag(folder, VDISK_POOL_TAG);
}

static NTSTATUS record(const UNICODE_STRING *path, const struct vdisk_volume *volume) {
  if (path->Length > FOLDER_LIMIT_BYTES) return STATUS_NAME_TOO_LONG;
  struct folder *folder = ExAllocatePoolWithTag(PagedPool, sizeof *folder + path->Length, VDISK_POOL_TAG);
  if (folder == NULL) return STATUS_INSUFFICIENT_RESOURCES;
  forget(find_folder(path));
  memcpy(folder->guid, volume->object.guid, sizeof folder->guid);
  folder->path_bytes = path->Length;
  memcpy(folder->path_w, path->Buffer, path->Length);
  InsertTailList(&folders, &folder->link);
  return STATUS_SUCCESS;
}

NTSTATUS vdisk_mount_folder_changed(struct vdisk_call *call) {
  MOUNTMGR_VOLUME_MOUNT_POINT point;
  UNICODE_STRING source, target;
  NTSTATUS status = vdisk_call_input(call, &point, sizeof point);
  if (!NT_SUCCESS(status)) return status;
  if (!get_string(call, point.SourceVolumeNameOffset, point.SourceVolumeNameLength, &source) ||
      !get_string(call, point.TargetVolumeNameOffset, point.TargetVolumeNameLength, &target))
    return STATUS_INVALID_PARAMETER;
  UNICODE_STRING path = plain_path(source);
  struct vdisk_volume *volume = find_volume(target);
  if (call->code == IOCTL_MOUNTMGR_VOLUME_MOUNT_POINT_CREATED)
    return volume == NULL ? STATUS_NO_SUCH_DEVICE : record(&path, volume);
  struct folder *folder = find_folder(&path);
  if (folder == NULL) return volume == NULL ? STATUS_NO_SUCH_DEVICE : STATUS_SUCCESS;
  forget(folder);
  return STATUS_SUCCESS;
}

/* Appends a string and its NUL to the multi-string at the output; what does not fit is only counted. */
static void put_path(struct vdisk_call *call, ULONG *used_bytes, const WCHAR *path_w, USHORT bytes) {
  ULONG at = (ULONG)offsetof(MOUNTMGR_VOLUME_PATHS, MultiSz) + *used_bytes;
  *used_bytes += bytes + (ULONG)sizeof(WCHAR);
  if (at + bytes + sizeof(WCHAR) > call->output_bytes) return;
  memcpy((char *)call->buffer + at, path_w, bytes);
  memset((char *)call->buffer + at + bytes, 0, sizeof(WCHAR));
}

static void put_paths(struct vdisk_call *call, const struct vdisk_volume *volume, bool only_one,
                      ULONG *used_bytes) {
  if (volume->letter != 0) {
    WCHAR letter_w[] = {(WCHAR)volume->letter, ':'};
    put_path(call, used_bytes, letter_w, sizeof letter_w);
  }
  for (LIST_ENTRY *entry = folders.Flink; entry != &folders && !(only_one && *used_bytes > 0);
       entry = entry->Flink) {
    struct folder *folder = folder_of(entry);
    if (memcmp(folder->guid, volume->object.guid, sizeof folder->guid) == 0)
      put_path(call, used_bytes, folder->path_w, folder->path_bytes);
  }
}

NTSTATUS vdisk_mount_paths_query(struct vdisk_call *call) {
  enum {
    NAME_OFFSET = offsetof(MOUNTMGR_TARGET_NAME, DeviceName),
    OUTPUT_OFFSET = offsetof(MOUNTMGR_VOLUME_PATHS, MultiSz)
  };
  USHORT name_bytes;
  UNICODE_STRING name;
  NTSTATUS status = vdisk_call_input(call, &name_bytes, sizeof name_bytes);
  if (!NT_SUCCESS(status)) return status;
  if (!get_string(call, NAME_OFFSET, name_bytes, &name)) return STATUS_INVALID_PARAMETER;
  struct vdisk_volume *volume = find_volume(name);
  if (volume == NULL) return STATUS_NO_SUCH_DEVICE;
  if (call->output_bytes < sizeof(ULONG)) return STATUS_INVALID_PARAMETER;
  ULONG used_bytes = 0;
  put_paths(call, volume, call->code == IOCTL_MOUNTMGR_QUERY_DOS_VOLUME_PATH, &used_bytes);
  put_path(call, &used_bytes, L"", 0);
  memcpy(call->buffer, &used_bytes, sizeof used_bytes);
  bool fits = OUTPUT_OFFSET + used_bytes <= call->output_bytes;
  call->information = fits ? OUTPUT_OFFSET + used_bytes : (uint32_t)sizeof used_bytes;
  return fits ? STATUS_SUCCESS : STATUS_BUFFER_OVERFLOW;
}

void vdisk_mount_folder_list(struct vdisk_text *text) {
  for (LIST_ENTRY *entry = folders.Flink; entry != &folders; entry = entry->Flink) {
    const struct folder *folder = folder_of(entry);
    vdisk_text_add(text, "folder=");
    vdisk_text_add_utf16(text, folder->path_w, folder->path_bytes / sizeof(WCHAR));
    vdisk_text_add_word(text, "volume", "");
    vdisk_text_add_guid(text, folder->guid);
    vdisk_text_add(text, "\n");
  }
}

void vdisk_mount_folder_reset(void) {
  while (!IsListEmpty(&folders))
    forget(folder_of(folders.Flink));
}
