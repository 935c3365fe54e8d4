/* SPDX-License-Identifier: Apache-2.0
 *
 * The host interface of the disk group over the disks in memory.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "storage_internal.h"

enum {
  WAIT_MS = 1,
  NS_PER_MS = 1000000,
};

struct csi_open_disk {
  struct storage_disk *disk;
  unsigned incarnation;
  enum csi_disk_access access;
};

static bool fail(struct csi_ctx *ctx, enum csi_fake_step step, uint32_t number, uint32_t error) {
  return csi_fail_system(&ctx->status, CSI_SPACE_WIN32, error, csi_fake_step_name(step), "disk %u",
                         (unsigned)number);
}

/* Begins a step on an open disk. */
static bool begin(struct csi_fake_storage *storage, struct csi_ctx *ctx, enum csi_fake_step step,
                  const struct csi_open_disk *handle) {
  int64_t number;
  {
    STORAGE_VISIT(storage);
    number = handle->disk->is.number;
  }
  return storage_begin(storage, ctx, step, number);
}

/* What every device call finds first; the lock is held. */
static bool check(struct csi_ctx *ctx, enum csi_fake_step step, const struct csi_open_disk *handle,
                  enum csi_disk_access access) {
  const struct storage_disk *disk = handle->disk;
  if (!disk->present || disk->incarnation != handle->incarnation)
    return fail(ctx, step, disk->is.number, CSI_FAKE_UNPLUGGED);
  if (access != CSI_DISK_QUERY && handle->access != access && handle->access != CSI_DISK_READ_WRITE)
    return fail(ctx, step, disk->is.number, CSI_FAKE_ACCESS_DENIED);
  return true;
}

/* check() for what changes the disk's contents. */
static bool check_change(struct csi_ctx *ctx, enum csi_fake_step step, const struct csi_open_disk *handle) {
  if (!check(ctx, step, handle, CSI_DISK_READ_WRITE)) return false;
  const struct storage_disk *disk = handle->disk;
  if (disk->is.offline) return fail(ctx, step, disk->is.number, CSI_FAKE_OFFLINE);
  return !disk->is.read_only || fail(ctx, step, disk->is.number, CSI_FAKE_WRITE_PROTECTED);
}

static char *interface_of(struct csi_arena *arena, const struct storage_disk *disk) {
  return csi_arena_printf(arena, "\\\\?\\fake#disk#%u.%u#{53f56307-b6bf-11d0-94f2-00a0c91efb8b}",
                          (unsigned)disk->is.number, disk->incarnation);
}

static bool list(void *self, struct csi_ctx *ctx, const char ***paths_out, size_t *count_out) {
  struct csi_fake_storage *storage = self;
  if (!storage_begin(storage, ctx, CSI_FAKE_DISK_LIST, CSI_FAKE_ANY_DISK)) return false;
  STORAGE_VISIT(storage);
  size_t count = 0;
  for (struct storage_disk *disk = storage->model.disks; disk != NULL; disk = disk->next)
    if (disk->present) count++;
  const char **paths = csi_arena_alloc_array(ctx->arena, count + 1, sizeof *paths);
  if (paths == NULL) return csi_fail_out_of_memory(&ctx->status);
  size_t at = 0;
  for (struct storage_disk *disk = storage->model.disks; disk != NULL; disk = disk->next) {
    if (!disk->present) continue;
    paths[at] = interface_of(ctx->arena, disk);
    if (paths[at++] == NULL) return csi_fail_out_of_memory(&ctx->status);
  }
  *paths_out = paths;
  *count_out = count;
  return true;
}

/* The lock is held. */
static struct csi_open_disk *new_handle(struct csi_fake_storage *storage, struct storage_disk *disk,
                                        enum csi_disk_access access) {
  struct csi_open_disk *handle = calloc(1, sizeof *handle);
  if (handle == NULL) abort();
  *handle = (struct csi_open_disk){.disk = disk, .incarnation = disk->incarnation, .access = access};
  storage->open_handles++;
  return handle;
}

