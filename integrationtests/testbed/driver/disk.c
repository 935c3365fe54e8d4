/* SPDX-License-Identifier: Apache-2.0 */
#include "disk.h"

#include "bus.h"
#include "name.h"
#include "park.h"
#include "text.h"
#include "volume.h"

enum { DEVICE_NAME_LIMIT = 64 };

static LIST_ENTRY disks = {&disks, &disks}; /* by number */
static uint32_t plugged_count, known_count, generations;

/* `<before><number><after>`, such as \??\PhysicalDrive7. */
static void name_of(char *buffer, const char *before, uint32_t number, const char *after) {
  struct vdisk_text text;
  vdisk_text_init(&text, buffer, DEVICE_NAME_LIMIT);
  vdisk_text_add(&text, before);
  vdisk_text_add_number(&text, number);
  vdisk_text_add(&text, after);
}

/* \Device\HarddiskN\DRg: with a name of its own for each time that a disk is plugged in, because a device
 * that is gone keeps its name until the last handle is closed. */
static void device_name_of(const struct vdisk_disk *disk, char *buffer) {
  struct vdisk_text text;
  vdisk_text_init(&text, buffer, DEVICE_NAME_LIMIT);
  vdisk_text_add(&text, "\\Device\\Harddisk");
  vdisk_text_add_number(&text, disk->object.disk_number);
  vdisk_text_add(&text, "\\DR");
  vdisk_text_add_number(&text, disk->generation);
}

static void for_each_link(struct vdisk_disk *disk, void (*visit)(const char *link, const char *target)) {
  char target[DEVICE_NAME_LIMIT], link[DEVICE_NAME_LIMIT];
  uint32_t number = disk->object.disk_number;
  device_name_of(disk, target);
  name_of(link, "\\??\\PhysicalDrive", number, "");
  visit(link, target);
  name_of(link, "\\??\\Harddisk", number, "Partition0");
  visit(link, target);
  name_of(link, "\\Device\\Harddisk", number, "\\Partition0");
  visit(link, target);
}

static void set_link(const char *link, const char *target) {
  vdisk_link_set(link, target);
}

static void remove_link(const char *link, const char *target) {
  (void)target;
  vdisk_link_remove(link);
}

static NTSTATUS create_directory(struct vdisk_disk *disk) {
  char buffer[DEVICE_NAME_LIMIT];
  name_of(buffer, "\\Device\\Harddisk", disk->object.disk_number, "");
  struct vdisk_name name;
  vdisk_name_set(&name, buffer);
  OBJECT_ATTRIBUTES attributes;
  InitializeObjectAttributes(&attributes, &name.string, OBJ_CASE_INSENSITIVE | OBJ_KERNEL_HANDLE | OBJ_OPENIF,
                             NULL, NULL);
  return ZwCreateDirectoryObject(&disk->directory, DIRECTORY_ALL_ACCESS, &attributes);
}

static void free_disk(struct vdisk_object *object) {
  struct vdisk_disk *disk = CONTAINING_RECORD(object, struct vdisk_disk, object);
  if (disk->directory != NULL) ZwClose(disk->directory);
  vdisk_backing_close(&disk->backing);
  ExFreePoolWithTag(disk, VDISK_POOL_TAG);
}

static void insert_by_number(struct vdisk_disk *disk) {
  LIST_ENTRY *before = disks.Blink;
  while (before != &disks &&
         CONTAINING_RECORD(before, struct vdisk_disk, link)->object.disk_number > disk->object.disk_number)
    before = before->Blink;
  InsertHeadList(before, &disk->link);
  plugged_count++;
  known_count++;
}

static NTSTATUS set_up(struct vdisk_disk *disk, const char *path) {
  NTSTATUS status = vdisk_backing_open(&disk->backing, path, disk->settings.size_bytes);
  if (NT_SUCCESS(status)) status = create_directory(disk);
  if (!NT_SUCCESS(status)) return status;
  char name[DEVICE_NAME_LIMIT];
  device_name_of(disk, name);
  return vdisk_object_create(&disk->object, VDISK_DISK, name, FILE_DEVICE_DISK, free_disk);
}

NTSTATUS vdisk_disk_add(uint32_t number, const struct vdisk_disk_settings *settings, const char *path,
                        struct vdisk_disk **disk_out) {
  if (vdisk_disk_find(number) != NULL) return STATUS_OBJECT_NAME_COLLISION;
  if (plugged_count == VDISK_DISKS_MAX) return STATUS_TOO_MANY_NODES;
  struct vdisk_disk *disk = ExAllocatePoolWithTag(NonPagedPool, sizeof *disk, VDISK_POOL_TAG);
  if (disk == NULL) return STATUS_INSUFFICIENT_RESOURCES;
  RtlZeroMemory(disk, sizeof *disk);
  disk->object.disk_number = number;
  disk->settings = *settings;
  disk->generation = ++generations;
  InitializeListHead(&disk->volumes);
  NTSTATUS status = set_up(disk, path);
  if (NT_SUCCESS(status)) status = vdisk_disk_refresh(disk);
  if (!NT_SUCCESS(status)) {
    if (disk->object.device != NULL) IoDeleteDevice(disk->object.device);
    free_disk(&disk->object);
    return status;
  }
  insert_by_number(disk);
  for_each_link(disk, set_link);
  vdisk_bus_changed();
  *disk_out = disk;
  return STATUS_SUCCESS;
}

void vdisk_disk_pull(struct vdisk_disk *disk) {
  RemoveEntryList(&disk->link);
  plugged_count--;
  for_each_link(disk, remove_link);
  vdisk_volumes_remove(disk);
  vdisk_object_retire(&disk->object);
  if (disk->is_reported)
    vdisk_bus_changed();
  else
    vdisk_disk_removed(disk);
}

