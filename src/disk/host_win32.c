/* SPDX-License-Identifier: Apache-2.0 */
#include "disk/host_win32.h"

#include <windows.h>

#include <bcrypt.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

#include "base/little_endian.h"
#include "base/text.h"
#include "disk/host_win32_parts.h"
#include "win32/device.h"
#include "win32/device_query.h"
#include "win32/handle.h"
#include "win32/storage_ioctl.h"

enum {
  PATH_UNITS = 32,
  IDENTIFIERS_FIRST_BYTES = 4096, /* big enough that one call does */
  DESCRIPTOR_FIRST_BYTES = 1024,
  PROPERTY_MAX_BYTES = 64 << 10,
  LAYOUT_HEADER_BYTES = 48, /* DRIVE_LAYOUT_INFORMATION_EX up to the entries */
  LAYOUT_FIRST_BYTES = LAYOUT_HEADER_BYTES + 128 * sizeof(PARTITION_INFORMATION_EX),
  LAYOUT_MAX_BYTES = LAYOUT_HEADER_BYTES + CSI_LAYOUT_PARTITIONS_MAX * sizeof(PARTITION_INFORMATION_EX),
  GPT_PARTITIONS = 128,
  VOLUMES_READY_MS = 10 * 60 * 1000, /* in practice the call's deadline */
};

/* disk/layout.c counts on these. */
_Static_assert(sizeof(PARTITION_INFORMATION_EX) == 144, "PARTITION_INFORMATION_EX");
_Static_assert(offsetof(DRIVE_LAYOUT_INFORMATION_EX, PartitionEntry) == LAYOUT_HEADER_BYTES, "layout");
_Static_assert(sizeof(GET_DISK_ATTRIBUTES) == 16 && sizeof(SET_DISK_ATTRIBUTES) == 40, "attributes");

struct csi_open_disk {
  HANDLE handle;
  const char *object; /* "disk 3" */
};

/* --- Open */

static bool open_device(struct csi_ctx *ctx, const wchar_t *path_w, enum csi_disk_access access,
                        const char *object, struct csi_open_disk **disk_out) {
  struct csi_open_disk *disk = csi_arena_alloc(ctx->arena, sizeof *disk);
  if (disk == NULL) return csi_fail_out_of_memory(&ctx->status);
  static const DWORD rights[] = {
      [CSI_DISK_QUERY] = 0,
      [CSI_DISK_READ_WRITE] = GENERIC_READ | GENERIC_WRITE,
      [CSI_DISK_READ] = GENERIC_READ,
  };
  if (!csi_device_open(ctx, path_w, rights[access], object, &disk->handle)) return false;
  disk->object = object;
  *disk_out = disk;
  return true;
}

static bool open_path(void *self, struct csi_ctx *ctx, const char *path, enum csi_disk_access access,
                      struct csi_open_disk **disk_out) {
  (void)self;
  const wchar_t *path_w = csi_utf16_from_utf8(ctx->arena, path, strlen(path), NULL, &ctx->status);
  return path_w != NULL && open_device(ctx, path_w, access, path, disk_out);
}

static void close_disk(void *self, struct csi_open_disk *disk) {
  (void)self;
  csi_handle_close(&disk->handle);
}

static bool get_number(void *self, struct csi_ctx *ctx, struct csi_open_disk *disk, uint32_t *number_out) {
  (void)self;
  STORAGE_DEVICE_NUMBER number;
  if (!csi_device_query(ctx, disk->handle, CSI_CONTROL(IOCTL_STORAGE_GET_DEVICE_NUMBER), &number,
                        sizeof number, sizeof number, disk->object))
    return false;
  if (number.DeviceType != FILE_DEVICE_DISK)
    return csi_fail(&ctx->status, CSI_NOT_FOUND, "%s is no disk, but a device of type %lu", disk->object,
                    number.DeviceType);
  *number_out = number.DeviceNumber;
  return true;
}

static bool open_number(void *self, struct csi_ctx *ctx, uint32_t number, enum csi_disk_access access,
                        struct csi_open_disk **disk_out) {
  wchar_t path_w[PATH_UNITS];
  swprintf(path_w, PATH_UNITS, L"\\\\.\\PhysicalDrive%u", number);
  const char *object = csi_arena_printf(ctx->arena, "disk %" PRIu32, number);
  if (object == NULL) return csi_fail_out_of_memory(&ctx->status);
  struct csi_open_disk *disk = NULL;
  if (!open_device(ctx, path_w, access, object, &disk)) return false;
  uint32_t real_number = 0;
  if (get_number(self, ctx, disk, &real_number)) {
    if (real_number == number) {
      *disk_out = disk;
      return true;
    }
    csi_fail(&ctx->status, CSI_NOT_FOUND, "%s has just become disk %" PRIu32, object, real_number);
  }
  close_disk(self, disk);
  return false;
}

/* --- Questions */

/* UNVERIFIED ON WINDOWS: that these are the numbers in MSFT_Disk.Location, above all for NVMe (LUN =
 * namespace id - 1). */
