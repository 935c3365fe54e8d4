/* SPDX-License-Identifier: Apache-2.0 */
#include "storage_fake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "storage_identity.h"
#include "storage_internal.h"

enum {
  STEP_LIMIT_MS = 30 * 1000,
  WAIT_MS = 1,
  NS_PER_MS = 1000000,
};

static void impossible(const char *what, uint32_t number) {
  fprintf(stderr, "storage_fake: %s %u\n", what, (unsigned)number);
  abort();
}

/* ---- The lock. ---- */

struct csi_fake_storage *storage_enter(struct csi_fake_storage *storage) {
  pthread_mutex_lock(&storage->lock);
  storage_settle(&storage->model);
  return storage;
}

void storage_leave(struct csi_fake_storage **storage) {
  storage_settle(&(*storage)->model);
  pthread_mutex_unlock(&(*storage)->lock);
}

static struct storage_disk *get_disk(struct csi_fake_storage *storage, uint32_t number) {
  struct storage_disk *disk = storage_find_disk(&storage->model, number);
  if (disk == NULL) impossible("there is no disk", number);
  return disk;
}

static struct csi_partition *get_partition(struct storage_disk *disk, uint32_t partition_number) {
  struct csi_partition *partition = storage_find_partition(disk, partition_number);
  if (partition == NULL) impossible("there is no partition", partition_number);
  return partition;
}

static struct storage_volume *get_volume(struct csi_fake_storage *storage, const struct csi_guid *guid) {
  struct storage_volume *volume = storage_find_volume(&storage->model, guid);
  if (volume == NULL) impossible("there is no volume with a guid that begins", guid->data1);
  return volume;
}

/* ---- Steps. ---- */

static const char *const step_names[CSI_FAKE_STEPS] = {
    [CSI_FAKE_DISK_LIST] = "SetupDiGetClassDevsW",
    [CSI_FAKE_DISK_OPEN] = "CreateFileW",
    [CSI_FAKE_DISK_GET_NUMBER] = "IOCTL_STORAGE_GET_DEVICE_NUMBER",
    [CSI_FAKE_DISK_GET_ADDRESS] = "IOCTL_SCSI_GET_ADDRESS",
    [CSI_FAKE_DISK_GET_IDENTIFIERS] = "IOCTL_STORAGE_QUERY_PROPERTY",
    [CSI_FAKE_DISK_GET_DESCRIPTOR] = "IOCTL_STORAGE_QUERY_PROPERTY",
    [CSI_FAKE_DISK_GET_GEOMETRY] = "IOCTL_DISK_GET_DRIVE_GEOMETRY_EX",
    [CSI_FAKE_DISK_GET_ATTRIBUTES] = "IOCTL_DISK_GET_DISK_ATTRIBUTES",
    [CSI_FAKE_DISK_GET_LAYOUT] = "IOCTL_DISK_GET_DRIVE_LAYOUT_EX",
    [CSI_FAKE_DISK_SET_ATTRIBUTES] = "IOCTL_DISK_SET_DISK_ATTRIBUTES",
    [CSI_FAKE_DISK_UPDATE_PROPERTIES] = "IOCTL_DISK_UPDATE_PROPERTIES",
    [CSI_FAKE_DISK_CREATE_GPT] = "IOCTL_DISK_CREATE_DISK",
    [CSI_FAKE_DISK_SET_LAYOUT] = "IOCTL_DISK_SET_DRIVE_LAYOUT_EX",
    [CSI_FAKE_DISK_GROW_PARTITION] = "IOCTL_DISK_GROW_PARTITION",
    [CSI_FAKE_DISK_READ] = "ReadFile",
    [CSI_FAKE_DISK_WRITE] = "WriteFile",
    [CSI_FAKE_DISK_WAIT_FOR_VOLUMES] = "IOCTL_DISK_ARE_VOLUMES_READY",
    [CSI_FAKE_DISK_FIND_VOLUME] = "GetVolumeNameForVolumeMountPointW",
    [CSI_FAKE_DISK_ONLINE_VOLUME] = "IOCTL_VOLUME_ONLINE",
    [CSI_FAKE_DISK_RESCAN] = "CM_Reenumerate_DevNode",
    [CSI_FAKE_DISK_GET_ROLES] = "GetSystemWindowsDirectoryW",
    [CSI_FAKE_DISK_NEW_GUID] = "UuidCreate",
    [CSI_FAKE_VOLUME_OPEN] = "CreateFileW",
    [CSI_FAKE_VOLUME_GET_PARTITION] = "IOCTL_STORAGE_GET_DEVICE_NUMBER",
    [CSI_FAKE_VOLUME_GET_EXTENTS] = "IOCTL_VOLUME_GET_VOLUME_DISK_EXTENTS",
    [CSI_FAKE_VOLUME_READ] = "ReadFile",
    [CSI_FAKE_VOLUME_FLUSH] = "FlushFileBuffers",
    [CSI_FAKE_VOLUME_GET_FILE_SYSTEM_SIZE] = "FSCTL_GET_NTFS_VOLUME_DATA",
    [CSI_FAKE_VOLUME_EXTEND] = "FSCTL_EXTEND_VOLUME",
    [CSI_FAKE_VOLUME_GET_FILE_SYSTEM] = "GetVolumeInformationW",
    [CSI_FAKE_VOLUME_GET_SPACE] = "GetDiskFreeSpaceExW",
    [CSI_FAKE_VOLUME_FORMAT] = "FormatEx",
    [CSI_FAKE_VOLUME_ANNOUNCE_MOUNT] = "IOCTL_MOUNTMGR_VOLUME_MOUNT_POINT_CREATED",
    [CSI_FAKE_VOLUME_GET_DRIVE_VOLUME] = "GetVolumeNameForVolumeMountPointW",
    [CSI_FAKE_VOLUME_LIST_MOUNT_POINTS] = "GetVolumePathNamesForVolumeNameW",
};