void vdisk_disk_hide(struct vdisk_disk *disk, bool is_hidden) {
  char device[DEVICE_NAME_LIMIT];
  struct vdisk_name device_w;
  disk->object.is_hidden = is_hidden;
  for_each_link(disk, is_hidden ? remove_link : set_link);
  if (disk->interface_name.Buffer == NULL) return;
  IoDeleteSymbolicLink(&disk->interface_name);
  if (is_hidden || disk->settings.is_interface_broken) return;
  device_name_of(disk, device);
  vdisk_name_set(&device_w, device);
  IoCreateSymbolicLink(&disk->interface_name, &device_w.string);
}

void vdisk_disk_started(struct vdisk_disk *disk) {
  disk->is_started = true;
  vdisk_disk_hide(disk, disk->object.is_hidden);
  vdisk_volumes_update(disk);
}

void vdisk_disk_removed(struct vdisk_disk *disk) {
  known_count--;
  vdisk_park_end(&disk->object, VDISK_WAIT_REMOVED, STATUS_SUCCESS);
  if (known_count == 0) vdisk_park_end(vdisk_bus_object(), VDISK_WAIT_REMOVED, STATUS_SUCCESS);
  vdisk_object_release(&disk->object);
}

struct vdisk_disk *vdisk_disk_next(const struct vdisk_disk *disk) {
  LIST_ENTRY *next = disk == NULL ? disks.Flink : disk->link.Flink;
  return next == &disks ? NULL : CONTAINING_RECORD(next, struct vdisk_disk, link);
}

struct vdisk_disk *vdisk_disk_find(uint32_t number) {
  for (struct vdisk_disk *disk = vdisk_disk_next(NULL); disk != NULL; disk = vdisk_disk_next(disk))
    if (disk->object.disk_number == number) return disk;
  return NULL;
}

uint32_t vdisk_disk_count(void) {
  return plugged_count;
}

uint32_t vdisk_disks_known(void) {
  return known_count;
}

NTSTATUS vdisk_disk_grow(struct vdisk_disk *disk, uint64_t size_bytes) {
  NTSTATUS status = vdisk_backing_grow(&disk->backing, size_bytes);
  if (NT_SUCCESS(status)) disk->settings.size_bytes = size_bytes;
  return status;
}

static bool read_sectors(void *context, uint64_t first, uint32_t count, void *buffer) {
  struct vdisk_disk *disk = context;
  uint32_t sector_bytes = disk->settings.sector_bytes;
  return NT_SUCCESS(vdisk_backing_read(&disk->backing, first * sector_bytes, buffer, count * sector_bytes));
}

static bool write_sectors(void *context, uint64_t first, uint32_t count, const void *buffer) {
  struct vdisk_disk *disk = context;
  uint32_t sector_bytes = disk->settings.sector_bytes;
  return NT_SUCCESS(vdisk_backing_write(&disk->backing, first * sector_bytes, buffer, count * sector_bytes));
}

struct vdisk_sectors vdisk_disk_sectors(struct vdisk_disk *disk) {
  return (struct vdisk_sectors){
      .context = disk,
      .count = disk->size_bytes / disk->settings.sector_bytes,
      .sector_bytes = disk->settings.sector_bytes,
      .read = read_sectors,
      .write = write_sectors,
  };
}

NTSTATUS vdisk_disk_refresh(struct vdisk_disk *disk) {
  disk->size_bytes = disk->settings.size_bytes;
  struct vdisk_sectors sectors = vdisk_disk_sectors(disk);
  if (!vdisk_table_read(&sectors, &disk->table)) return STATUS_IO_DEVICE_ERROR;
  vdisk_volumes_update(disk);
  return STATUS_SUCCESS;
}

NTSTATUS vdisk_disk_check_writable(const struct vdisk_disk *disk) {
  if (disk->settings.is_offline) return STATUS_DEVICE_NOT_READY;
  return disk->settings.is_read_only ? STATUS_MEDIA_WRITE_PROTECTED : STATUS_SUCCESS;
}

NTSTATUS vdisk_disk_write_table(struct vdisk_disk *disk) {
  struct vdisk_sectors sectors = vdisk_disk_sectors(disk);
  if (!vdisk_table_write(&sectors, &disk->table)) return STATUS_IO_DEVICE_ERROR;
  vdisk_volumes_update(disk);
  return STATUS_SUCCESS;
}

NTSTATUS vdisk_disk_set_table(struct vdisk_disk *disk, const struct vdisk_table *table) {
  disk->table = *table;
  return vdisk_disk_write_table(disk);
}

NTSTATUS vdisk_disk_transfer(struct vdisk_disk *disk, struct vdisk_call *call) {
  bool is_write = call->code == VDISK_CALL_WRITE;
  uint32_t bytes = is_write ? call->input_bytes : call->output_bytes;
  if (is_write && disk->settings.is_read_only) return STATUS_MEDIA_WRITE_PROTECTED;
  if ((call->offset_bytes | bytes) % disk->settings.sector_bytes != 0) return STATUS_INVALID_PARAMETER;
  if (call->offset_bytes > disk->size_bytes || bytes > disk->size_bytes - call->offset_bytes)
    return STATUS_NONEXISTENT_SECTOR;
  call->information = bytes;
  if (is_write) return vdisk_backing_write(&disk->backing, call->offset_bytes, call->buffer, bytes);
  return vdisk_backing_read(&disk->backing, call->offset_bytes, call->buffer, bytes);
}
