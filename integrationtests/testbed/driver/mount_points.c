/* SPDX-License-Identifier: Apache-2.0 */
#include "mount_points.h"

#include <string.h>

#include "name.h"
#include "volume.h"

enum { QUERY_LIMIT_BYTES = 4096, HEADER_BYTES = offsetof(MOUNTMGR_MOUNT_POINTS, MountPoints) };

/* Some bytes somewhere; NULL for none. */
struct bytes {
  const void *at;
  USHORT count;
};

/* One mount point, wherever its parts are; the names are UTF-16. */
struct point {
  struct bytes link;
  struct bytes id;
  struct bytes device;
};

/* The reply on its way. With buffer NULL it is only measured. */
struct reply {
  uint8_t *buffer;
  uint32_t next;       /* index of the point that comes next */
  uint32_t used_bytes; /* the points themselves and what is behind them */
};

struct query {
  struct point wanted;
  const MOUNTMGR_MOUNT_POINTS *wine_points;
  uint32_t wine_bytes;
};

static bool get_bytes(const void *base, uint32_t size_bytes, uint32_t offset, USHORT count,
                      struct bytes *out) {
  *out = (struct bytes){NULL, 0};
  if (count == 0) return true;
  if (offset > size_bytes || count > size_bytes - offset) return false;
  *out = (struct bytes){(const uint8_t *)base + offset, count};
  return true;
}

static bool get_point(const void *base, uint32_t size_bytes, const MOUNTMGR_MOUNT_POINT *raw,
                      struct point *out) {
  return get_bytes(base, size_bytes, raw->SymbolicLinkNameOffset, raw->SymbolicLinkNameLength, &out->link) &&
         get_bytes(base, size_bytes, raw->UniqueIdOffset, raw->UniqueIdLength, &out->id) &&
         get_bytes(base, size_bytes, raw->DeviceNameOffset, raw->DeviceNameLength, &out->device);
}

static UNICODE_STRING string_of(struct bytes name) {
  return (UNICODE_STRING){
      .Length = name.count, .MaximumLength = name.count, .Buffer = (WCHAR *)(uintptr_t)name.at};
}

static bool names_are_equal(struct bytes a, struct bytes b) {
  UNICODE_STRING a_string = string_of(a), b_string = string_of(b);
  return a.count == b.count && RtlEqualUnicodeString(&a_string, &b_string, TRUE);
}

/* Windows looks at one of the three. */
static bool is_wanted(const struct point *wanted, const struct point *point) {
  if (wanted->link.count != 0) return names_are_equal(wanted->link, point->link);
  if (wanted->id.count != 0)
    return wanted->id.count == point->id.count && memcmp(wanted->id.at, point->id.at, wanted->id.count) == 0;
  return wanted->device.count == 0 || names_are_equal(wanted->device, point->device);
}

static void put_bytes(struct reply *reply, struct bytes bytes, ULONG *offset_out, USHORT *count_out) {
  if (reply->buffer != NULL) {
    *offset_out = bytes.count == 0 ? 0 : reply->used_bytes;
    *count_out = bytes.count;
    memcpy(reply->buffer + reply->used_bytes, bytes.at, bytes.count);
  }
  reply->used_bytes += bytes.count;
}

static void put(struct reply *reply, const struct point *point) {
  MOUNTMGR_MOUNT_POINT unused, *raw = &unused;
  if (reply->buffer != NULL) {
    raw = &((MOUNTMGR_MOUNT_POINTS *)reply->buffer)->MountPoints[reply->next];
    memset(raw, 0, sizeof *raw);
  }
  reply->next++;
  put_bytes(reply, point->link, &raw->SymbolicLinkNameOffset, &raw->SymbolicLinkNameLength);
  put_bytes(reply, point->id, &raw->UniqueIdOffset, &raw->UniqueIdLength);
  put_bytes(reply, point->device, &raw->DeviceNameOffset, &raw->DeviceNameLength);
}

static void put_if_wanted(struct reply *reply, const struct query *query, const struct point *point) {
  if (is_wanted(&query->wanted, point)) put(reply, point);
}

static struct bytes bytes_of(const struct vdisk_name *name) {
  return (struct bytes){name->buffer_w, name->string.Length};
}

static void letter_name(char letter, struct vdisk_name *name) {
  char text[] = "\\DosDevices\\?:";
  text[sizeof text - 3] = letter;
  vdisk_name_set(name, text);
}