const char *csi_fake_step_name(enum csi_fake_step step) {
  return step_names[step];
}

/* The fault that strikes this step; it is used up. */
static bool take_fault(struct csi_fake_storage *storage, enum csi_fake_step step, int64_t disk,
                       struct csi_fake_fault *fault_out) {
  for (struct storage_fault **place = &storage->faults; *place != NULL; place = &(*place)->next) {
    struct storage_fault *fault = *place;
    if (fault->is.step != CSI_FAKE_ANY_STEP && fault->is.step != step) continue;
    if (fault->is.call != NULL && strcmp(fault->is.call, step_names[step]) != 0) continue;
    if (fault->is.disk != CSI_FAKE_ANY_DISK && fault->is.disk != disk) continue;
    if (fault->is.nth > 1) {
      fault->is.nth--;
      continue;
    }
    *fault_out = fault->is;
    storage->struck++;
    if (fault->is.count == 1) {
      *place = fault->next;
      free(fault);
    } else if (fault->is.count > 1) {
      fault->is.count--;
    }
    return true;
  }
  return false;
}

static unsigned clearings(struct csi_fake_storage *storage) {
  STORAGE_VISIT(storage);
  return storage->clearings;
}

/* Waits as a device would that does not answer: until duration_ms are over, nobody waits any more, or the
 * fault is cleared. */
static bool stay_away(struct csi_fake_storage *storage, struct csi_ctx *ctx, enum csi_fake_step step,
                      const struct csi_fake_fault *fault, unsigned clearings_before) {
  uint32_t limit_ms;
  {
    STORAGE_VISIT(storage);
    limit_ms = storage->step_limit_ms;
  }
  int64_t begin_ns = csi_now_ns();
  uint32_t duration_ms = fault->hang ? UINT32_MAX : fault->delay_ms;
  while (clearings(storage) == clearings_before) {
    int64_t elapsed_ms = (csi_now_ns() - begin_ns) / NS_PER_MS;
    if (elapsed_ms >= duration_ms) break;
    if (!fault->ignore_cancel) {
      if (!csi_ctx_alive(ctx)) return csi_explain(&ctx->status, "%s: ", step_names[step]);
      if (elapsed_ms >= limit_ms) {
        return csi_fail(&ctx->status, CSI_DEADLINE_EXCEEDED, "%s did not answer within %u ms",
                        step_names[step], (unsigned)limit_ms);
      }
    }
    usleep(WAIT_MS * 1000);
  }
  return fault->ignore_cancel ? csi_ctx_alive(ctx) : true;
}

static void call_hook(struct csi_fake_storage *storage, enum csi_fake_step step, int64_t disk) {
  csi_fake_storage_hook *hook;
  void *data;
  {
    STORAGE_VISIT(storage);
    hook = storage->hook;
    data = storage->hook_data;
  }
  if (hook != NULL) hook(storage, step, disk, data);
}

