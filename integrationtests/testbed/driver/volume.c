/* SPDX-License-Identifier: Apache-2.0 */
#include "volume.h"

#include <string.h>

#include "name.h"
#include "park.h"
#include "partition_info.h"
#include "text.h"

/* Wine numbers its own from 0. */
enum { FIRST_DEVICE_NUMBER = 100 };

static uint32_t next_device_number = FIRST_DEVICE_NUMBER;

uint64_t vdisk_volume_offset_bytes(const struct vdisk_volume *volume) {
  return volume->partition.first_sector * volume->disk->settings.sector_bytes;
}

uint64_t vdisk_volume_length_bytes(const struct vdisk_volume *volume) {
  return volume->partition.sector_count * volume->disk->settings.sector_bytes;
}

void vdisk_volume_device_name(const struct vdisk_volume *volume, char name_out[VDISK_VOLUME_NAME_LIMIT]) {
  struct vdisk_text text;
  vdisk_text_init(&text, name_out, VDISK_VOLUME_NAME_LIMIT);
  vdisk_text_add(&text, "\\Device\\HarddiskVolume");
  vdisk_text_add_number(&text, volume->device_number);
}

void vdisk_volume_link_name(const struct vdisk_volume *volume, char name_out[VDISK_VOLUME_NAME_LIMIT]) {
  struct vdisk_text text;
  vdisk_text_init(&text, name_out, VDISK_VOLUME_NAME_LIMIT);
  vdisk_text_add(&text, "\\??\\Volume");
  vdisk_text_add_guid(&text, volume->object.guid);
}

/* \??\HarddiskNPartitionM, \Device\HarddiskN\PartitionM */
static void partition_link_name(const struct vdisk_volume *volume, const char *before, const char *between,
                                char name_out[VDISK_VOLUME_NAME_LIMIT]) {
  struct vdisk_text text;
  vdisk_text_init(&text, name_out, VDISK_VOLUME_NAME_LIMIT);
  vdisk_text_add(&text, before);
  vdisk_text_add_number(&text, volume->disk->object.disk_number);
  vdisk_text_add(&text, between);
  vdisk_text_add_number(&text, volume->partition.number);
}

static void letter_link_name(char letter, char name_out[VDISK_VOLUME_NAME_LIMIT]) {
  struct vdisk_text text;
  vdisk_text_init(&text, name_out, VDISK_VOLUME_NAME_LIMIT);
  vdisk_text_add(&text, "\\??\\");
  vdisk_text_add_bytes(&text, &letter, 1);
  vdisk_text_add(&text, ":");
}

static void set_links(const struct vdisk_volume *volume) {
  char target[VDISK_VOLUME_NAME_LIMIT], link[VDISK_VOLUME_NAME_LIMIT];
  vdisk_volume_device_name(volume, target);
  vdisk_volume_link_name(volume, link);
  vdisk_link_set(link, target);
  partition_link_name(volume, "\\??\\Harddisk", "Partition", link);
  vdisk_link_set(link, target);
  partition_link_name(volume, "\\Device\\Harddisk", "\\Partition", link);
  vdisk_link_set(link, target);
}

static void remove_links(const struct vdisk_volume *volume) {
  char link[VDISK_VOLUME_NAME_LIMIT];
  vdisk_volume_link_name(volume, link);
  vdisk_link_remove(link);
  partition_link_name(volume, "\\??\\Harddisk", "Partition", link);
  vdisk_link_remove(link);
  partition_link_name(volume, "\\Device\\Harddisk", "\\Partition", link);
  vdisk_link_remove(link);
}

void vdisk_volume_hide(struct vdisk_volume *volume, bool is_hidden) {
  volume->object.is_hidden = is_hidden;
  if (is_hidden)
    remove_links(volume);
  else
    set_links(volume);
}

void vdisk_volume_set_letter(struct vdisk_volume *volume, char letter) {
  char link[VDISK_VOLUME_NAME_LIMIT], target[VDISK_VOLUME_NAME_LIMIT];
  if (volume->letter != 0) {
    letter_link_name(volume->letter, link);
    vdisk_link_remove(link);
  }
  volume->letter = letter;
  if (letter == 0) return;
  letter_link_name(letter, link);
  vdisk_volume_device_name(volume, target);
  vdisk_link_set(link, target);
}