static void put_volume(struct reply *reply, const struct query *query, const struct vdisk_volume *volume) {
  struct vdisk_name device, link;
  char buffer[VDISK_VOLUME_NAME_LIMIT];
  uint8_t id[VDISK_UNIQUE_ID_LIMIT_BYTES];
  vdisk_volume_device_name(volume, buffer);
  vdisk_name_set(&device, buffer);
  vdisk_volume_link_name(volume, buffer);
  vdisk_name_set(&link, buffer);
  struct point point = {
      .link = bytes_of(&link),
      .id = {id, (USHORT)vdisk_volume_unique_id(volume, id)},
      .device = bytes_of(&device),
  };
  put_if_wanted(reply, query, &point);
  if (volume->letter == 0) return;
  letter_name(volume->letter, &link);
  point.link = bytes_of(&link);
  put_if_wanted(reply, query, &point);
}

/* True when Wine has the letter for a drive of its own that a volume of ours has taken. */
static bool is_our_letter(const struct point *point) {
  struct vdisk_name name;
  for (struct vdisk_volume *volume = vdisk_volume_next(NULL); volume != NULL;
       volume = vdisk_volume_next(volume)) {
    if (volume->letter == 0) continue;
    letter_name(volume->letter, &name);
    if (names_are_equal(point->link, bytes_of(&name))) return true;
  }
  return false;
}

static void put_all(struct reply *reply, const struct query *query) {
  const MOUNTMGR_MOUNT_POINTS *wine = query->wine_points;
  struct point point;
  for (uint32_t i = 0; query->wine_bytes > 0 && i < wine->NumberOfMountPoints; i++) {
    bool is_sound = get_point(wine, query->wine_bytes, &wine->MountPoints[i], &point);
    if (is_sound && !is_our_letter(&point)) put(reply, &point);
  }
  for (struct vdisk_volume *volume = vdisk_volume_next(NULL); volume != NULL;
       volume = vdisk_volume_next(volume))
    put_volume(reply, query, volume);
}

static uint32_t head_bytes(uint32_t count) {
  return (uint32_t)(HEADER_BYTES + count * sizeof(MOUNTMGR_MOUNT_POINT));
}

static NTSTATUS reply_points(struct vdisk_call *call, const struct query *query, NTSTATUS wine_status) {
  struct reply measure = {0};
  put_all(&measure, query);
  if (measure.next == 0 && !NT_SUCCESS(wine_status)) return wine_status;
  MOUNTMGR_MOUNT_POINTS head = {
      .Size = head_bytes(measure.next) + measure.used_bytes,
      .NumberOfMountPoints = measure.next,
  };
  if (call->output_bytes < HEADER_BYTES) return STATUS_INVALID_PARAMETER;
  memcpy(call->buffer, &head, HEADER_BYTES);
  call->information = HEADER_BYTES;
  if (call->output_bytes < head.Size) return STATUS_BUFFER_OVERFLOW;
  struct reply reply = {.buffer = call->buffer, .used_bytes = head_bytes(measure.next)};
  put_all(&reply, query);
  call->information = head.Size;
  return STATUS_SUCCESS;
}

NTSTATUS vdisk_mount_points_query(struct vdisk_call *call, NTSTATUS wine_status,
                                  const MOUNTMGR_MOUNT_POINTS *wine_points, uint32_t wine_bytes) {
  MOUNTMGR_MOUNT_POINT raw;
  NTSTATUS status = vdisk_call_input(call, &raw, sizeof raw);
  if (!NT_SUCCESS(status) || call->input_bytes > QUERY_LIMIT_BYTES) return STATUS_INVALID_PARAMETER;
  uint8_t *input = ExAllocatePoolWithTag(PagedPool, call->input_bytes, VDISK_POOL_TAG);
  if (input == NULL) return STATUS_INSUFFICIENT_RESOURCES;
  memcpy(input, call->buffer, call->input_bytes);
  struct query query = {.wine_points = wine_points, .wine_bytes = wine_bytes};
  status = get_point(input, call->input_bytes, &raw, &query.wanted) ? reply_points(call, &query, wine_status)
                                                                    : STATUS_INVALID_PARAMETER;
  ExFreePoolWithTag(input, VDISK_POOL_TAG);
  return status;
}