static bool open_path(void *self, struct csi_ctx *ctx, const char *path, enum csi_disk_access access,
                      struct csi_open_disk **disk_out) {
  struct csi_fake_storage *storage = self;
  unsigned number, incarnation;
  int length = 0;
  if (sscanf(path, "\\\\?\\fake#disk#%u.%u#%n", &number, &incarnation, &length) != 2 || length == 0) {
    return csi_fail_system(&ctx->status, CSI_SPACE_WIN32, CSI_FAKE_NO_SUCH_DISK,
                           csi_fake_step_name(CSI_FAKE_DISK_OPEN), "%s", path);
  }
  if (!storage_begin(storage, ctx, CSI_FAKE_DISK_OPEN, number)) return false;
  STORAGE_VISIT(storage);
  struct storage_disk *disk = storage_find_disk(&storage->model, number);
  if (disk == NULL || disk->incarnation != incarnation || disk->is.interface_broken)
    return fail(ctx, CSI_FAKE_DISK_OPEN, number, CSI_FAKE_NO_SUCH_DISK);
  *disk_out = new_handle(storage, disk, access);
  return true;
}

static bool open_number(void *self, struct csi_ctx *ctx, uint32_t number, enum csi_disk_access access,
                        struct csi_open_disk **disk_out) {
  struct csi_fake_storage *storage = self;
  if (!storage_begin(storage, ctx, CSI_FAKE_DISK_OPEN, number)) return false;
  STORAGE_VISIT(storage);
  struct storage_disk *disk = storage_find_disk(&storage->model, number);
  if (disk == NULL) return fail(ctx, CSI_FAKE_DISK_OPEN, number, CSI_FAKE_NO_SUCH_DISK);
  *disk_out = new_handle(storage, disk, access);
  return true;
}

static void close_disk(void *self, struct csi_open_disk *handle) {
  struct csi_fake_storage *storage = self;
  STORAGE_VISIT(storage);
  storage->open_handles--;
  free(handle);
}

static bool get_number(void *self, struct csi_ctx *ctx, struct csi_open_disk *handle, uint32_t *number_out) {
  struct csi_fake_storage *storage = self;
  if (!begin(storage, ctx, CSI_FAKE_DISK_GET_NUMBER, handle)) return false;
  STORAGE_VISIT(storage);
  if (!check(ctx, CSI_FAKE_DISK_GET_NUMBER, handle, CSI_DISK_QUERY)) return false;
  *number_out = handle->disk->is.number;
  return true;
}

static bool get_address(void *self, struct csi_ctx *ctx, struct csi_open_disk *handle,
                        struct csi_disk_address *address_out) {
  struct csi_fake_storage *storage = self;
  if (!begin(storage, ctx, CSI_FAKE_DISK_GET_ADDRESS, handle)) return false;
  STORAGE_VISIT(storage);
  if (!check(ctx, CSI_FAKE_DISK_GET_ADDRESS, handle, CSI_DISK_QUERY)) return false;
  const struct csi_fake_disk *is = &handle->disk->is;
  if (!is->has_address) return fail(ctx, CSI_FAKE_DISK_GET_ADDRESS, is->number, CSI_FAKE_NOT_SUPPORTED);
  *address_out = is->address;
  return true;
}

static bool copy_bytes(struct csi_ctx *ctx, enum csi_fake_step step, uint32_t number, struct csi_bytes from,
                       struct csi_bytes *to) {
  if (from.data == NULL) return fail(ctx, step, number, CSI_FAKE_NOT_SUPPORTED);
  uint8_t *data = csi_arena_alloc(ctx->arena, from.size_bytes);
  if (data == NULL) return csi_fail_out_of_memory(&ctx->status);
  memcpy(data, from.data, from.size_bytes);
  *to = (struct csi_bytes){.data = data, .size_bytes = from.size_bytes};
  return true;
}