bool storage_begin(struct csi_fake_storage *storage, struct csi_ctx *ctx, enum csi_fake_step step,
                   int64_t disk) {
  if (!csi_ctx_alive(ctx)) return false;
  call_hook(storage, step, disk);
  struct csi_fake_fault fault;
  bool struck;
  unsigned clearings_before;
  {
    STORAGE_VISIT(storage);
    struct storage_disk *found =
        disk == CSI_FAKE_ANY_DISK ? NULL : storage_find_disk(&storage->model, (uint32_t)disk);
    storage->steps[step]++;
    if (found != NULL) found->steps[step]++;
    struck = take_fault(storage, step, disk, &fault);
    clearings_before = storage->clearings;
    if (struck && fault.unplug && found != NULL) storage_unplug(found);
  }
  if (!struck) return true;
  if ((fault.hang || fault.delay_ms > 0) && !stay_away(storage, ctx, step, &fault, clearings_before))
    return false;
  if (fault.error == 0) return true;
  if (disk == CSI_FAKE_ANY_DISK) {
    return csi_fail_system(&ctx->status, CSI_SPACE_WIN32, fault.error, step_names[step], "%s",
                           step_names[step]);
  }
  return csi_fail_system(&ctx->status, CSI_SPACE_WIN32, fault.error, step_names[step], "disk %u",
                         (unsigned)disk);
}

/* ---- The node. ---- */

struct csi_fake_storage *csi_fake_storage_new(struct csi_fake_filesystem *files) {
  struct csi_fake_storage *storage = calloc(1, sizeof *storage);
  if (storage == NULL) abort();
  pthread_mutex_init(&storage->lock, NULL);
  storage->model.files = files;
  storage->step_limit_ms = STEP_LIMIT_MS;
  storage_set_up_disk_host(storage);
  storage_set_up_volume_host(storage);
  return storage;
}

static void free_faults(struct csi_fake_storage *storage) {
  while (storage->faults != NULL) {
    struct storage_fault *fault = storage->faults;
    storage->faults = fault->next;
    free(fault);
  }
}

void csi_fake_storage_free(struct csi_fake_storage *storage) {
  if (storage == NULL) return;
  free_faults(storage);
  while (storage->announced != NULL) {
    struct storage_announced *announced = storage->announced;
    storage->announced = announced->next;
    free(announced);
  }
  storage_model_free(&storage->model);
  pthread_mutex_destroy(&storage->lock);
  free(storage);
}

const struct csi_disk_host *csi_fake_disk_host(struct csi_fake_storage *storage) {
  return &storage->disk_host;
}

const struct csi_volume_host *csi_fake_volume_host(struct csi_fake_storage *storage) {
  return &storage->volume_host;
}

/* ---- Scene: disks. ---- */

void csi_fake_storage_add_disk(struct csi_fake_storage *storage, const struct csi_fake_disk *disk) {
  if (disk->sector_bytes != 0 && disk->sector_bytes != 512 && disk->sector_bytes != 4096)
    impossible("no sector size:", disk->sector_bytes);
  STORAGE_VISIT(storage);
  storage_add_disk(&storage->model, disk);
}

void csi_fake_storage_unplug(struct csi_fake_storage *storage, uint32_t number) {
  STORAGE_VISIT(storage);
  storage_unplug(get_disk(storage, number));
}

void csi_fake_storage_plug(struct csi_fake_storage *storage, uint32_t old_number, uint32_t new_number) {
  STORAGE_VISIT(storage);
  struct storage_disk *disk = storage->model.disks;
  while (disk != NULL && !(disk->is.number == old_number && !disk->present))
    disk = disk->next;
  if (disk == NULL) impossible("nobody unplugged disk", old_number);
  storage_plug(&storage->model, disk, new_number);
}

void csi_fake_storage_grow_disk(struct csi_fake_storage *storage, uint32_t number, uint64_t size_bytes) {
  STORAGE_VISIT(storage);
  struct storage_disk *disk = get_disk(storage, number);
  if (size_bytes < disk->is.size_bytes) impossible("disks do not shrink: disk", number);
  disk->is.size_bytes = size_bytes;
}

void csi_fake_storage_set_attributes(struct csi_fake_storage *storage, uint32_t number, bool offline,
                                     bool read_only) {
  STORAGE_VISIT(storage);
  struct storage_disk *disk = get_disk(storage, number);
  disk->is.offline = offline;
  disk->is.read_only = read_only;
}

