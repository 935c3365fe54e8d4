/* SPDX-License-Identifier: Apache-2.0 */
#include "storage_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  TABLE_BYTES = 16384, /* 128 entries */
  MSR_END_BYTES = 16 << 20,
};

static void copy_bytes(struct csi_bytes *to, struct csi_bytes from) {
  if (from.data != NULL && from.data == to->data) return; /* they stay as they are */
  free((void *)to->data);
  *to = (struct csi_bytes){0};
  if (from.data == NULL) return;
  uint8_t *data = malloc(from.size_bytes > 0 ? from.size_bytes : 1);
  if (data == NULL) abort();
  memcpy(data, from.data, from.size_bytes);
  *to = (struct csi_bytes){.data = data, .size_bytes = from.size_bytes};
}

void storage_model_free(struct storage_model *model) {
  while (model->disks != NULL) {
    struct storage_disk *disk = model->disks;
    model->disks = disk->next;
    sector_store_free(&disk->sectors);
    free((void *)disk->is.identifiers.data);
    free((void *)disk->is.descriptor.data);
    free(disk);
  }
  while (model->volumes != NULL) {
    struct storage_volume *volume = model->volumes;
    model->volumes = volume->next;
    free(volume);
  }
}

struct storage_disk *storage_find_disk(struct storage_model *model, uint32_t number) {
  struct storage_disk *disk = model->disks;
  while (disk != NULL && !(disk->present && disk->is.number == number))
    disk = disk->next;
  return disk;
}

static struct storage_disk *find_medium(struct storage_model *model, const char *medium) {
  struct storage_disk *disk = model->disks;
  while (disk != NULL && strcmp(disk->medium, medium) != 0)
    disk = disk->next;
  return disk;
}

bool storage_medium_is_in_use(struct storage_model *model, const char *medium) {
  const struct storage_disk *disk = medium == NULL ? NULL : find_medium(model, medium);
  return disk != NULL && disk->present;
}

static struct storage_disk *new_disk(struct storage_model *model) {
  struct storage_disk *disk = calloc(1, sizeof *disk);
  if (disk == NULL) abort();
  disk->style = CSI_PARTITION_STYLE_RAW;
  disk->next = model->disks;
  model->disks = disk;
  return disk;
}

static void take_out(struct storage_model *model, const struct storage_disk *disk) {
  struct storage_disk **place = &model->disks;
  while (*place != disk)
    place = &(*place)->next;
  *place = disk->next;
}

void storage_plug(struct storage_model *model, struct storage_disk *disk, uint32_t number) {
  if (disk->present || storage_find_disk(model, number) != NULL) {
    fprintf(stderr, "storage_fake: there is a disk %u already\n", (unsigned)number);
    abort();
  }
  take_out(model, disk);
  struct storage_disk **place = &model->disks;
  while (*place != NULL && (*place)->is.number < number)
    place = &(*place)->next;
  disk->next = *place;
  *place = disk;
  disk->is.number = number;
  disk->seen_bytes = disk->is.size_bytes;
  disk->present = true;
  disk->incarnation++;
}

struct storage_disk *storage_add_disk(struct storage_model *model, const struct csi_fake_disk *is) {
  struct storage_disk *disk = is->medium == NULL ? NULL : find_medium(model, is->medium);
  if (disk == NULL) disk = new_disk(model);
  struct csi_bytes identifiers = disk->is.identifiers, descriptor = disk->is.descriptor;
  disk->is = *is;
  disk->is.identifiers = identifiers;
  disk->is.descriptor = descriptor;
  disk->is.medium = NULL;
  if (is->medium != NULL) snprintf(disk->medium, sizeof disk->medium, "%s", is->medium);
  storage_set_identity(disk, is->identifiers, is->descriptor);
  storage_plug(model, disk, is->number);
  return disk;
}

void storage_unplug(struct storage_disk *disk) {
  disk->present = false;
  disk->incarnation++;
}

void storage_set_identity(struct storage_disk *disk, struct csi_bytes identifiers,
                          struct csi_bytes descriptor) {
  copy_bytes(&disk->is.identifiers, identifiers);
  copy_bytes(&disk->is.descriptor, descriptor);
}