static bool get_identifiers(void *self, struct csi_ctx *ctx, struct csi_open_disk *handle,
                            struct csi_bytes *bytes_out) {
  struct csi_fake_storage *storage = self;
  if (!begin(storage, ctx, CSI_FAKE_DISK_GET_IDENTIFIERS, handle)) return false;
  STORAGE_VISIT(storage);
  const struct csi_fake_disk *is = &handle->disk->is;
  return check(ctx, CSI_FAKE_DISK_GET_IDENTIFIERS, handle, CSI_DISK_QUERY) &&
         copy_bytes(ctx, CSI_FAKE_DISK_GET_IDENTIFIERS, is->number, is->identifiers, bytes_out);
}

static bool get_descriptor(void *self, struct csi_ctx *ctx, struct csi_open_disk *handle,
                           struct csi_bytes *bytes_out) {
  struct csi_fake_storage *storage = self;
  if (!begin(storage, ctx, CSI_FAKE_DISK_GET_DESCRIPTOR, handle)) return false;
  STORAGE_VISIT(storage);
  const struct csi_fake_disk *is = &handle->disk->is;
  return check(ctx, CSI_FAKE_DISK_GET_DESCRIPTOR, handle, CSI_DISK_QUERY) &&
         copy_bytes(ctx, CSI_FAKE_DISK_GET_DESCRIPTOR, is->number, is->descriptor, bytes_out);
}

static bool get_geometry(void *self, struct csi_ctx *ctx, struct csi_open_disk *handle,
                         struct csi_disk_geometry *geometry_out) {
  struct csi_fake_storage *storage = self;
  if (!begin(storage, ctx, CSI_FAKE_DISK_GET_GEOMETRY, handle)) return false;
  STORAGE_VISIT(storage);
  if (!check(ctx, CSI_FAKE_DISK_GET_GEOMETRY, handle, CSI_DISK_QUERY)) return false;
  *geometry_out = (struct csi_disk_geometry){.size_bytes = handle->disk->seen_bytes,
                                             .sector_bytes = storage_sector_bytes(handle->disk)};
  return true;
}

static bool get_attributes(void *self, struct csi_ctx *ctx, struct csi_open_disk *handle,
                           uint64_t *attributes_out) {
  struct csi_fake_storage *storage = self;
  if (!begin(storage, ctx, CSI_FAKE_DISK_GET_ATTRIBUTES, handle)) return false;
  STORAGE_VISIT(storage);
  if (!check(ctx, CSI_FAKE_DISK_GET_ATTRIBUTES, handle, CSI_DISK_QUERY)) return false;
  *attributes_out = (handle->disk->is.offline ? CSI_DISK_ATTRIBUTE_OFFLINE : 0U) |
                    (handle->disk->is.read_only ? CSI_DISK_ATTRIBUTE_READ_ONLY : 0U);
  return true;
}

static bool get_layout(void *self, struct csi_ctx *ctx, struct csi_open_disk *handle,
                       struct csi_layout *layout_out) {
  struct csi_fake_storage *storage = self;
  if (!begin(storage, ctx, CSI_FAKE_DISK_GET_LAYOUT, handle)) return false;
  STORAGE_VISIT(storage);
  if (!check(ctx, CSI_FAKE_DISK_GET_LAYOUT, handle, CSI_DISK_QUERY)) return false;
  struct csi_layout layout;
  storage_get_layout(handle->disk, &layout);
  struct csi_partition *partitions =
      csi_arena_alloc_array(ctx->arena, layout.partition_count + 1, sizeof *partitions);
  if (partitions == NULL) return csi_fail_out_of_memory(&ctx->status);
  memcpy(partitions, layout.partitions, layout.partition_count * sizeof *partitions);
  layout.partitions = partitions;
  *layout_out = layout;
  return true;
}

