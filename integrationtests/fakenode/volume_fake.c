/* SPDX-License-Identifier: Apache-2.0
 *
 * The host interface of the volume group over the volumes in memory.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "storage_internal.h"

enum {
  VOLUME_NAME_BYTES = 64,
  READ_ALIGNMENT_BYTES = 4096,
};

struct csi_open_volume {
  struct storage_volume *volume;
  unsigned incarnation;
  enum csi_volume_access access;
};

static bool fail(struct csi_ctx *ctx, enum csi_fake_step step, const struct csi_guid *guid, uint32_t error) {
  char text[CSI_GUID_TEXT_BYTES];
  csi_guid_format(guid, text);
  return csi_fail_system(&ctx->status, CSI_SPACE_WIN32, error, csi_fake_step_name(step), "volume {%s}", text);
}

/* The disk that a volume is on, for faults and hooks. */
static int64_t disk_of(struct csi_fake_storage *storage, const struct csi_guid *guid) {
  STORAGE_VISIT(storage);
  const struct storage_volume *volume = storage_find_volume(&storage->model, guid);
  return volume == NULL ? CSI_FAKE_ANY_DISK : (int64_t)volume->disk->is.number;
}

/* The volume with that name; NULL and the status when there is none now. The lock is held. */
static struct storage_volume *find(struct csi_fake_storage *storage, struct csi_ctx *ctx,
                                   enum csi_fake_step step, const struct csi_guid *guid) {
  struct storage_volume *volume = storage_find_volume(&storage->model, guid);
  if (volume != NULL && volume->named) return volume;
  fail(ctx, step, guid, CSI_FAKE_NO_SUCH_DISK);
  return NULL;
}

static bool begin(struct csi_fake_storage *storage, struct csi_ctx *ctx, enum csi_fake_step step,
                  const struct csi_open_volume *handle) {
  return storage_begin(storage, ctx, step, disk_of(storage, &handle->volume->guid));
}

/* What every device call finds first; the lock is held. */
static bool check(struct csi_ctx *ctx, enum csi_fake_step step, const struct csi_open_volume *handle,
                  enum csi_volume_access access) {
  const struct storage_volume *volume = handle->volume;
  if (!volume->present || volume->incarnation != handle->incarnation)
    return fail(ctx, step, &volume->guid, CSI_FAKE_UNPLUGGED);
  return handle->access >= access || fail(ctx, step, &volume->guid, CSI_FAKE_ACCESS_DENIED);
}

static bool open_volume(void *self, struct csi_ctx *ctx, const struct csi_guid *guid,
                        enum csi_volume_access access, struct csi_open_volume **volume_out) {
  struct csi_fake_storage *storage = self;
  if (!storage_begin(storage, ctx, CSI_FAKE_VOLUME_OPEN, disk_of(storage, guid))) return false;
  STORAGE_VISIT(storage);
  struct storage_volume *volume = find(storage, ctx, CSI_FAKE_VOLUME_OPEN, guid);
  if (volume == NULL) return false;
  struct csi_open_volume *handle = calloc(1, sizeof *handle);
  if (handle == NULL) abort();
  *handle = (struct csi_open_volume){.volume = volume, .incarnation = volume->incarnation, .access = access};
  storage->open_handles++;
  *volume_out = handle;
  return true;
}

static void close_volume(void *self, struct csi_open_volume *handle) {
  struct csi_fake_storage *storage = self;
  STORAGE_VISIT(storage);
  storage->open_handles--;
  free(handle);
}

