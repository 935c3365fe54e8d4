/* SPDX-License-Identifier: Apache-2.0 */
#include "volume/host_win32.h"

#include <windows.h>

#include <string.h>
#include <winioctl.h>

#include "base/text.h"
#include "volume/format_child_win32.h"
#include "volume/path_list.h"
#include "volume/volume_id.h"
#include "win32/ascii.h"
#include "win32/device.h"
#include "win32/device_query.h"
#include "win32/handle.h"
#include "win32/mount_manager.h"
#include "win32/nt.h"

enum {
  VOLUME_NAME_UNITS = CSI_VOLUME_ID_BYTES,
  EXTENTS_BYTES_MAX = 64 * 1024, /* some 2,700 extents */
  EXTEND_MS = 10 * 60 * 1000,
  CLUSTER_BYTES_MAX = 2 * 1024 * 1024, /* of NTFS; ReFS has 64 KiB at most */
  NAME_UNITS = MAX_PATH + 1,
  PATHS_UNITS = 4096,            /* of all mount points of a volume, to begin with */
  PATHS_UNITS_MAX = 1024 * 1024, /* and at most */
};

/* mingw-w64 lacks these. */
#define FSCTL_GET_REFS_VOLUME_DATA CTL_CODE(FILE_DEVICE_FILE_SYSTEM, 182, METHOD_BUFFERED, FILE_ANY_ACCESS)
struct refs_volume_data { /* beginning of REFS_VOLUME_DATA_BUFFER */
  DWORD byte_count;
  DWORD major_version;
  DWORD minor_version;
  DWORD bytes_per_physical_sector;
  LARGE_INTEGER serial_number;
  LARGE_INTEGER number_sectors;
  LARGE_INTEGER total_clusters;
  LARGE_INTEGER free_clusters;
  LARGE_INTEGER total_reserved;
  DWORD bytes_per_sector;
  DWORD bytes_per_cluster;
  BYTE rest[192]; /* grew with every version of Windows */
};
_Static_assert(FSCTL_GET_REFS_VOLUME_DATA == 0x000902D8, "FSCTL_GET_REFS_VOLUME_DATA");

/* In the arena of the call that opened it. */
struct csi_open_volume {
  HANDLE handle;
  char id[CSI_VOLUME_ID_BYTES];
};

/* -- Names ----------------------------------------------------------------------------------------- */

/* `\\?\Volume{guid}\`, the root directory; without the backslash at the end, the device. */
struct volume_names {
  char id[CSI_VOLUME_ID_BYTES];
  wchar_t root_w[VOLUME_NAME_UNITS];
  wchar_t device_w[VOLUME_NAME_UNITS];
};

static struct volume_names name(const struct csi_guid *guid) {
  struct volume_names names;
  csi_volume_id_format(guid, names.id);
  csi_widen_ascii(names.id, names.root_w, VOLUME_NAME_UNITS);
  csi_widen_ascii(names.id, names.device_w, VOLUME_NAME_UNITS);
  names.device_w[strlen(names.id) - 1] = L'\0';
  return names;
}

/* -- Open volumes ---------------------------------------------------------------------------------- */

static bool open_volume(void *self, struct csi_ctx *ctx, const struct csi_guid *guid,
                        enum csi_volume_access access, struct csi_open_volume **volume_out) {
  (void)self;
  static const DWORD rights[] = {
      [CSI_VOLUME_QUERY] = 0,
      [CSI_VOLUME_READ] = GENERIC_READ,
      [CSI_VOLUME_READ_WRITE] = GENERIC_READ | GENERIC_WRITE,
  };
  struct volume_names names = name(guid);
  struct csi_open_volume *volume = csi_arena_alloc(ctx->arena, sizeof *volume);
  if (volume == NULL) return csi_fail_out_of_memory(&ctx->status);
  memcpy(volume->id, names.id, sizeof volume->id);
  if (!csi_device_open(ctx, names.device_w, rights[access], volume->id, &volume->handle)) return false;
  *volume_out = volume;
  return true;
}

static void close_volume(void *self, struct csi_open_volume *volume) {
  (void)self;
  csi_handle_close(&volume->handle);
}

static bool get_partition(void *self, struct csi_ctx *ctx, struct csi_open_volume *volume,
                          uint32_t *disk_number_out, uint32_t *partition_number_out) {
  (void)self;
  STORAGE_DEVICE_NUMBER number;
  if (!csi_device_query(ctx, volume->handle, CSI_CONTROL(IOCTL_STORAGE_GET_DEVICE_NUMBER), &number,
                        sizeof number, sizeof number, volume->id))
    return false;
  if (number.DeviceType != FILE_DEVICE_DISK || number.PartitionNumber == (DWORD)-1)
    return csi_fail(&ctx->status, CSI_FAILED_PRECONDITION, "%s is no partition of a disk", volume->id);
  *disk_number_out = number.DeviceNumber;
  *partition_number_out = number.PartitionNumber;
  return true;
}