static bool set_attributes(void *self, struct csi_ctx *ctx, struct csi_open_disk *handle, uint64_t attributes,
                           uint64_t mask) {
  struct csi_fake_storage *storage = self;
  if (!begin(storage, ctx, CSI_FAKE_DISK_SET_ATTRIBUTES, handle)) return false;
  STORAGE_VISIT(storage);
  if (!check(ctx, CSI_FAKE_DISK_SET_ATTRIBUTES, handle, CSI_DISK_READ_WRITE)) return false;
  struct csi_fake_disk *is = &handle->disk->is;
  if ((mask & CSI_DISK_ATTRIBUTE_OFFLINE) != 0) is->offline = (attributes & CSI_DISK_ATTRIBUTE_OFFLINE) != 0;
  if ((mask & CSI_DISK_ATTRIBUTE_READ_ONLY) != 0)
    is->read_only = (attributes & CSI_DISK_ATTRIBUTE_READ_ONLY) != 0;
  return true;
}

static bool update_properties(void *self, struct csi_ctx *ctx, struct csi_open_disk *handle) {
  struct csi_fake_storage *storage = self;
  if (!begin(storage, ctx, CSI_FAKE_DISK_UPDATE_PROPERTIES, handle)) return false;
  STORAGE_VISIT(storage);
  if (!check(ctx, CSI_FAKE_DISK_UPDATE_PROPERTIES, handle, CSI_DISK_READ_WRITE)) return false;
  handle->disk->seen_bytes = handle->disk->is.size_bytes;
  return true;
}

static bool create_gpt(void *self, struct csi_ctx *ctx, struct csi_open_disk *handle) {
  struct csi_fake_storage *storage = self;
  if (!begin(storage, ctx, CSI_FAKE_DISK_CREATE_GPT, handle)) return false;
  STORAGE_VISIT(storage);
  if (!check_change(ctx, CSI_FAKE_DISK_CREATE_GPT, handle)) return false;
  uint32_t error = storage_create_gpt(&storage->model, handle->disk);
  return error == 0 || fail(ctx, CSI_FAKE_DISK_CREATE_GPT, handle->disk->is.number, error);
}

static bool set_layout(void *self, struct csi_ctx *ctx, struct csi_open_disk *handle,
                       const struct csi_layout *layout) {
  struct csi_fake_storage *storage = self;
  if (!begin(storage, ctx, CSI_FAKE_DISK_SET_LAYOUT, handle)) return false;
  STORAGE_VISIT(storage);
  if (!check_change(ctx, CSI_FAKE_DISK_SET_LAYOUT, handle)) return false;
  uint32_t error = storage_set_layout(handle->disk, layout);
  return error == 0 || fail(ctx, CSI_FAKE_DISK_SET_LAYOUT, handle->disk->is.number, error);
}

static bool grow_partition(void *self, struct csi_ctx *ctx, struct csi_open_disk *handle,
                           uint32_t partition_number, uint64_t grow_bytes) {
  struct csi_fake_storage *storage = self;
  if (!begin(storage, ctx, CSI_FAKE_DISK_GROW_PARTITION, handle)) return false;
  STORAGE_VISIT(storage);
  if (!check_change(ctx, CSI_FAKE_DISK_GROW_PARTITION, handle)) return false;
  uint32_t error = storage_grow_partition(handle->disk, partition_number, grow_bytes);
  return error == 0 || fail(ctx, CSI_FAKE_DISK_GROW_PARTITION, handle->disk->is.number, error);
}

/* What a transfer finds. The lock is held. */
static bool check_place(struct csi_ctx *ctx, enum csi_fake_step step, const struct storage_disk *disk,
                        uint64_t offset_bytes, size_t size_bytes) {
  uint32_t sector_bytes = storage_sector_bytes(disk);
  if (offset_bytes % sector_bytes == 0 && size_bytes % sector_bytes == 0 && size_bytes <= disk->seen_bytes &&
      offset_bytes <= disk->seen_bytes - size_bytes)
    return true;
  return fail(ctx, step, disk->is.number, CSI_FAKE_INVALID_PARAMETER);
}