void csi_fake_storage_set_identity(struct csi_fake_storage *storage, uint32_t number, const char *page83,
                                   const char *serial) {
  uint8_t identifiers[STORAGE_IDENTITY_BYTES], descriptor[STORAGE_IDENTITY_BYTES];
  size_t identifiers_bytes = 0, descriptor_bytes = 0;
  if (!storage_make_identifiers(page83, identifiers, &identifiers_bytes) ||
      !storage_make_descriptor("FAKE", "Disk", serial, STORAGE_BUS_SAS, descriptor, &descriptor_bytes))
    impossible("no such identity: disk", number);
  STORAGE_VISIT(storage);
  storage_set_identity(get_disk(storage, number),
                       (struct csi_bytes){.data = identifiers_bytes == 0 ? NULL : identifiers,
                                          .size_bytes = identifiers_bytes},
                       (struct csi_bytes){.data = descriptor, .size_bytes = descriptor_bytes});
}

void csi_fake_storage_set_descriptor(struct csi_fake_storage *storage, uint32_t number, const char *vendor,
                                     const char *serial, const char *bus) {
  uint8_t descriptor[STORAGE_IDENTITY_BYTES], bus_type;
  size_t size_bytes = 0;
  if (!storage_find_bus(bus, &bus_type) ||
      !storage_make_descriptor(vendor, "Disk", serial, bus_type, descriptor, &size_bytes))
    impossible("no such descriptor: disk", number);
  STORAGE_VISIT(storage);
  struct storage_disk *disk = get_disk(storage, number);
  struct csi_bytes identifiers = disk->is.identifiers;
  uint8_t copy[STORAGE_IDENTITY_BYTES];
  if (identifiers.data != NULL) identifiers.data = memcpy(copy, identifiers.data, identifiers.size_bytes);
  storage_set_identity(disk, identifiers, (struct csi_bytes){.data = descriptor, .size_bytes = size_bytes});
}

void csi_fake_storage_set_roles(struct csi_fake_storage *storage, uint32_t number, unsigned roles) {
  STORAGE_VISIT(storage);
  get_disk(storage, number)->is.roles = roles;
}

void csi_fake_storage_set_address(struct csi_fake_storage *storage, uint32_t number,
                                  const struct csi_disk_address *address) {
  STORAGE_VISIT(storage);
  struct storage_disk *disk = get_disk(storage, number);
  disk->is.has_address = address != NULL;
  if (address != NULL) disk->is.address = *address;
}

void csi_fake_storage_set_volume_delay(struct csi_fake_storage *storage, uint32_t number, uint32_t delay_ms) {
  STORAGE_VISIT(storage);
  get_disk(storage, number)->is.volume_delay_ms = delay_ms;
}

void csi_fake_storage_set_automount(struct csi_fake_storage *storage, bool on) {
  STORAGE_VISIT(storage);
  storage->model.automount_off = !on;
}

/* ---- Scene: partitions. ---- */

void csi_fake_storage_set_style(struct csi_fake_storage *storage, uint32_t number,
                                enum csi_partition_style style) {
  STORAGE_VISIT(storage);
  if (storage_set_style(&storage->model, get_disk(storage, number), style) != 0)
    impossible("too small for a GPT: disk", number);
}

static void add_mbr_partition(struct storage_disk *disk, uint8_t type, uint64_t offset_bytes,
                              uint64_t length_bytes) {
  if (length_bytes == 0) length_bytes = disk->seen_bytes - offset_bytes;
  if (disk->partition_count == 4) impossible("four partitions already: disk", disk->is.number);
  disk->partitions[disk->partition_count] =
      (struct csi_partition){.number = (uint32_t)disk->partition_count + 1,
                             .offset_bytes = offset_bytes,
                             .length_bytes = length_bytes,
                             .mbr_type = type};
  disk->partition_count++;
}

static void add_gpt_partition(struct csi_fake_storage *storage, struct storage_disk *disk,
                              const struct csi_guid *type, uint64_t offset_bytes, uint64_t length_bytes) {
  struct csi_layout layout;
  storage_get_layout(disk, &layout);
  if (length_bytes == 0) {
    uint64_t end = layout.usable_offset_bytes + layout.usable_length_bytes;
    length_bytes = end / CSI_PARTITION_ALIGNMENT_BYTES * CSI_PARTITION_ALIGNMENT_BYTES - offset_bytes;
  }
  struct csi_partition partitions[STORAGE_PARTITIONS_MAX + 1];
  memcpy(partitions, disk->partitions, layout.partition_count * sizeof *partitions);
  partitions[layout.partition_count] = (struct csi_partition){.offset_bytes = offset_bytes,
                                                              .length_bytes = length_bytes,
                                                              .type = *type,
                                                              .id = storage_new_guid(&storage->model)};
  layout.partitions = partitions;
  layout.partition_count++;
  if (storage_set_layout(disk, &layout) != 0) impossible("no such partition: disk", disk->is.number);
}