static bool get_extents(void *self, struct csi_ctx *ctx, struct csi_open_volume *volume,
                        struct csi_extent **extents_out, size_t *count_out) {
  (void)self;
  const uint8_t *bytes;
  size_t size_bytes;
  if (!csi_device_control_grow(ctx, volume->handle, CSI_CONTROL(IOCTL_VOLUME_GET_VOLUME_DISK_EXTENTS), NULL,
                               0, CSI_EXTENTS_BYTES(1), EXTENTS_BYTES_MAX, &bytes, &size_bytes, volume->id))
    return false;
  return csi_extents_parse(ctx->arena, bytes, size_bytes, extents_out, count_out, &ctx->status) ||
         csi_explain(&ctx->status, "%s: ", volume->id);
}

static bool read_volume(void *self, struct csi_ctx *ctx, struct csi_open_volume *volume,
                        uint64_t offset_bytes, void *bytes_out, size_t size_bytes) {
  (void)self;
  return csi_device_read(ctx, volume->handle, offset_bytes, bytes_out, size_bytes, volume->id);
}

static bool flush_volume(void *self, struct csi_ctx *ctx, struct csi_open_volume *volume) {
  (void)self;
  return csi_device_flush(ctx, volume->handle, volume->id);
}

/* What a file system says to another one's question. */
static bool is_unsupported(const struct csi_status *status) {
  return status->space == CSI_SPACE_WIN32 &&
         (status->number == ERROR_INVALID_FUNCTION || status->number == ERROR_NOT_SUPPORTED ||
          status->number == ERROR_INVALID_PARAMETER);
}

/* UNVERIFIED ON WINDOWS: nothing here has ReFS. */
static bool get_refs_size(struct csi_ctx *ctx, struct csi_open_volume *volume,
                          struct csi_file_system_size *size_out) {
  struct refs_volume_data data;
  if (!csi_device_query(ctx, volume->handle, CSI_CONTROL(FSCTL_GET_REFS_VOLUME_DATA), &data, sizeof data,
                        offsetof(struct refs_volume_data, rest), volume->id))
    return false;
  *size_out = (struct csi_file_system_size){
      .sector_count = (uint64_t)data.number_sectors.QuadPart,
      .sector_bytes = data.bytes_per_sector,
      .cluster_bytes = data.bytes_per_cluster,
  };
  return true;
}

static bool get_ntfs_size(struct csi_ctx *ctx, struct csi_open_volume *volume,
                          struct csi_file_system_size *size_out) {
  NTFS_VOLUME_DATA_BUFFER data;
  if (!csi_device_query(ctx, volume->handle, CSI_CONTROL(FSCTL_GET_NTFS_VOLUME_DATA), &data, sizeof data,
                        sizeof data, volume->id))
    return false;
  *size_out = (struct csi_file_system_size){
      .sector_count = (uint64_t)data.NumberSectors.QuadPart,
      .sector_bytes = data.BytesPerSector,
      .cluster_bytes = data.BytesPerCluster,
  };
  return true;
}

static bool is_power_of_two(uint32_t number) {
  return number != 0 && (number & (number - 1)) == 0;
}

/* Whoever works with these numbers divides by them and multiplies them. */
static bool is_plausible(const struct csi_file_system_size *size) {
  return is_power_of_two(size->sector_bytes) && is_power_of_two(size->cluster_bytes) &&
         size->sector_bytes <= size->cluster_bytes && size->cluster_bytes <= CLUSTER_BYTES_MAX &&
         size->sector_count > 0 && size->sector_count <= (uint64_t)INT64_MAX / size->sector_bytes;
}

static bool get_file_system_size(void *self, struct csi_ctx *ctx, struct csi_open_volume *volume,
                                 struct csi_file_system_size *size_out) {
  (void)self;
  struct csi_file_system_size size = {0};
  if (!get_ntfs_size(ctx, volume, &size)) {
    if (!is_unsupported(&ctx->status)) return false;
    csi_status_clear(&ctx->status);
    if (!get_refs_size(ctx, volume, &size)) return false;
  }
  *size_out = size;
  return is_plausible(&size) ||
         csi_fail(&ctx->status, CSI_DATA_LOSS,
                  "%s: the file system is said to have %llu sectors of %u bytes, in clusters of %u",
                  volume->id, (unsigned long long)size.sector_count, size.sector_bytes, size.cluster_bytes);
}