static bool read_disk(void *self, struct csi_ctx *ctx, struct csi_open_disk *handle, uint64_t offset_bytes,
                      void *bytes_out, size_t size_bytes) {
  struct csi_fake_storage *storage = self;
  if (!begin(storage, ctx, CSI_FAKE_DISK_READ, handle)) return false;
  STORAGE_VISIT(storage);
  if (!check(ctx, CSI_FAKE_DISK_READ, handle, CSI_DISK_READ) ||
      !check_place(ctx, CSI_FAKE_DISK_READ, handle->disk, offset_bytes, size_bytes))
    return false;
  sector_store_read(&handle->disk->sectors, offset_bytes, bytes_out, size_bytes);
  return true;
}

static bool write_disk(void *self, struct csi_ctx *ctx, struct csi_open_disk *handle, uint64_t offset_bytes,
                       const void *bytes, size_t size_bytes) {
  struct csi_fake_storage *storage = self;
  if (!begin(storage, ctx, CSI_FAKE_DISK_WRITE, handle)) return false;
  STORAGE_VISIT(storage);
  if (!check_change(ctx, CSI_FAKE_DISK_WRITE, handle) ||
      !check_place(ctx, CSI_FAKE_DISK_WRITE, handle->disk, offset_bytes, size_bytes))
    return false;
  sector_store_write(&handle->disk->sectors, offset_bytes, bytes, size_bytes);
  return true;
}

static bool volumes_are_ready(struct csi_fake_storage *storage, const struct storage_disk *disk) {
  for (struct storage_volume *volume = storage->model.volumes; volume != NULL; volume = volume->next)
    if (volume->present && volume->disk == disk && !storage_has_arrived(volume)) return false;
  return true;
}

static bool wait_for_volumes(void *self, struct csi_ctx *ctx, struct csi_open_disk *handle) {
  struct csi_fake_storage *storage = self;
  if (!begin(storage, ctx, CSI_FAKE_DISK_WAIT_FOR_VOLUMES, handle)) return false;
  int64_t begin_ns = csi_now_ns();
  for (;;) {
    uint32_t limit_ms;
    {
      STORAGE_VISIT(storage);
      if (!check(ctx, CSI_FAKE_DISK_WAIT_FOR_VOLUMES, handle, CSI_DISK_READ_WRITE)) return false;
      if (volumes_are_ready(storage, handle->disk)) return true;
      limit_ms = storage->step_limit_ms;
    }
    if (!csi_ctx_alive(ctx)) return false;
    if (csi_now_ns() - begin_ns >= (int64_t)limit_ms * NS_PER_MS) {
      return csi_fail(&ctx->status, CSI_DEADLINE_EXCEEDED, "%s did not answer within %u ms",
                      csi_fake_step_name(CSI_FAKE_DISK_WAIT_FOR_VOLUMES), (unsigned)limit_ms);
    }
    usleep(WAIT_MS * 1000);
  }
}

static struct storage_volume *find(struct csi_fake_storage *storage, uint32_t disk_number,
                                   uint32_t partition_number) {
  struct storage_disk *disk = storage_find_disk(&storage->model, disk_number);
  struct storage_volume *volume =
      disk == NULL ? NULL : storage_volume_of(&storage->model, disk, partition_number);
  return volume != NULL && storage_has_arrived(volume) ? volume : NULL;
}

static bool fail_partition(struct csi_ctx *ctx, enum csi_fake_step step, uint32_t disk_number,
                           uint32_t partition_number) {
  return csi_fail_system(&ctx->status, CSI_SPACE_WIN32, CSI_FAKE_NO_SUCH_DISK, csi_fake_step_name(step),
                         "the volume of partition %u of disk %u", (unsigned)partition_number,
                         (unsigned)disk_number);
}