size_t vdisk_volume_unique_id(const struct vdisk_volume *volume,
                              uint8_t id_out[VDISK_UNIQUE_ID_LIMIT_BYTES]) {
  static const char gpt_prefix[] = "DMIO:ID:";
  enum { PREFIX_BYTES = sizeof gpt_prefix - 1 };
  if (volume->style == VDISK_STYLE_GPT) {
    memcpy(id_out, gpt_prefix, PREFIX_BYTES);
    memcpy(id_out + PREFIX_BYTES, volume->partition.guid, sizeof volume->partition.guid);
    return PREFIX_BYTES + sizeof volume->partition.guid;
  }
  uint64_t offset_bytes = vdisk_volume_offset_bytes(volume);
  uint32_t signature = volume->disk->table.signature;
  memcpy(id_out, &signature, sizeof signature);
  memcpy(id_out + sizeof signature, &offset_bytes, sizeof offset_bytes);
  return sizeof signature + sizeof offset_bytes;
}

/* FNV-1a of 64 bits. */
static uint64_t hash(uint64_t hash_before, const void *bytes, size_t count) {
  const uint8_t *at = bytes;
  for (size_t i = 0; i < count; i++)
    hash_before = (hash_before ^ at[i]) * 0x100000001B3;
  return hash_before;
}

/* The GUID follows from the unique id, so that a disk that comes back has its volumes under the names they
 * had. salt tells copies of a disk apart. */
static void make_guid(struct vdisk_volume *volume, uint64_t salt) {
  enum { VERSION_AT = 7, VERSION = 0x40, VARIANT_AT = 8, VARIANT = 0x80 };
  uint8_t id[VDISK_UNIQUE_ID_LIMIT_BYTES];
  size_t bytes = vdisk_volume_unique_id(volume, id);
  uint64_t high = hash(hash(0xCBF29CE484222325, &salt, sizeof salt), id, bytes);
  uint64_t low = hash(high, id, bytes);
  uint8_t *guid = volume->object.guid;
  memcpy(guid, &high, sizeof high);
  memcpy(guid + sizeof high, &low, sizeof low);
  guid[VERSION_AT] = (uint8_t)((guid[VERSION_AT] & 0x0F) | VERSION);
  guid[VARIANT_AT] = (uint8_t)((guid[VARIANT_AT] & 0x3F) | VARIANT);
}

static struct vdisk_volume *volume_of(LIST_ENTRY *entry) {
  return CONTAINING_RECORD(entry, struct vdisk_volume, link);
}

struct vdisk_volume *vdisk_volume_next(const struct vdisk_volume *volume) {
  struct vdisk_disk *disk = volume == NULL ? vdisk_disk_next(NULL) : volume->disk;
  LIST_ENTRY *entry = volume == NULL ? NULL : volume->link.Flink;
  for (; disk != NULL; disk = vdisk_disk_next(disk), entry = NULL) {
    for (entry = entry == NULL ? disk->volumes.Flink : entry; entry != &disk->volumes; entry = entry->Flink)
      if (volume_of(entry)->has_arrived) return volume_of(entry);
  }
  return NULL;
}

struct vdisk_volume *vdisk_volume_find(const uint8_t guid[16]) {
  for (struct vdisk_volume *volume = vdisk_volume_next(NULL); volume != NULL;
       volume = vdisk_volume_next(volume))
    if (memcmp(volume->object.guid, guid, sizeof volume->object.guid) == 0) return volume;
  return NULL;
}

bool vdisk_volumes_have_arrived(const struct vdisk_disk *disk) {
  if (!disk->is_started) return false;
  for (LIST_ENTRY *entry = disk->volumes.Flink; entry != &disk->volumes; entry = entry->Flink)
    if (!volume_of(entry)->has_arrived) return false;
  return true;
}

static void tell_waiters(struct vdisk_disk *disk) {
  if (vdisk_volumes_have_arrived(disk)) vdisk_park_end(&disk->object, VDISK_WAIT_VOLUMES, STATUS_SUCCESS);
}

static void free_volume(struct vdisk_object *object) {
  ExFreePoolWithTag(CONTAINING_RECORD(object, struct vdisk_volume, object), VDISK_POOL_TAG);
}