static bool get_address(void *self, struct csi_ctx *ctx, struct csi_open_disk *disk,
                        struct csi_disk_address *address_out) {
  (void)self;
  SCSI_ADDRESS address;
  if (!csi_device_query(ctx, disk->handle, CSI_CONTROL(IOCTL_SCSI_GET_ADDRESS), &address, sizeof address,
                        sizeof address, disk->object))
    return false;
  *address_out = (struct csi_disk_address){
      .port = address.PortNumber, .path = address.PathId, .target = address.TargetId, .lun = address.Lun};
  return true;
}

/* A descriptor that does not fit is cut without an error; its second field is the size that it has. */
static bool get_property(struct csi_ctx *ctx, struct csi_open_disk *disk, STORAGE_PROPERTY_ID property,
                         size_t first_bytes, struct csi_bytes *bytes_out) {
  STORAGE_PROPERTY_QUERY query = {.PropertyId = property, .QueryType = PropertyStandardQuery};
  for (size_t room_bytes = first_bytes;;) {
    uint8_t *bytes = csi_arena_alloc(ctx->arena, room_bytes);
    if (bytes == NULL) return csi_fail_out_of_memory(&ctx->status);
    size_t returned_bytes;
    if (!csi_device_control(ctx, disk->handle, CSI_CONTROL(IOCTL_STORAGE_QUERY_PROPERTY), &query,
                            sizeof query, bytes, room_bytes, &returned_bytes, disk->object))
      return false;
    size_t real_bytes =
        returned_bytes >= sizeof(STORAGE_DESCRIPTOR_HEADER) ? csi_get_u32(bytes + sizeof(DWORD)) : 0;
    if (real_bytes <= room_bytes || room_bytes > first_bytes || real_bytes > PROPERTY_MAX_BYTES) {
      *bytes_out = (struct csi_bytes){.data = bytes, .size_bytes = returned_bytes};
      return true;
    }
    room_bytes = real_bytes;
  }
}

static bool get_identifiers(void *self, struct csi_ctx *ctx, struct csi_open_disk *disk,
                            struct csi_bytes *bytes_out) {
  (void)self;
  return get_property(ctx, disk, StorageDeviceIdProperty, IDENTIFIERS_FIRST_BYTES, bytes_out);
}

static bool get_descriptor(void *self, struct csi_ctx *ctx, struct csi_open_disk *disk,
                           struct csi_bytes *bytes_out) {
  (void)self;
  return get_property(ctx, disk, StorageDeviceProperty, DESCRIPTOR_FIRST_BYTES, bytes_out);
}

static bool get_geometry(void *self, struct csi_ctx *ctx, struct csi_open_disk *disk,
                         struct csi_disk_geometry *geometry_out) {
  (void)self;
  union {
    DISK_GEOMETRY_EX geometry;
    uint8_t bytes[256]; /* DISK_PARTITION_INFO and DISK_DETECTION_INFO follow */
  } out;
  if (!csi_device_query(ctx, disk->handle, CSI_CONTROL(IOCTL_DISK_GET_DRIVE_GEOMETRY_EX), &out, sizeof out,
                        offsetof(DISK_GEOMETRY_EX, Data), disk->object))
    return false;
  *geometry_out = (struct csi_disk_geometry){
      .size_bytes = (uint64_t)out.geometry.DiskSize.QuadPart,
      .sector_bytes = out.geometry.Geometry.BytesPerSector,
  };
  return true;
}

static bool get_attributes(void *self, struct csi_ctx *ctx, struct csi_open_disk *disk,
                           uint64_t *attributes_out) {
  (void)self;
  GET_DISK_ATTRIBUTES attributes;
  if (!csi_device_query(ctx, disk->handle, CSI_CONTROL(IOCTL_DISK_GET_DISK_ATTRIBUTES), &attributes,
                        sizeof attributes, sizeof attributes, disk->object))
    return false;
  *attributes_out = attributes.Attributes;
  return true;
}

static bool get_layout(void *self, struct csi_ctx *ctx, struct csi_open_disk *disk,
                       struct csi_layout *layout_out) {
  (void)self;
  const uint8_t *bytes;
  size_t size_bytes;
  if (!csi_device_control_grow(ctx, disk->handle, CSI_CONTROL(IOCTL_DISK_GET_DRIVE_LAYOUT_EX), NULL, 0,
                               LAYOUT_FIRST_BYTES, LAYOUT_MAX_BYTES, &bytes, &size_bytes, disk->object))
    return false;
  return csi_layout_parse(ctx->arena, bytes, size_bytes, layout_out, &ctx->status) ||
         csi_explain(&ctx->status, "%s: ", disk->object);
}

/* --- Changes */

static bool tell(struct csi_ctx *ctx, struct csi_open_disk *disk, struct csi_control control, const void *in,
                 size_t in_bytes) {
  return csi_device_control(ctx, disk->handle, control, in, in_bytes, NULL, 0, NULL, disk->object);
}