uint32_t storage_sector_bytes(const struct storage_disk *disk) {
  return disk->is.sector_bytes == 0 ? 512 : disk->is.sector_bytes;
}

/* Version 4, from a counter: tests that are repeated get the same ones. */
struct csi_guid storage_new_guid(struct storage_model *model) {
  uint64_t words[2];
  for (size_t i = 0; i < 2; i++) {
    uint64_t x = ++model->guids * UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    words[i] = x ^ (x >> 31);
  }
  struct csi_guid guid;
  memcpy(&guid, words, sizeof guid);
  guid.data3 = (uint16_t)((guid.data3 & 0x0FFF) | 0x4000);
  guid.data4[0] = (uint8_t)((guid.data4[0] & 0x3F) | 0x80);
  return guid;
}

/* Protective MBR, header and entries in front, entries and header behind. */
static uint64_t usable_begin(const struct storage_disk *disk) {
  return 2 * (uint64_t)storage_sector_bytes(disk) + TABLE_BYTES;
}

static uint64_t usable_end(const struct storage_disk *disk) {
  uint32_t sector_bytes = storage_sector_bytes(disk);
  return disk->seen_bytes / sector_bytes * sector_bytes - sector_bytes - TABLE_BYTES;
}

struct csi_partition *storage_find_partition(struct storage_disk *disk, uint32_t partition_number) {
  for (size_t i = 0; i < disk->partition_count; i++)
    if (disk->partitions[i].number == partition_number && partition_number != 0) return &disk->partitions[i];
  return NULL;
}

void storage_get_layout(struct storage_disk *disk, struct csi_layout *layout_out) {
  *layout_out = (struct csi_layout){
      .style = disk->style, .partitions = disk->partitions, .partition_count = disk->partition_count};
  if (disk->style == CSI_PARTITION_STYLE_MBR) layout_out->mbr_signature = disk->mbr_signature;
  if (disk->style != CSI_PARTITION_STYLE_GPT) return;
  layout_out->disk_id = disk->disk_id;
  layout_out->usable_offset_bytes = usable_begin(disk);
  layout_out->usable_length_bytes = usable_end(disk) - usable_begin(disk);
  layout_out->max_partition_count = STORAGE_PARTITIONS_MAX;
}

uint32_t storage_create_gpt(struct storage_model *model, struct storage_disk *disk) {
  if (disk->seen_bytes < usable_begin(disk) + (4 << 20)) return CSI_FAKE_INVALID_PARAMETER;
  disk->style = CSI_PARTITION_STYLE_GPT;
  disk->disk_id = storage_new_guid(model);
  disk->partition_count = 0;
  if (!disk->is.msr_on_create || disk->seen_bytes < (128 << 20)) return 0;
  uint64_t offset_bytes = usable_begin(disk);
  disk->partitions[disk->partition_count++] =
      (struct csi_partition){.number = 1,
                             .offset_bytes = offset_bytes,
                             .length_bytes = MSR_END_BYTES - offset_bytes,
                             .type = csi_partition_type_microsoft_reserved,
                             .id = storage_new_guid(model)};
  return 0;
}

uint32_t storage_set_style(struct storage_model *model, struct storage_disk *disk,
                           enum csi_partition_style style) {
  if (style == CSI_PARTITION_STYLE_GPT) {
    uint32_t error = storage_create_gpt(model, disk);
    if (error != 0) return error;
  }
  disk->style = style;
  disk->partition_count = 0;
  disk->mbr_signature = storage_new_guid(model).data1;
  return 0;
}

static bool is_aligned(const struct storage_disk *disk, uint64_t bytes) {
  return bytes % storage_sector_bytes(disk) == 0;
}

static bool overlap(const struct csi_partition *a, const struct csi_partition *b) {
  return a->offset_bytes < b->offset_bytes + b->length_bytes &&
         b->offset_bytes < a->offset_bytes + a->length_bytes;
}