static bool get_partition(void *self, struct csi_ctx *ctx, struct csi_open_volume *handle,
                          uint32_t *disk_number_out, uint32_t *partition_number_out) {
  struct csi_fake_storage *storage = self;
  if (!begin(storage, ctx, CSI_FAKE_VOLUME_GET_PARTITION, handle)) return false;
  STORAGE_VISIT(storage);
  if (!check(ctx, CSI_FAKE_VOLUME_GET_PARTITION, handle, CSI_VOLUME_QUERY)) return false;
  const struct storage_volume *volume = handle->volume;
  if (volume->more.length_bytes != 0)
    return fail(ctx, CSI_FAKE_VOLUME_GET_PARTITION, &volume->guid, CSI_FAKE_INVALID_FUNCTION);
  *disk_number_out = volume->disk->is.number;
  *partition_number_out = volume->partition_number;
  return true;
}

static bool get_extents(void *self, struct csi_ctx *ctx, struct csi_open_volume *handle,
                        struct csi_extent **extents_out, size_t *count_out) {
  struct csi_fake_storage *storage = self;
  if (!begin(storage, ctx, CSI_FAKE_VOLUME_GET_EXTENTS, handle)) return false;
  STORAGE_VISIT(storage);
  if (!check(ctx, CSI_FAKE_VOLUME_GET_EXTENTS, handle, CSI_VOLUME_QUERY)) return false;
  const struct storage_volume *volume = handle->volume;
  const struct csi_partition *partition = storage_partition_of(volume);
  struct csi_extent *extents = csi_arena_alloc_array(ctx->arena, 2, sizeof *extents);
  if (extents == NULL) return csi_fail_out_of_memory(&ctx->status);
  extents[0] = (struct csi_extent){.disk_number = volume->disk->is.number,
                                   .offset_bytes = partition->offset_bytes,
                                   .length_bytes = partition->length_bytes};
  extents[1] = volume->more;
  *extents_out = extents;
  *count_out = volume->more.length_bytes != 0 ? 2 : 1;
  return true;
}

static bool read_volume(void *self, struct csi_ctx *ctx, struct csi_open_volume *handle,
                        uint64_t offset_bytes, void *bytes_out, size_t size_bytes) {
  struct csi_fake_storage *storage = self;
  if (!begin(storage, ctx, CSI_FAKE_VOLUME_READ, handle)) return false;
  STORAGE_VISIT(storage);
  if (!check(ctx, CSI_FAKE_VOLUME_READ, handle, CSI_VOLUME_READ)) return false;
  const struct csi_partition *partition = storage_partition_of(handle->volume);
  if (offset_bytes % READ_ALIGNMENT_BYTES != 0 || size_bytes % READ_ALIGNMENT_BYTES != 0 ||
      size_bytes > partition->length_bytes || offset_bytes > partition->length_bytes - size_bytes)
    return fail(ctx, CSI_FAKE_VOLUME_READ, &handle->volume->guid, CSI_FAKE_INVALID_PARAMETER);
  sector_store_read(&handle->volume->disk->sectors, partition->offset_bytes + offset_bytes, bytes_out,
                    size_bytes);
  return true;
}

static bool flush(void *self, struct csi_ctx *ctx, struct csi_open_volume *handle) {
  struct csi_fake_storage *storage = self;
  if (!begin(storage, ctx, CSI_FAKE_VOLUME_FLUSH, handle)) return false;
  STORAGE_VISIT(storage);
  return check(ctx, CSI_FAKE_VOLUME_FLUSH, handle, CSI_VOLUME_READ_WRITE);
}

/* What the file system's own controls give when there is none that Windows knows. */
static bool check_file_system(struct csi_ctx *ctx, enum csi_fake_step step,
                              const struct csi_open_volume *handle) {
  const struct storage_volume *volume = handle->volume;
  enum csi_fake_signature signature = storage_read_signature(volume->disk, storage_partition_of(volume));
  if (signature == CSI_FAKE_NTFS || signature == CSI_FAKE_REFS) return true;
  uint32_t error =
      signature == CSI_FAKE_BITLOCKER ? CSI_FAKE_BITLOCKER_LOCKED : (uint32_t)CSI_FAKE_INVALID_FUNCTION;
  return fail(ctx, step, &volume->guid, error);
}

