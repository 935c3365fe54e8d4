/* SPDX-License-Identifier: Apache-2.0
 *
 * `volume list`, `volume set`, `volume letter`.
 */
#include <string.h>

#include "command.h"
#include "volume.h"

static void describe(struct vdisk_text *text, struct vdisk_volume *volume) {
  char device[VDISK_VOLUME_NAME_LIMIT];
  struct vdisk_boot boot;
  bool is_readable = NT_SUCCESS(vdisk_volume_boot(volume, &boot));
  vdisk_volume_device_name(volume, device);
  vdisk_text_add(text, "guid=");
  vdisk_text_add_guid(text, volume->object.guid);
  vdisk_text_add_word(text, "device", device);
  vdisk_text_add_number_word(text, "disk", volume->disk->object.disk_number);
  vdisk_text_add_number_word(text, "partition", volume->partition.number);
  vdisk_text_add_number_word(text, "offset", vdisk_volume_offset_bytes(volume));
  vdisk_text_add_number_word(text, "length", vdisk_volume_length_bytes(volume));
  vdisk_text_add_word(text, "fs", is_readable ? vdisk_fs_name(boot.fs) : "unknown");
  vdisk_text_add_number_word(text, "offline", volume->is_offline);
  if (volume->letter != 0) {
    vdisk_text_add_word(text, "letter", "");
    vdisk_text_add_bytes(text, &volume->letter, 1);
  }
  vdisk_text_add(text, "\n");
}

static NTSTATUS list(struct vdisk_command *command) {
  for (struct vdisk_volume *volume = vdisk_volume_next(NULL); volume != NULL;
       volume = vdisk_volume_next(volume))
    describe(&command->reply, volume);
  return vdisk_command_check_words(command);
}

/* The volume that guid={..} names; NULL after vdisk_command_fail(). */
static struct vdisk_volume *find(struct vdisk_command *command) {
  const char *value = vdisk_words_value(&command->words, "guid");
  uint8_t guid[16];
  struct vdisk_volume *volume =
      value != NULL && vdisk_guid_parse(value, guid) ? vdisk_volume_find(guid) : NULL;
  if (volume == NULL) vdisk_command_fail(command, STATUS_NO_SUCH_DEVICE, "no such volume", value);
  return volume;
}

static NTSTATUS set(struct vdisk_command *command) {
  struct vdisk_volume *volume = find(command);
  if (volume == NULL) return STATUS_NO_SUCH_DEVICE;
  uint64_t used_bytes = volume->used_bytes;
  char *label;
  if (!vdisk_command_number(command, "used", UINT64_MAX, &used_bytes) ||
      !vdisk_command_text(command, "label", &label))
    return STATUS_INVALID_PARAMETER;
  NTSTATUS status = vdisk_command_check_words(command);
  if (!NT_SUCCESS(status)) return status;
  volume->used_bytes = used_bytes;
  return label == NULL ? STATUS_SUCCESS : vdisk_volume_set_label(volume, label);
}

/* Takes the letter from the volume that has it. */
static void take_letter(char value) {
  for (struct vdisk_volume *volume = vdisk_volume_next(NULL); volume != NULL;
       volume = vdisk_volume_next(volume))
    if (value != 0 && volume->letter == value) vdisk_volume_set_letter(volume, 0);
}

static NTSTATUS letter(struct vdisk_command *command) {
  struct vdisk_volume *volume = find(command);
  if (volume == NULL) return STATUS_NO_SUCH_DEVICE;
  const char *value = vdisk_words_value(&command->words, "letter");
  NTSTATUS status = vdisk_command_check_words(command);
  if (!NT_SUCCESS(status)) return status;
  bool is_none = value != NULL && strcmp(value, "none") == 0;
  if (!is_none && (value == NULL || value[0] < 'A' || value[0] > 'Z' || value[1] != 0))
    return vdisk_command_fail(command, STATUS_INVALID_PARAMETER, "letter is A to Z or none", NULL);
  take_letter(is_none ? 0 : value[0]);
  vdisk_volume_set_letter(volume, is_none ? 0 : value[0]);
  return STATUS_SUCCESS;
}

NTSTATUS vdisk_volume_command(struct vdisk_command *command, const char *verb) {
  if (strcmp(verb, "list") == 0) return list(command);
  if (strcmp(verb, "set") == 0) return set(command);
  if (strcmp(verb, "letter") == 0) return letter(command);
  return vdisk_command_fail(command, STATUS_INVALID_PARAMETER, "no such command: volume", verb);
}