static bool find_volume(void *self, struct csi_ctx *ctx, uint32_t disk_number, uint32_t partition_number,
                        char volume_id_out[CSI_VOLUME_ID_BYTES]) {
  struct csi_fake_storage *storage = self;
  if (!storage_begin(storage, ctx, CSI_FAKE_DISK_FIND_VOLUME, disk_number)) return false;
  STORAGE_VISIT(storage);
  struct storage_volume *volume = find(storage, disk_number, partition_number);
  if (volume == NULL || !volume->named)
    return fail_partition(ctx, CSI_FAKE_DISK_FIND_VOLUME, disk_number, partition_number);
  char guid[CSI_GUID_TEXT_BYTES];
  csi_guid_format(&volume->guid, guid);
  snprintf(volume_id_out, CSI_VOLUME_ID_BYTES, "\\\\?\\Volume{%s}\\", guid);
  return true;
}

static bool online_volume(void *self, struct csi_ctx *ctx, uint32_t disk_number, uint32_t partition_number) {
  struct csi_fake_storage *storage = self;
  if (!storage_begin(storage, ctx, CSI_FAKE_DISK_ONLINE_VOLUME, disk_number)) return false;
  STORAGE_VISIT(storage);
  struct storage_volume *volume = find(storage, disk_number, partition_number);
  if (volume == NULL) return fail_partition(ctx, CSI_FAKE_DISK_ONLINE_VOLUME, disk_number, partition_number);
  volume->named = true;
  return true;
}

static bool rescan(void *self, struct csi_ctx *ctx) {
  struct csi_fake_storage *storage = self;
  if (!storage_begin(storage, ctx, CSI_FAKE_DISK_RESCAN, CSI_FAKE_ANY_DISK)) return false;
  STORAGE_VISIT(storage);
  for (struct storage_disk *disk = storage->model.disks; disk != NULL; disk = disk->next)
    if (disk->present) disk->seen_bytes = disk->is.size_bytes;
  return true;
}

static bool get_roles(void *self, struct csi_ctx *ctx, uint32_t disk_number, unsigned *roles_out) {
  struct csi_fake_storage *storage = self;
  if (!storage_begin(storage, ctx, CSI_FAKE_DISK_GET_ROLES, disk_number)) return false;
  STORAGE_VISIT(storage);
  struct storage_disk *disk = storage_find_disk(&storage->model, disk_number);
  const struct storage_volume *windows = storage_find_letter(&storage->model, 'C');
  *roles_out = disk == NULL ? 0 : disk->is.roles;
  if (windows != NULL && windows->disk == disk) *roles_out |= CSI_DISK_HOLDS_WINDOWS;
  return true;
}

static bool new_guid(void *self, struct csi_ctx *ctx, struct csi_guid *guid_out) {
  struct csi_fake_storage *storage = self;
  if (!storage_begin(storage, ctx, CSI_FAKE_DISK_NEW_GUID, CSI_FAKE_ANY_DISK)) return false;
  STORAGE_VISIT(storage);
  *guid_out = storage_new_guid(&storage->model);
  return true;
}

void storage_set_up_disk_host(struct csi_fake_storage *storage) {
  storage->disk_host = (struct csi_disk_host){
      .self = storage,
      .list = list,
      .open_path = open_path,
      .open_number = open_number,
      .close = close_disk,
      .get_number = get_number,
      .get_address = get_address,
      .get_identifiers = get_identifiers,
      .get_descriptor = get_descriptor,
      .get_geometry = get_geometry,
      .get_attributes = get_attributes,
      .get_layout = get_layout,
      .set_attributes = set_attributes,
      .update_properties = update_properties,
      .create_gpt = create_gpt,
      .set_layout = set_layout,
      .grow_partition = grow_partition,
      .read = read_disk,
      .write = write_disk,
      .wait_for_volumes = wait_for_volumes,
      .find_volume = find_volume,
      .online_volume = online_volume,
      .rescan = rescan,
      .get_roles = get_roles,
      .new_guid = new_guid,
  };
}