static bool extend(void *self, struct csi_ctx *ctx, struct csi_open_volume *volume, uint64_t sector_count) {
  (void)self;
  LONGLONG sectors = (LONGLONG)sector_count;
  return csi_device_control_for(ctx, volume->handle, CSI_CONTROL(FSCTL_EXTEND_VOLUME), &sectors,
                                sizeof sectors, NULL, 0, NULL, volume->id, EXTEND_MS);
}

/* -- File systems ---------------------------------------------------------------------------------- */

static bool get_file_system(void *self, struct csi_ctx *ctx, const struct csi_guid *guid,
                            char name_out[CSI_FILE_SYSTEM_NAME_BYTES]) {
  (void)self;
  struct volume_names names = name(guid);
  wchar_t name_w[NAME_UNITS] = L"";
  if (!csi_ctx_alive(ctx)) return csi_explain(&ctx->status, "%s: ", names.id);
  struct csi_device_watch watch;
  if (!csi_device_watch_begin_on(ctx, &watch, CSI_DEVICE_CALL_MS, "GetVolumeInformationW", names.id))
    return false;
  BOOL known = GetVolumeInformationW(names.root_w, NULL, 0, NULL, NULL, NULL, name_w, NAME_UNITS);
  DWORD error = known ? ERROR_SUCCESS : GetLastError();
  csi_device_watch_end(&watch, known);
  if (!known) return csi_device_fail(ctx, &watch, error, "GetVolumeInformationW", names.id);
  const char *text = csi_utf8_from_utf16(ctx->arena, name_w, wcslen(name_w));
  if (text == NULL) return csi_fail_out_of_memory(&ctx->status);
  size_t length = csi_utf8_cut(text, strlen(text), CSI_FILE_SYSTEM_NAME_BYTES - 1);
  memcpy(name_out, text, length);
  name_out[length] = '\0';
  return true;
}

static bool get_space(void *self, struct csi_ctx *ctx, const struct csi_guid *guid,
                      struct csi_volume_space *space_out) {
  (void)self;
  struct volume_names names = name(guid);
  ULARGE_INTEGER total, free;
  if (!csi_ctx_alive(ctx)) return csi_explain(&ctx->status, "%s: ", names.id);
  struct csi_device_watch watch;
  if (!csi_device_watch_begin_on(ctx, &watch, CSI_DEVICE_CALL_MS, "GetDiskFreeSpaceExW", names.id))
    return false;
  BOOL known = GetDiskFreeSpaceExW(names.root_w, NULL, &total, &free);
  DWORD error = known ? ERROR_SUCCESS : GetLastError();
  csi_device_watch_end(&watch, known);
  if (!known) return csi_device_fail(ctx, &watch, error, "GetDiskFreeSpaceExW", names.id);
  *space_out = (struct csi_volume_space){.total_bytes = total.QuadPart, .free_bytes = free.QuadPart};
  return true;
}

static bool format_volume(void *self, struct csi_ctx *ctx, const struct csi_guid *guid,
                          const struct csi_format *format) {
  (void)self;
  return csi_format_in_child(ctx, guid, format);
}

/* -- Mount manager --------------------------------------------------------------------------------- */

static bool announce_mount(void *self, struct csi_ctx *ctx, const char *path, const struct csi_guid *guid) {
  (void)self;
  if (!csi_ctx_alive(ctx)) return csi_explain(&ctx->status, "%s: ", path);
  struct volume_names names = name(guid);
  wmemcpy(names.device_w, L"\\??\\", 4); /* the same length as `\\?\` */
  CSI_SCOPED_NT_PATH folder_w = csi_nt_path_new(path);
  if (folder_w == NULL) {
    DWORD error = GetLastError();
    return csi_fail_system(&ctx->status, CSI_SPACE_WIN32, error, "csi_nt_path_new", "%s", path);
  }
  struct csi_device_watch watch;
  csi_device_watch_begin(ctx, &watch, CSI_DEVICE_CALL_MS, "IOCTL_MOUNTMGR_VOLUME_MOUNT_POINT_CREATED");
  uint32_t error = csi_mount_manager_remember_folder(folder_w, names.device_w);
  csi_device_watch_end(&watch, error == ERROR_SUCCESS);
  return error == ERROR_SUCCESS ||
         csi_device_fail(ctx, &watch, error, "IOCTL_MOUNTMGR_VOLUME_MOUNT_POINT_CREATED", path);
}