static bool get_file_system_size(void *self, struct csi_ctx *ctx, struct csi_open_volume *handle,
                                 struct csi_file_system_size *size_out) {
  struct csi_fake_storage *storage = self;
  if (!begin(storage, ctx, CSI_FAKE_VOLUME_GET_FILE_SYSTEM_SIZE, handle)) return false;
  STORAGE_VISIT(storage);
  if (!check(ctx, CSI_FAKE_VOLUME_GET_FILE_SYSTEM_SIZE, handle, CSI_VOLUME_READ) ||
      !check_file_system(ctx, CSI_FAKE_VOLUME_GET_FILE_SYSTEM_SIZE, handle))
    return false;
  storage_get_file_system_size(handle->volume->disk, storage_partition_of(handle->volume), size_out);
  return true;
}

static bool extend(void *self, struct csi_ctx *ctx, struct csi_open_volume *handle, uint64_t sector_count) {
  struct csi_fake_storage *storage = self;
  if (!begin(storage, ctx, CSI_FAKE_VOLUME_EXTEND, handle)) return false;
  STORAGE_VISIT(storage);
  if (!check(ctx, CSI_FAKE_VOLUME_EXTEND, handle, CSI_VOLUME_READ_WRITE) ||
      !check_file_system(ctx, CSI_FAKE_VOLUME_EXTEND, handle))
    return false;
  struct storage_volume *volume = handle->volume;
  uint32_t error = volume->disk->is.read_only
                       ? (uint32_t)CSI_FAKE_WRITE_PROTECTED
                       : storage_extend(volume->disk, storage_partition_of(volume), sector_count);
  return error == 0 || fail(ctx, CSI_FAKE_VOLUME_EXTEND, &volume->guid, error);
}

/* The volume, if it has a file system that Windows knows. */
static struct storage_volume *find_mounted(struct csi_fake_storage *storage, struct csi_ctx *ctx,
                                           enum csi_fake_step step, const struct csi_guid *guid) {
  struct storage_volume *volume = find(storage, ctx, step, guid);
  if (volume == NULL) return NULL;
  uint32_t error =
      storage_file_system_error(storage_read_signature(volume->disk, storage_partition_of(volume)));
  if (error == 0) return volume;
  fail(ctx, step, guid, error);
  return NULL;
}

static bool get_file_system(void *self, struct csi_ctx *ctx, const struct csi_guid *guid,
                            char name_out[CSI_FILE_SYSTEM_NAME_BYTES]) {
  struct csi_fake_storage *storage = self;
  if (!storage_begin(storage, ctx, CSI_FAKE_VOLUME_GET_FILE_SYSTEM, disk_of(storage, guid))) return false;
  STORAGE_VISIT(storage);
  struct storage_volume *volume = find_mounted(storage, ctx, CSI_FAKE_VOLUME_GET_FILE_SYSTEM, guid);
  if (volume == NULL) return false;
  bool ntfs = storage_read_signature(volume->disk, storage_partition_of(volume)) == CSI_FAKE_NTFS;
  snprintf(name_out, CSI_FILE_SYSTEM_NAME_BYTES, "%s", ntfs ? "NTFS" : "ReFS");
  return true;
}

static bool get_space(void *self, struct csi_ctx *ctx, const struct csi_guid *guid,
                      struct csi_volume_space *space_out) {
  struct csi_fake_storage *storage = self;
  if (!storage_begin(storage, ctx, CSI_FAKE_VOLUME_GET_SPACE, disk_of(storage, guid))) return false;
  STORAGE_VISIT(storage);
  struct storage_volume *volume = find_mounted(storage, ctx, CSI_FAKE_VOLUME_GET_SPACE, guid);
  if (volume == NULL) return false;
  struct csi_file_system_size size;
  storage_get_file_system_size(volume->disk, storage_partition_of(volume), &size);
  uint64_t total_bytes = size.sector_count * size.sector_bytes / size.cluster_bytes * size.cluster_bytes;
  uint64_t used_bytes = volume->used_bytes < total_bytes ? volume->used_bytes : total_bytes;
  *space_out = (struct csi_volume_space){.total_bytes = total_bytes, .free_bytes = total_bytes - used_bytes};
  return true;
}