uint32_t csi_fake_storage_add_partition(struct csi_fake_storage *storage, uint32_t number,
                                        const struct csi_guid *type, uint8_t mbr_type, uint64_t offset_bytes,
                                        uint64_t length_bytes) {
  STORAGE_VISIT(storage);
  struct storage_disk *disk = get_disk(storage, number);
  if (disk->style == CSI_PARTITION_STYLE_MBR) {
    add_mbr_partition(disk, mbr_type, offset_bytes, length_bytes);
  } else if (disk->style == CSI_PARTITION_STYLE_GPT) {
    add_gpt_partition(storage, disk, type, offset_bytes, length_bytes);
  } else {
    impossible("no partition table: disk", number);
  }
  for (size_t i = 0; i < disk->partition_count; i++)
    if (disk->partitions[i].offset_bytes == offset_bytes) return disk->partitions[i].number;
  return 0;
}

void csi_fake_storage_force_layout(struct csi_fake_storage *storage, uint32_t number,
                                   const struct csi_layout *layout) {
  STORAGE_VISIT(storage);
  struct storage_disk *disk = get_disk(storage, number);
  if (layout->partition_count > STORAGE_PARTITIONS_MAX) impossible("too many partitions: disk", number);
  disk->style = layout->style;
  disk->disk_id = layout->disk_id;
  disk->mbr_signature = layout->mbr_signature;
  disk->partition_count = layout->partition_count;
  if (layout->partition_count > 0)
    memcpy(disk->partitions, layout->partitions, layout->partition_count * sizeof *layout->partitions);
}

void csi_fake_storage_get_layout(struct csi_fake_storage *storage, uint32_t number, struct csi_arena *arena,
                                 struct csi_layout *layout_out) {
  STORAGE_VISIT(storage);
  struct storage_disk *disk = get_disk(storage, number);
  storage_get_layout(disk, layout_out);
  layout_out->partitions = csi_arena_alloc_array(arena, disk->partition_count + 1, sizeof *disk->partitions);
  if (layout_out->partitions == NULL) impossible("out of memory: disk", number);
  memcpy(layout_out->partitions, disk->partitions, disk->partition_count * sizeof *disk->partitions);
}

void csi_fake_storage_read(struct csi_fake_storage *storage, uint32_t number, uint64_t offset_bytes,
                           void *bytes_out, size_t size_bytes) {
  STORAGE_VISIT(storage);
  sector_store_read(&get_disk(storage, number)->sectors, offset_bytes, bytes_out, size_bytes);
}

void csi_fake_storage_write(struct csi_fake_storage *storage, uint32_t number, uint64_t offset_bytes,
                            const void *bytes, size_t size_bytes) {
  STORAGE_VISIT(storage);
  sector_store_write(&get_disk(storage, number)->sectors, offset_bytes, bytes, size_bytes);
}

/* ---- Scene: volumes. ---- */

void csi_fake_storage_sign(struct csi_fake_storage *storage, uint32_t number, uint32_t partition_number,
                           enum csi_fake_signature signature) {
  STORAGE_VISIT(storage);
  struct storage_disk *disk = get_disk(storage, number);
  uint64_t serial = storage_new_guid(&storage->model).data1;
  if (!storage_sign(disk, get_partition(disk, partition_number), signature, 0, serial))
    impossible("too small for that file system: partition", partition_number);
}

bool csi_fake_storage_get_volume(struct csi_fake_storage *storage, uint32_t number, uint32_t partition_number,
                                 struct csi_guid *guid_out) {
  STORAGE_VISIT(storage);
  struct storage_disk *disk = get_disk(storage, number);
  struct csi_partition *partition = storage_find_partition(disk, partition_number);
  return partition != NULL && storage_volume_guid(disk, partition, guid_out);
}

bool csi_fake_storage_has_volume(struct csi_fake_storage *storage, const struct csi_guid *guid) {
  STORAGE_VISIT(storage);
  struct storage_volume *volume = storage_find_volume(&storage->model, guid);
  return volume != NULL && volume->named;
}

