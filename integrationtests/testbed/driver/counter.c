/* SPDX-License-Identifier: Apache-2.0 */
#include "counter.h"

#include <string.h>

#include "crc32.h"
#include "object.h"

/* Enough for 512 disks with their volumes; what is beyond is not counted. SLOTS is a power of two. */
enum { COUNTERS_MAX = 16384, SLOTS = 2 * COUNTERS_MAX };

/* What is counted together. No padding: keys are hashed and compared as bytes. */
struct key {
  uint32_t kind;
  uint32_t disk_number;
  uint32_t code;
  uint8_t guid[16];
};

struct counter {
  struct key key;
  uint64_t count;
};

static struct counter *counters; /* COUNTERS_MAX */
static uint32_t counter_count;
static uint32_t *slots; /* SLOTS: hash table of indices into counters, plus 1; 0 is free */

NTSTATUS vdisk_counters_init(void) {
  counters = ExAllocatePoolWithTag(NonPagedPool, COUNTERS_MAX * sizeof *counters, VDISK_POOL_TAG);
  slots = ExAllocatePoolWithTag(NonPagedPool, SLOTS * sizeof *slots, VDISK_POOL_TAG);
  if (counters == NULL || slots == NULL) {
    vdisk_counters_free();
    return STATUS_INSUFFICIENT_RESOURCES;
  }
  vdisk_counter_reset();
  return STATUS_SUCCESS;
}

void vdisk_counters_free(void) {
  if (counters != NULL) ExFreePoolWithTag(counters, VDISK_POOL_TAG);
  if (slots != NULL) ExFreePoolWithTag(slots, VDISK_POOL_TAG);
}

static struct key key_of(const struct vdisk_call *call) {
  struct key key = {.kind = call->object->kind, .disk_number = call->object->disk_number, .code = call->code};
  memcpy(key.guid, call->object->guid, sizeof key.guid);
  return key;
}

/* The slot the key has, or would get. */
static uint32_t *slot_of(const struct key *key) {
  uint32_t at = vdisk_crc32(0, key, sizeof *key) % SLOTS;
  while (slots[at] != 0 && memcmp(&counters[slots[at] - 1].key, key, sizeof *key) != 0)
    at = (at + 1) % SLOTS;
  return &slots[at];
}

void vdisk_counter_count(const struct vdisk_call *call) {
  if (call->object->kind == VDISK_CONTROL) return;
  struct key key = key_of(call);
  uint32_t *slot = slot_of(&key);
  if (*slot == 0) {
    if (counter_count == COUNTERS_MAX) return;
    counters[counter_count] = (struct counter){.key = key};
    *slot = ++counter_count;
  }
  counters[*slot - 1].count++;
}

void vdisk_counter_reset(void) {
  counter_count = 0;
  memset(slots, 0, SLOTS * sizeof *slots);
}

void vdisk_counter_list(struct vdisk_text *text) {
  for (uint32_t i = 0; i < counter_count; i++) {
    const struct counter *counter = &counters[i];
    struct vdisk_object object = {.kind = (enum vdisk_kind)counter->key.kind,
                                  .disk_number = counter->key.disk_number};
    memcpy(object.guid, counter->key.guid, sizeof object.guid);
    vdisk_object_describe(&object, text);
    vdisk_text_add_word(text, "call", "");
    vdisk_call_describe(counter->key.code, text);
    vdisk_text_add_number_word(text, "count", counter->count);
    vdisk_text_add(text, "\n");
  }
}