/* Going offline flushes and dismounts every volume of the disk.
 * UNVERIFIED ON WINDOWS: that Persist is what Set-Disk -IsOffline does. */
static bool set_attributes(void *self, struct csi_ctx *ctx, struct csi_open_disk *disk, uint64_t attributes,
                           uint64_t mask) {
  (void)self;
  SET_DISK_ATTRIBUTES in = {
      .Version = sizeof in, .Persist = TRUE, .Attributes = attributes, .AttributesMask = mask};
  return csi_device_control_for(ctx, disk->handle, CSI_CONTROL(IOCTL_DISK_SET_DISK_ATTRIBUTES), &in,
                                sizeof in, NULL, 0, NULL, disk->object, CSI_DEVICE_FLUSH_MS);
}

static bool update_properties(void *self, struct csi_ctx *ctx, struct csi_open_disk *disk) {
  (void)self;
  return tell(ctx, disk, CSI_CONTROL(IOCTL_DISK_UPDATE_PROPERTIES), NULL, 0);
}

static bool new_guid(void *self, struct csi_ctx *ctx, struct csi_guid *guid_out) {
  (void)self;
  uint8_t bytes[16];
  NTSTATUS status = BCryptGenRandom(NULL, bytes, sizeof bytes, BCRYPT_USE_SYSTEM_PREFERRED_RNG);
  if (status < 0)
    return csi_fail_system(&ctx->status, CSI_SPACE_NTSTATUS, (uint32_t)status, "BCryptGenRandom",
                           "make a GUID");
  *guid_out = csi_get_guid(bytes);
  /* Version 4, variant 1: random. */
  guid_out->data3 = (uint16_t)((guid_out->data3 & 0x0FFF) | 0x4000);
  guid_out->data4[0] = (uint8_t)((guid_out->data4[0] & 0x3F) | 0x80);
  return true;
}

/* UNVERIFIED ON WINDOWS: on which disks this also makes a reserved partition, and where. */
static bool create_gpt(void *self, struct csi_ctx *ctx, struct csi_open_disk *disk) {
  struct csi_guid id;
  if (!new_guid(self, ctx, &id)) return false;
  CREATE_DISK in = {.PartitionStyle = PARTITION_STYLE_GPT, .Gpt.MaxPartitionCount = GPT_PARTITIONS};
  memcpy(&in.Gpt.DiskId, &id, sizeof in.Gpt.DiskId);
  return tell(ctx, disk, CSI_CONTROL(IOCTL_DISK_CREATE_DISK), &in, sizeof in);
}

static bool set_layout(void *self, struct csi_ctx *ctx, struct csi_open_disk *disk,
                       const struct csi_layout *layout) {
  (void)self;
  size_t size_bytes;
  const uint8_t *bytes = csi_layout_serialize(ctx->arena, layout, &size_bytes);
  if (bytes == NULL) return csi_fail_out_of_memory(&ctx->status);
  return tell(ctx, disk, CSI_CONTROL(IOCTL_DISK_SET_DRIVE_LAYOUT_EX), bytes, size_bytes);
}

static bool grow_partition(void *self, struct csi_ctx *ctx, struct csi_open_disk *disk,
                           uint32_t partition_number, uint64_t grow_bytes) {
  (void)self;
  DISK_GROW_PARTITION in = {.PartitionNumber = partition_number,
                            .BytesToGrow.QuadPart = (LONGLONG)grow_bytes};
  return tell(ctx, disk, CSI_CONTROL(IOCTL_DISK_GROW_PARTITION), &in, sizeof in);
}

static bool read_disk(void *self, struct csi_ctx *ctx, struct csi_open_disk *disk, uint64_t offset_bytes,
                      void *bytes_out, size_t size_bytes) {
  (void)self;
  return csi_device_read(ctx, disk->handle, offset_bytes, bytes_out, size_bytes, disk->object);
}

static bool write_disk(void *self, struct csi_ctx *ctx, struct csi_open_disk *disk, uint64_t offset_bytes,
                       const void *bytes, size_t size_bytes) {
  (void)self;
  return csi_device_write(ctx, disk->handle, offset_bytes, bytes, size_bytes, disk->object);
}

/* UNVERIFIED ON WINDOWS: that after this the volume of a new partition always has its name. */
static bool wait_for_volumes(void *self, struct csi_ctx *ctx, struct csi_open_disk *disk) {
  (void)self;
  return csi_device_control_for(ctx, disk->handle, CSI_CONTROL(IOCTL_DISK_ARE_VOLUMES_READY), NULL, 0, NULL,
                                0, NULL, disk->object, VOLUMES_READY_MS);
}

const struct csi_disk_host *csi_disk_host_win32(void) {
  static const struct csi_disk_host host = {
      .list = csi_win32_list_disks,
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
      .find_volume = csi_win32_find_volume,
      .online_volume = csi_win32_online_volume,
      .rescan = csi_win32_rescan,
      .get_roles = csi_win32_get_roles,
      .new_guid = new_guid,
  };
  return &host;
}
