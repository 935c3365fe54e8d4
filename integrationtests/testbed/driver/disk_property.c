/* SPDX-License-Identifier: Apache-2.0
 *
 * STORAGE_QUERY_PROPERTY.
 */
#include <string.h>

#include "disk.h"

/* STORAGE_DEVICE_DESCRIPTOR with its strings. */
struct device_descriptor {
  STORAGE_DEVICE_DESCRIPTOR fixed;
  char strings[3 * VDISK_IDENTITY_LIMIT];
};

/* As much of the descriptor as fits: callers ask for the size first, with room for the header only. */
static NTSTATUS reply_descriptor(struct vdisk_call *call, const void *descriptor, size_t bytes) {
  if (call->output_bytes < sizeof(STORAGE_DESCRIPTOR_HEADER)) return STATUS_INFO_LENGTH_MISMATCH;
  return vdisk_call_reply(call, descriptor, bytes < call->output_bytes ? bytes : call->output_bytes);
}

/* Appends a string. Returns its offset. */
static ULONG put_string(struct device_descriptor *descriptor, const char *string) {
  size_t bytes = strlen(string) + 1;
  ULONG offset = descriptor->fixed.Size;
  memcpy((char *)descriptor + offset, string, bytes);
  descriptor->fixed.Size += (ULONG)bytes;
  return offset;
}

static NTSTATUS reply_device(const struct vdisk_disk *disk, struct vdisk_call *call) {
  const struct vdisk_disk_settings *settings = &disk->settings;
  struct device_descriptor descriptor = {
      .fixed = {.Version = sizeof descriptor.fixed,
                .Size = offsetof(struct device_descriptor, strings),
                .RemovableMedia = settings->is_removable,
                .CommandQueueing = TRUE,
                .BusType = settings->bus_type},
  };
  if (settings->vendor[0] != 0) descriptor.fixed.VendorIdOffset = put_string(&descriptor, settings->vendor);
  descriptor.fixed.ProductIdOffset = put_string(&descriptor, settings->product);
  if (settings->has_serial) descriptor.fixed.SerialNumberOffset = put_string(&descriptor, settings->serial);
  descriptor.fixed.RawPropertiesLength =
      descriptor.fixed.Size - (ULONG)offsetof(STORAGE_DEVICE_DESCRIPTOR, RawDeviceProperties);
  return reply_descriptor(call, &descriptor, descriptor.fixed.Size);
}

static NTSTATUS reply_adapter(const struct vdisk_disk *disk, struct vdisk_call *call) {
  STORAGE_ADAPTER_DESCRIPTOR descriptor = {
      .Version = sizeof descriptor,
      .Size = sizeof descriptor,
      .MaximumTransferLength = 1 << 20,
      .MaximumPhysicalPages = (1 << 20) / PAGE_SIZE,
      .CommandQueueing = TRUE,
      .BusType = disk->settings.bus_type,
  };
  return reply_descriptor(call, &descriptor, sizeof descriptor);
}

static NTSTATUS reply_ids(const struct vdisk_disk *disk, struct vdisk_call *call) {
  if (disk->settings.page83.mode == VDISK_PAGE83_UNSUPPORTED) return STATUS_NOT_SUPPORTED;
  uint8_t descriptor[VDISK_PAGE83_DESCRIPTOR_LIMIT_BYTES];
  size_t bytes = vdisk_page83_descriptor(&disk->settings.page83, descriptor);
  return reply_descriptor(call, descriptor, bytes);
}

static NTSTATUS reply_alignment(const struct vdisk_disk *disk, struct vdisk_call *call) {
  STORAGE_ACCESS_ALIGNMENT_DESCRIPTOR descriptor = {
      .Version = sizeof descriptor,
      .Size = sizeof descriptor,
      .BytesPerLogicalSector = disk->settings.sector_bytes,
      .BytesPerPhysicalSector = 4096,
  };
  return reply_descriptor(call, &descriptor, sizeof descriptor);
}

NTSTATUS vdisk_disk_query_property(const struct vdisk_disk *disk, struct vdisk_call *call) {
  STORAGE_PROPERTY_QUERY query;
  NTSTATUS status = vdisk_call_input(call, &query, offsetof(STORAGE_PROPERTY_QUERY, AdditionalParameters));
  if (!NT_SUCCESS(status)) return status;
  bool is_known = query.PropertyId == StorageDeviceProperty || query.PropertyId == StorageAdapterProperty ||
                  query.PropertyId == StorageDeviceIdProperty ||
                  query.PropertyId == StorageAccessAlignmentProperty;
  if (!is_known) return STATUS_NOT_SUPPORTED;
  if (query.QueryType == PropertyExistsQuery) return STATUS_SUCCESS;
  if (query.QueryType != PropertyStandardQuery) return STATUS_NOT_SUPPORTED;
  switch (query.PropertyId) {
  case StorageDeviceProperty:
    return reply_device(disk, call);
  case StorageAdapterProperty:
    return reply_adapter(disk, call);
  case StorageDeviceIdProperty:
    return reply_ids(disk, call);
  default:
    return reply_alignment(disk, call);
  }
}