static bool is_possible(const struct storage_disk *disk, const struct csi_layout *layout, size_t index) {
  const struct csi_partition *partition = &layout->partitions[index];
  uint64_t end = usable_end(disk);
  static const struct csi_guid zero = {0};
  if (partition->length_bytes == 0 || !is_aligned(disk, partition->offset_bytes) ||
      !is_aligned(disk, partition->length_bytes) || partition->offset_bytes < usable_begin(disk) ||
      partition->length_bytes > end || partition->offset_bytes > end - partition->length_bytes ||
      csi_guid_equal(&partition->type, &zero) || csi_guid_equal(&partition->id, &zero))
    return false;
  for (size_t i = 0; i < index; i++)
    if (overlap(partition, &layout->partitions[i]) ||
        csi_guid_equal(&partition->id, &layout->partitions[i].id))
      return false;
  return true;
}

static int compare_offset(const void *left, const void *right) {
  const struct csi_partition *a = left, *b = right;
  return a->offset_bytes < b->offset_bytes ? -1 : a->offset_bytes > b->offset_bytes;
}

/* The number an entry had before it was written again: it is the same one when id and place are. */
static uint32_t number_before(const struct storage_disk *disk, const struct csi_partition *partition) {
  for (size_t i = 0; i < disk->partition_count; i++) {
    const struct csi_partition *old = &disk->partitions[i];
    if (csi_guid_equal(&old->id, &partition->id) && old->offset_bytes == partition->offset_bytes)
      return old->number;
  }
  return 0;
}

/* New partitions get the lowest numbers that are free, in the order of their offsets. */
static void number_partitions(struct csi_partition *partitions, size_t count) {
  bool taken[STORAGE_PARTITIONS_MAX + 2] = {true};
  for (size_t i = 0; i < count; i++)
    taken[partitions[i].number] = true;
  uint32_t number = 0;
  for (size_t i = 0; i < count; i++) {
    if (partitions[i].number != 0) continue;
    while (taken[number])
      number++;
    partitions[i].number = number;
    taken[number] = true;
  }
}

uint32_t storage_set_layout(struct storage_disk *disk, const struct csi_layout *layout) {
  if (disk->style != CSI_PARTITION_STYLE_GPT || layout->style != CSI_PARTITION_STYLE_GPT ||
      layout->partition_count > STORAGE_PARTITIONS_MAX)
    return CSI_FAKE_INVALID_PARAMETER;
  for (size_t i = 0; i < layout->partition_count; i++)
    if (!is_possible(disk, layout, i)) return CSI_FAKE_INVALID_PARAMETER;
  struct csi_partition partitions[STORAGE_PARTITIONS_MAX];
  for (size_t i = 0; i < layout->partition_count; i++) {
    partitions[i] = layout->partitions[i];
    partitions[i].number = number_before(disk, &partitions[i]);
  }
  qsort(partitions, layout->partition_count, sizeof *partitions, compare_offset);
  number_partitions(partitions, layout->partition_count);
  memcpy(disk->partitions, partitions, layout->partition_count * sizeof *partitions);
  disk->partition_count = layout->partition_count;
  disk->disk_id = layout->disk_id;
  return 0;
}

uint32_t storage_grow_partition(struct storage_disk *disk, uint32_t partition_number, uint64_t grow_bytes) {
  struct csi_partition *partition = storage_find_partition(disk, partition_number);
  if (partition == NULL || !is_aligned(disk, grow_bytes)) return CSI_FAKE_INVALID_PARAMETER;
  bool gpt = disk->style == CSI_PARTITION_STYLE_GPT;
  uint64_t end = gpt ? usable_end(disk) : disk->seen_bytes;
  uint64_t old_end = partition->offset_bytes + partition->length_bytes;
  if (grow_bytes > end || old_end > end - grow_bytes) return CSI_FAKE_INVALID_PARAMETER;
  if (!gpt && (old_end + grow_bytes) / storage_sector_bytes(disk) > UINT32_MAX)
    return CSI_FAKE_INVALID_PARAMETER;
  struct csi_partition grown = *partition;
  grown.length_bytes += grow_bytes;
  for (size_t i = 0; i < disk->partition_count; i++)
    if (&disk->partitions[i] != partition && overlap(&grown, &disk->partitions[i]))
      return CSI_FAKE_INVALID_PARAMETER;
  *partition = grown;
  return 0;
}