/* Finds the volume that is to be formatted. The lock is held. */
static struct storage_volume *find_writable(struct csi_fake_storage *storage, struct csi_ctx *ctx,
                                            const struct csi_guid *guid) {
  struct storage_volume *volume = find(storage, ctx, CSI_FAKE_VOLUME_FORMAT, guid);
  if (volume == NULL || !volume->disk->is.read_only) return volume;
  fail(ctx, CSI_FAKE_VOLUME_FORMAT, guid, CSI_FAKE_WRITE_PROTECTED);
  return NULL;
}

/* What formatting begins with: whatever happens then, the old file system is gone. Where there is none, the
 * beginning of the volume stays as it is until the boot sector is written, at the very end. */
static bool wipe(struct csi_fake_storage *storage, struct csi_ctx *ctx, const struct csi_guid *guid) {
  STORAGE_VISIT(storage);
  struct storage_volume *volume = find_writable(storage, ctx, guid);
  if (volume == NULL) return false;
  const struct csi_partition *partition = storage_partition_of(volume);
  if (storage_read_signature(volume->disk, partition) == CSI_FAKE_NOISE) return true;
  return storage_sign(volume->disk, partition, CSI_FAKE_RAW, 0, 0) ||
         fail(ctx, CSI_FAKE_VOLUME_FORMAT, guid, CSI_FAKE_INVALID_PARAMETER);
}

static bool format(void *self, struct csi_ctx *ctx, const struct csi_guid *guid,
                   const struct csi_format *how) {
  struct csi_fake_storage *storage = self;
  enum csi_fake_signature signature = strcmp(how->file_system, "ReFS") == 0 ? CSI_FAKE_REFS : CSI_FAKE_NTFS;
  if (!csi_ctx_alive(ctx) || !wipe(storage, ctx, guid) ||
      !storage_begin(storage, ctx, CSI_FAKE_VOLUME_FORMAT, disk_of(storage, guid)))
    return false;
  STORAGE_VISIT(storage);
  struct storage_volume *volume = find_writable(storage, ctx, guid);
  if (volume == NULL) return false;
  uint64_t serial = storage_new_guid(&storage->model).data1;
  if (!storage_sign(volume->disk, storage_partition_of(volume), signature, how->cluster_bytes, serial))
    return fail(ctx, CSI_FAKE_VOLUME_FORMAT, guid, CSI_FAKE_INVALID_PARAMETER);
  storage_empty_files(&storage->model, volume);
  return true;
}

static bool announce_mount(void *self, struct csi_ctx *ctx, const char *path, const struct csi_guid *guid) {
  struct csi_fake_storage *storage = self;
  if (!storage_begin(storage, ctx, CSI_FAKE_VOLUME_ANNOUNCE_MOUNT, disk_of(storage, guid))) return false;
  STORAGE_VISIT(storage);
  if (find(storage, ctx, CSI_FAKE_VOLUME_ANNOUNCE_MOUNT, guid) == NULL) return false;
  struct storage_announced *announced = calloc(1, sizeof *announced);
  if (announced == NULL) abort();
  snprintf(announced->path, sizeof announced->path, "%s", path);
  announced->guid = *guid;
  announced->next = storage->announced;
  storage->announced = announced;
  return true;
}