enum csi_fake_signature csi_fake_storage_get_signature(struct csi_fake_storage *storage,
                                                       const struct csi_guid *guid) {
  STORAGE_VISIT(storage);
  struct storage_volume *volume = get_volume(storage, guid);
  if (!volume->present) impossible("the volume is away: disk", volume->disk->is.number);
  return storage_read_signature(volume->disk, storage_partition_of(volume));
}

void csi_fake_storage_set_used(struct csi_fake_storage *storage, const struct csi_guid *guid,
                               uint64_t used_bytes) {
  STORAGE_VISIT(storage);
  get_volume(storage, guid)->used_bytes = used_bytes;
}

void csi_fake_storage_span(struct csi_fake_storage *storage, const struct csi_guid *guid,
                           const struct csi_extent *extent) {
  STORAGE_VISIT(storage);
  get_volume(storage, guid)->more = *extent;
}

void csi_fake_storage_set_letter(struct csi_fake_storage *storage, const struct csi_guid *guid, char letter) {
  STORAGE_VISIT(storage);
  struct storage_volume *volume = get_volume(storage, guid);
  struct storage_volume *holder = storage_find_letter(&storage->model, letter);
  if (holder != NULL) holder->letter = 0;
  volume->letter = letter;
}

bool storage_latest_mount(struct csi_fake_storage *storage, const char *path, struct csi_guid *guid_out) {
  for (struct storage_announced *mount = storage->announced; mount != NULL; mount = mount->next) {
    if (strcmp(mount->path, path) != 0) continue;
    *guid_out = mount->guid;
    return true;
  }
  return false;
}

bool csi_fake_storage_get_announced(struct csi_fake_storage *storage, const char *path,
                                    struct csi_guid *guid_out) {
  STORAGE_VISIT(storage);
  return storage_latest_mount(storage, path, guid_out);
}

/* ---- Faults. ---- */

void csi_fake_storage_add_fault(struct csi_fake_storage *storage, const struct csi_fake_fault *fault) {
  struct storage_fault *added = calloc(1, sizeof *added);
  if (added == NULL) abort();
  added->is = *fault;
  STORAGE_VISIT(storage);
  struct storage_fault **place = &storage->faults;
  while (*place != NULL)
    place = &(*place)->next;
  *place = added;
}

void csi_fake_storage_clear_faults(struct csi_fake_storage *storage) {
  STORAGE_VISIT(storage);
  free_faults(storage);
  storage->clearings++;
  storage->struck = 0;
}

size_t csi_fake_storage_struck(struct csi_fake_storage *storage) {
  STORAGE_VISIT(storage);
  return storage->struck;
}

void csi_fake_storage_fail(struct csi_fake_storage *storage, enum csi_fake_step step, unsigned nth,
                           uint32_t error) {
  csi_fake_storage_add_fault(
      storage, &(struct csi_fake_fault){
                   .step = step, .disk = CSI_FAKE_ANY_DISK, .nth = nth, .count = 1, .error = error});
}

void csi_fake_storage_set_step_limit(struct csi_fake_storage *storage, uint32_t limit_ms) {
  STORAGE_VISIT(storage);
  storage->step_limit_ms = limit_ms;
}

void csi_fake_storage_set_hook(struct csi_fake_storage *storage, csi_fake_storage_hook *hook, void *data) {
  STORAGE_VISIT(storage);
  storage->hook = hook;
  storage->hook_data = data;
}

/* ---- What happened. ---- */

static size_t count(const size_t steps[CSI_FAKE_STEPS], enum csi_fake_step step) {
  if (step != CSI_FAKE_ANY_STEP) return steps[step];
  size_t sum = 0;
  for (size_t i = 0; i < CSI_FAKE_STEPS; i++)
    sum += steps[i];
  return sum;
}

size_t csi_fake_storage_count_steps(struct csi_fake_storage *storage, enum csi_fake_step step, int64_t disk) {
  STORAGE_VISIT(storage);
  return count(disk == CSI_FAKE_ANY_DISK ? storage->steps : get_disk(storage, (uint32_t)disk)->steps, step);
}

void csi_fake_storage_reset_counts(struct csi_fake_storage *storage) {
  STORAGE_VISIT(storage);
  memset(storage->steps, 0, sizeof storage->steps);
  for (struct storage_disk *disk = storage->model.disks; disk != NULL; disk = disk->next)
    memset(disk->steps, 0, sizeof disk->steps);
}

size_t csi_fake_storage_open_handles(struct csi_fake_storage *storage) {
  STORAGE_VISIT(storage);
  return storage->open_handles;
}
