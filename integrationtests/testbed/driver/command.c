/* SPDX-License-Identifier: Apache-2.0 */
#include "command.h"

#include <string.h>

#include "bus.h"
#include "counter.h"
#include "disk.h"
#include "fault.h"
#include "mount_folder.h"
#include "park.h"
#include "volume.h"

NTSTATUS vdisk_command_fail(struct vdisk_command *command, NTSTATUS status, const char *text,
                            const char *detail) {
  vdisk_text_add(&command->error, text);
  if (detail != NULL) {
    vdisk_text_add(&command->error, ": ");
    vdisk_text_add(&command->error, detail);
  }
  return status;
}

bool vdisk_command_refuse(struct vdisk_command *command, const char *text, const char *detail) {
  vdisk_command_fail(command, STATUS_INVALID_PARAMETER, text, detail);
  return false;
}

bool vdisk_command_number(struct vdisk_command *command, const char *key, uint64_t limit,
                          uint64_t *number_out) {
  const char *value = vdisk_words_value(&command->words, key);
  if (value == NULL) return true;
  uint64_t number;
  if (vdisk_number_parse(value, &number) && number <= limit) {
    *number_out = number;
    return true;
  }
  return vdisk_command_refuse(command, "bad number", key);
}

bool vdisk_command_text(struct vdisk_command *command, const char *key, char **text_out) {
  *text_out = vdisk_words_value(&command->words, key);
  return *text_out == NULL || vdisk_percent_decode(*text_out) ||
         vdisk_command_refuse(command, "bad %XX", key);
}

NTSTATUS vdisk_command_check_words(struct vdisk_command *command) {
  const char *unused = vdisk_words_unused(&command->words);
  if (unused == NULL) return STATUS_SUCCESS;
  return vdisk_command_fail(command, STATUS_INVALID_PARAMETER, "not understood", unused);
}

/* Everything as it was when the driver was loaded. Completes when plug and play has let go of every disk. */
static NTSTATUS reset(struct vdisk_command *command) {
  NTSTATUS status = vdisk_command_check_words(command);
  if (!NT_SUCCESS(status)) return status;
  vdisk_fault_clear();
  for (struct vdisk_disk *disk; (disk = vdisk_disk_next(NULL)) != NULL;)
    vdisk_disk_pull(disk);
  vdisk_mount_folder_reset();
  vdisk_counter_reset();
  if (vdisk_disks_known() == 0) return STATUS_SUCCESS;
  return vdisk_park(command->call, vdisk_bus_object(), VDISK_WAIT_REMOVED, 0);
}

static void list_handles(struct vdisk_text *text, const struct vdisk_object *object) {
  vdisk_object_describe(object, text);
  vdisk_text_add_word(text, "call", "HANDLES");
  vdisk_text_add_number_word(text, "count", object->open_handles);
  vdisk_text_add(text, "\n");
}

/* Calls so far, and how many handles are open right now at what is there. */
static NTSTATUS counters_command(struct vdisk_command *command, const char *verb) {
  NTSTATUS status = vdisk_command_check_words(command);
  if (!NT_SUCCESS(status)) return status;
  if (strcmp(verb, "reset") == 0) {
    vdisk_counter_reset();
    return STATUS_SUCCESS;
  }
  if (verb[0] != 0)
    return vdisk_command_fail(command, STATUS_INVALID_PARAMETER, "no such command: counters", verb);
  vdisk_counter_list(&command->reply);
  for (struct vdisk_disk *disk = vdisk_disk_next(NULL); disk != NULL; disk = vdisk_disk_next(disk))
    list_handles(&command->reply, &disk->object);
  for (struct vdisk_volume *volume = vdisk_volume_next(NULL); volume != NULL;
       volume = vdisk_volume_next(volume))
    list_handles(&command->reply, &volume->object);
  return STATUS_SUCCESS;
}

static NTSTATUS mount_command(struct vdisk_command *command, const char *verb) {
  if (strcmp(verb, "list") != 0)
    return vdisk_command_fail(command, STATUS_INVALID_PARAMETER, "no such command: mount", verb);
  vdisk_mount_folder_list(&command->reply);
  return vdisk_command_check_words(command);
}

NTSTATUS vdisk_command_run(struct vdisk_command *command) {
  const char *noun = vdisk_words_take(&command->words);
  const char *verb = vdisk_words_take(&command->words);
  if (strcmp(noun, "disk") == 0) return vdisk_disk_command(command, verb);
  if (strcmp(noun, "volume") == 0) return vdisk_volume_command(command, verb);
  if (strcmp(noun, "fault") == 0) return vdisk_fault_command(command, verb);
  if (strcmp(noun, "counters") == 0) return counters_command(command, verb);
  if (strcmp(noun, "mount") == 0) return mount_command(command, verb);
  if (strcmp(noun, "reset") == 0) return reset(command);
  return vdisk_command_fail(command, STATUS_INVALID_PARAMETER, "no such command", noun);
}