static bool get_drive_volume(void *self, struct csi_ctx *ctx, const char *root, struct csi_guid *guid_out) {
  struct csi_fake_storage *storage = self;
  if (!storage_begin(storage, ctx, CSI_FAKE_VOLUME_GET_DRIVE_VOLUME, CSI_FAKE_ANY_DISK)) return false;
  char name[VOLUME_NAME_BYTES];
  bool is_root = strlen(root) == 3 && root[1] == ':' && root[2] == '\\';
  STORAGE_VISIT(storage);
  const struct storage_volume *volume = storage_find_letter(&storage->model, (char)toupper(root[0]));
  if (is_root && volume != NULL) {
    *guid_out = volume->guid;
    return true;
  }
  if (is_root && csi_fake_find_drive(storage->model.files, root[0], name) &&
      csi_guid_parse(name + strlen("Volume{"), CSI_GUID_TEXT_BYTES - 1, guid_out))
    return true;
  return csi_fail_system(&ctx->status, CSI_SPACE_WIN32,
                         is_root ? CSI_FAKE_NO_SUCH_DISK : CSI_FAKE_INVALID_PARAMETER,
                         csi_fake_step_name(CSI_FAKE_VOLUME_GET_DRIVE_VOLUME), "%s", root);
}

/* A folder counts that is mounted still, and on this volume. The lock is held. */
static bool is_mounted_on(struct csi_fake_storage *storage, const struct storage_announced *mount,
                          const struct csi_guid *guid) {
  struct csi_guid latest;
  return csi_guid_equal(&mount->guid, guid) && csi_fake_is_reparse_point(storage->model.files, mount->path) &&
         storage_latest_mount(storage, mount->path, &latest) && csi_guid_equal(&latest, guid);
}

/* Appends a path unless it is there. */
static bool add_path(struct csi_ctx *ctx, const char **paths, size_t *count, const char *path) {
  for (size_t i = 0; i < *count; i++)
    if (strcmp(paths[i], path) == 0) return true;
  const char *copy = csi_arena_strdup(ctx->arena, path);
  if (copy == NULL) return csi_fail_out_of_memory(&ctx->status);
  paths[(*count)++] = copy;
  return true;
}

static bool list_mount_points(void *self, struct csi_ctx *ctx, const struct csi_guid *guid,
                              const char ***paths_out, size_t *count_out) {
  struct csi_fake_storage *storage = self;
  if (!storage_begin(storage, ctx, CSI_FAKE_VOLUME_LIST_MOUNT_POINTS, disk_of(storage, guid))) return false;
  STORAGE_VISIT(storage);
  const struct storage_volume *volume = find(storage, ctx, CSI_FAKE_VOLUME_LIST_MOUNT_POINTS, guid);
  if (volume == NULL) return false;
  size_t room = 1;
  for (const struct storage_announced *mount = storage->announced; mount != NULL; mount = mount->next)
    room++;
  const char **paths = csi_arena_alloc_array(ctx->arena, room, sizeof *paths);
  if (paths == NULL) return csi_fail_out_of_memory(&ctx->status);
  *count_out = 0;
  if (volume->letter != 0 && !add_path(ctx, paths, count_out, (char[]){volume->letter, ':', '\\', '\0'}))
    return false;
  for (const struct storage_announced *mount = storage->announced; mount != NULL; mount = mount->next)
    if (is_mounted_on(storage, mount, guid) && !add_path(ctx, paths, count_out, mount->path)) return false;
  *paths_out = paths;
  return true;
}

static char get_system_drive(void *self) {
  (void)self;
  return 'C';
}

void storage_set_up_volume_host(struct csi_fake_storage *storage) {
  storage->volume_host = (struct csi_volume_host){
      .self = storage,
      .open = open_volume,
      .close = close_volume,
      .get_partition = get_partition,
      .get_extents = get_extents,
      .read = read_volume,
      .flush = flush,
      .get_file_system_size = get_file_system_size,
      .extend = extend,
      .get_file_system = get_file_system,
      .get_space = get_space,
      .format = format,
      .announce_mount = announce_mount,
      .get_drive_volume = get_drive_volume,
      .list_mount_points = list_mount_points,
      .get_system_drive = get_system_drive,
  };
}