static bool get_drive_volume(void *self, struct csi_ctx *ctx, const char *root, struct csi_guid *guid_out) {
  (void)self;
  if (!csi_ctx_alive(ctx)) return csi_explain(&ctx->status, "%s: ", root);
  const wchar_t *root_w = csi_utf16_from_utf8(ctx->arena, root, strlen(root), NULL, &ctx->status);
  if (root_w == NULL) return false;
  wchar_t id_w[VOLUME_NAME_UNITS];
  struct csi_device_watch watch;
  csi_device_watch_begin(ctx, &watch, CSI_DEVICE_CALL_MS, "GetVolumeNameForVolumeMountPointW");
  BOOL found = GetVolumeNameForVolumeMountPointW(root_w, id_w, VOLUME_NAME_UNITS);
  DWORD error = found ? ERROR_SUCCESS : GetLastError();
  csi_device_watch_end(&watch, found);
  if (!found) return csi_device_fail(ctx, &watch, error, "GetVolumeNameForVolumeMountPointW", root);
  const char *id = csi_utf8_from_utf16(ctx->arena, id_w, wcsnlen(id_w, VOLUME_NAME_UNITS));
  if (id == NULL) return csi_fail_out_of_memory(&ctx->status);
  return csi_volume_id_parse(id, guid_out) ||
         csi_fail(&ctx->status, CSI_INTERNAL, "%s is said to have the volume \"%s\"", root, id);
}

/* One call; units_out: how many it needs when they are too few. */
static bool get_paths(struct csi_ctx *ctx, const struct volume_names *names, wchar_t *paths_w, DWORD units,
                      DWORD *units_out) {
  struct csi_device_watch watch;
  if (!csi_device_watch_begin_on(ctx, &watch, CSI_DEVICE_CALL_MS, "GetVolumePathNamesForVolumeNameW",
                                 names->id))
    return false;
  *units_out = 0;
  BOOL known = GetVolumePathNamesForVolumeNameW(names->root_w, paths_w, units, units_out);
  DWORD error = known ? ERROR_SUCCESS : GetLastError();
  csi_device_watch_end(&watch, known);
  return known || csi_device_fail(ctx, &watch, error, "GetVolumePathNamesForVolumeNameW", names->id);
}

/* UNVERIFIED ON WINDOWS: that a folder which announce_mount() told of is among them. Wine lists drives only.
 */
static bool list_mount_points(void *self, struct csi_ctx *ctx, const struct csi_guid *guid,
                              const char ***paths_out, size_t *count_out) {
  (void)self;
  struct volume_names names = name(guid);
  DWORD units = PATHS_UNITS, needed;
  for (;;) {
    if (!csi_ctx_alive(ctx)) return csi_explain(&ctx->status, "%s: ", names.id);
    wchar_t *paths_w = csi_arena_alloc_array(ctx->arena, units, sizeof *paths_w);
    if (paths_w == NULL) return csi_fail_out_of_memory(&ctx->status);
    if (get_paths(ctx, &names, paths_w, units, &needed))
      return csi_path_list_parse(ctx, paths_w, units, paths_out, count_out);
    bool grows = ctx->status.space == CSI_SPACE_WIN32 && ctx->status.number == ERROR_MORE_DATA &&
                 units < PATHS_UNITS_MAX;
    if (!grows) return false;
    csi_status_clear(&ctx->status);
    units = needed > units && needed < PATHS_UNITS_MAX ? needed : 2 * units;
  }
}

static char get_system_drive(void *self) {
  (void)self;
  wchar_t directory_w[MAX_PATH];
  uint16_t letter =
      GetSystemWindowsDirectoryW(directory_w, MAX_PATH) < 2 ? L'C' : csi_utf16_upcase(directory_w[0]);
  return letter >= L'A' && letter <= L'Z' ? (char)letter : 'C';
}

/* -------------------------------------------------------------------------------------------------- */

const struct csi_volume_host *csi_volume_host_win32(void) {
  static const struct csi_volume_host host = {
      .open = open_volume,
      .close = close_volume,
      .get_partition = get_partition,
      .get_extents = get_extents,
      .read = read_volume,
      .flush = flush_volume,
      .get_file_system_size = get_file_system_size,
      .extend = extend,
      .get_file_system = get_file_system,
      .get_space = get_space,
      .format = format_volume,
      .announce_mount = announce_mount,
      .get_drive_volume = get_drive_volume,
      .list_mount_points = list_mount_points,
      .get_system_drive = get_system_drive,
  };
  return &host;
}