static NTSTATUS create_device(struct vdisk_volume *volume) {
  char name[VDISK_VOLUME_NAME_LIMIT];
  NTSTATUS status;
  do {
    volume->device_number = next_device_number++;
    vdisk_volume_device_name(volume, name);
    status = vdisk_object_create(&volume->object, VDISK_VOLUME, name, FILE_DEVICE_DISK, free_volume);
  } while (status == STATUS_OBJECT_NAME_COLLISION);
  return status;
}

static void drop(struct vdisk_volume *volume) {
  RemoveEntryList(&volume->link);
  vdisk_task_cancel(&volume->arrival);
  if (!volume->has_arrived) {
    free_volume(&volume->object);
    return;
  }
  remove_links(volume);
  vdisk_volume_set_letter(volume, 0);
  vdisk_object_retire(&volume->object);
  vdisk_object_release(&volume->object);
}

static void arrive(struct vdisk_task *task) {
  struct vdisk_volume *volume = CONTAINING_RECORD(task, struct vdisk_volume, arrival);
  struct vdisk_disk *disk = volume->disk;
  uint64_t salt = 0;
  do
    make_guid(volume, salt++);
  while (vdisk_volume_find(volume->object.guid) != NULL);
  if (NT_SUCCESS(create_device(volume))) {
    set_links(volume);
    volume->has_arrived = true;
  } else {
    drop(volume);
  }
  tell_waiters(disk);
}

static void expect(struct vdisk_disk *disk, const struct vdisk_partition *partition) {
  struct vdisk_volume *volume = ExAllocatePoolWithTag(NonPagedPool, sizeof *volume, VDISK_POOL_TAG);
  if (volume == NULL) return;
  *volume = (struct vdisk_volume){.disk = disk, .style = disk->table.style, .partition = *partition};
  InsertTailList(&disk->volumes, &volume->link);
  if (disk->settings.volume_delay_ms == 0)
    arrive(&volume->arrival);
  else
    vdisk_task_schedule(&volume->arrival, arrive, disk->settings.volume_delay_ms);
}

static bool is_of(const struct vdisk_volume *volume, const struct vdisk_partition *partition) {
  return volume->style == volume->disk->table.style && volume->partition.number == partition->number &&
         volume->partition.first_sector == partition->first_sector &&
         memcmp(volume->partition.guid, partition->guid, sizeof partition->guid) == 0;
}

/* The partition the volume is of, as the table has it now; NULL when it has gone. */
static const struct vdisk_partition *partition_of(const struct vdisk_volume *volume) {
  const struct vdisk_table *table = &volume->disk->table;
  for (uint32_t i = 0; i < table->count; i++)
    if (is_of(volume, &table->partitions[i])) return &table->partitions[i];
  return NULL;
}

static bool has_volume(const struct vdisk_disk *disk, const struct vdisk_partition *partition) {
  for (LIST_ENTRY *entry = disk->volumes.Flink; entry != &disk->volumes; entry = entry->Flink)
    if (is_of(volume_of(entry), partition)) return true;
  return false;
}

static void drop_or_refresh(struct vdisk_volume *volume, bool has_volumes) {
  const struct vdisk_partition *partition = has_volumes ? partition_of(volume) : NULL;
  if (partition == NULL || !vdisk_partition_has_volume(volume->style, partition))
    drop(volume);
  else
    volume->partition = *partition;
}

void vdisk_volumes_update(struct vdisk_disk *disk) {
  const struct vdisk_table *table = &disk->table;
  bool has_volumes = disk->is_started && !disk->settings.is_offline;
  for (LIST_ENTRY *entry = disk->volumes.Flink, *next; entry != &disk->volumes; entry = next) {
    next = entry->Flink;
    drop_or_refresh(volume_of(entry), has_volumes);
  }
  for (uint32_t i = 0; has_volumes && i < table->count; i++) {
    const struct vdisk_partition *partition = &table->partitions[i];
    if (vdisk_partition_has_volume(table->style, partition) && !has_volume(disk, partition))
      expect(disk, partition);
  }
  tell_waiters(disk);
}

void vdisk_volumes_remove(struct vdisk_disk *disk) {
  while (!IsListEmpty(&disk->volumes))
    drop(volume_of(disk->volumes.Flink));
}
