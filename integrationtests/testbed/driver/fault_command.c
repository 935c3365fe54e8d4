/* SPDX-License-Identifier: Apache-2.0
 *
 * `fault add`, `fault clear`, `fault list`.
 */
#include <string.h>

#include "command.h"
#include "disk.h"
#include "fault.h"

static const struct {
  const char *name;
  enum vdisk_fault_action action;
  bool has_parameter;
} actions[] = {
    {"fail", VDISK_FAULT_FAIL, true},        {"delay", VDISK_FAULT_DELAY, true},
    {"hang", VDISK_FAULT_HANG, false},       {"hang-hard", VDISK_FAULT_HANG_HARD, false},
    {"remove", VDISK_FAULT_REMOVE, false},   {"short", VDISK_FAULT_SHORT, false},
    {"garbage", VDISK_FAULT_GARBAGE, false},
};

enum { ACTION_COUNT = sizeof actions / sizeof actions[0] };

static bool parse_object(struct vdisk_command *command, struct vdisk_fault *fault) {
  const char *guid = vdisk_words_value(&command->words, "volume");
  uint64_t number = 0;
  if (!vdisk_command_number(command, "disk", VDISK_NUMBER_MAX, &number)) return false;
  fault->disk_number = (uint32_t)number;
  if (number != 0)
    fault->kind = VDISK_DISK;
  else if (guid != NULL && !vdisk_guid_parse(guid, fault->guid))
    return vdisk_command_refuse(command, "bad volume", guid);
  else if (guid != NULL)
    fault->kind = VDISK_VOLUME;
  else if (vdisk_words_has(&command->words, "mount-manager"))
    fault->kind = VDISK_MOUNT_MANAGER;
  else if (vdisk_words_has(&command->words, "bus"))
    fault->kind = VDISK_BUS;
  else
    fault->is_for_any = true;
  return true;
}

static bool parse_call(struct vdisk_command *command, struct vdisk_fault *fault) {
  const char *name = vdisk_words_value(&command->words, "call");
  if (name == NULL || !vdisk_call_code(name, &fault->code))
    return vdisk_command_refuse(command, "no such call", name);
  if (fault->code == VDISK_CALL_CLOSE) return vdisk_command_refuse(command, "closing cannot fail", NULL);
  uint64_t nth = 1;
  fault->remaining_count = 1;
  if (!vdisk_command_number(command, "nth", UINT32_MAX, &nth) ||
      !vdisk_command_number(command, "count", UINT32_MAX, &fault->remaining_count))
    return false;
  if (nth == 0) return vdisk_command_refuse(command, "nth begins with 1", NULL);
  fault->skip_count = nth - 1;
  return true;
}

static bool parse_action(struct vdisk_command *command, struct vdisk_fault *fault) {
  for (size_t i = 0; i < ACTION_COUNT; i++) {
    if (!vdisk_words_has(&command->words, actions[i].name)) continue;
    uint64_t parameter = 0;
    bool has_parameter = vdisk_words_value(&command->words, actions[i].name) != NULL;
    if (has_parameter != actions[i].has_parameter)
      return vdisk_command_refuse(command, "bad action", actions[i].name);
    if (has_parameter && !vdisk_command_number(command, actions[i].name, UINT32_MAX, &parameter))
      return false;
    fault->action = actions[i].action;
    fault->parameter = (uint32_t)parameter;
    return true;
  }
  return vdisk_command_refuse(command, "no action", NULL);
}

/* What vdisk_fault_add() can do to an open. */
static bool check_open(struct vdisk_command *command, const struct vdisk_fault *fault) {
  if (fault->code != VDISK_CALL_OPEN) return true;
  bool is_possible = !fault->is_for_any && fault->skip_count == 0 && fault->remaining_count == 0 &&
                     fault->action == VDISK_FAULT_FAIL &&
                     fault->parameter == (uint32_t)STATUS_OBJECT_NAME_NOT_FOUND;
  return is_possible ||
         vdisk_command_refuse(
             command, "with Wine, OPEN of one disk or volume can do nothing but fail=0xC0000034 count=0",
             NULL);
}

static NTSTATUS add(struct vdisk_command *command) {
  struct vdisk_fault fault = {.code = 0};
  if (!parse_object(command, &fault) || !parse_call(command, &fault) || !parse_action(command, &fault) ||
      !check_open(command, &fault))
    return STATUS_INVALID_PARAMETER;
  NTSTATUS status = vdisk_command_check_words(command);
  if (NT_SUCCESS(status)) status = vdisk_fault_add(&fault);
  return status == STATUS_NO_SUCH_DEVICE ? vdisk_command_fail(command, status, "it is not there", NULL)
                                         : status;
}

static const char *name_of(enum vdisk_fault_action action) {
  size_t i = 0;
  while (actions[i].action != action)
    i++;
  return actions[i].name;
}

static void describe(struct vdisk_text *text, const struct vdisk_fault *fault) {
  struct vdisk_object object = {.kind = fault->kind, .disk_number = fault->disk_number};
  memcpy(object.guid, fault->guid, sizeof object.guid);
  if (fault->is_for_any)
    vdisk_text_add(text, "any");
  else
    vdisk_object_describe(&object, text);
  vdisk_text_add_word(text, "call", "");
  vdisk_call_describe(fault->code, text);
  vdisk_text_add_number_word(text, "nth", fault->skip_count + 1);
  vdisk_text_add_number_word(text, "count", fault->remaining_count);
  vdisk_text_add_word(text, "action", name_of(fault->action));
  if (fault->action == VDISK_FAULT_FAIL || fault->action == VDISK_FAULT_DELAY) {
    vdisk_text_add_word(text, "parameter", "0x");
    vdisk_text_add_hex(text, fault->parameter, 1);
  }
  vdisk_text_add(text, "\n");
}

static NTSTATUS list(struct vdisk_command *command) {
  for (const struct vdisk_fault *fault = vdisk_fault_next(NULL); fault != NULL;
       fault = vdisk_fault_next(fault))
    describe(&command->reply, fault);
  return vdisk_command_check_words(command);
}

static NTSTATUS clear(struct vdisk_command *command) {
  NTSTATUS status = vdisk_command_check_words(command);
  if (NT_SUCCESS(status)) vdisk_fault_clear();
  return status;
}

NTSTATUS vdisk_fault_command(struct vdisk_command *command, const char *verb) {
  if (strcmp(verb, "add") == 0) return add(command);
  if (strcmp(verb, "clear") == 0) return clear(command);
  if (strcmp(verb, "list") == 0) return list(command);
  return vdisk_command_fail(command, STATUS_INVALID_PARAMETER, "no such command: fault", verb);
}
