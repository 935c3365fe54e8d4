/* SPDX-License-Identifier: Apache-2.0 */
#include "control.h"

#include <string.h>

#include "../include/testbed.h"
#include "command.h"
#include "name.h"
#include "object.h"

enum { ERROR_LIMIT_BYTES = 256 };

static struct vdisk_object control;
static char last_error[ERROR_LIMIT_BYTES];

NTSTATUS vdisk_control_create(void) {
  NTSTATUS status =
      vdisk_object_create(&control, VDISK_CONTROL, CSI_TESTBED_NT_DEVICE, FILE_DEVICE_UNKNOWN, NULL);
  return NT_SUCCESS(status) ? vdisk_link_set(CSI_TESTBED_NT_LINK, CSI_TESTBED_NT_DEVICE) : status;
}

void vdisk_control_delete(void) {
  vdisk_link_remove(CSI_TESTBED_NT_LINK);
  IoDeleteDevice(control.device);
}

static NTSTATUS run_line(struct vdisk_command *command, char *line) {
  if (!vdisk_words_split(&command->words, line))
    return vdisk_command_fail(command, STATUS_INVALID_PARAMETER, "too many words", NULL);
  if (command->words.count == 0) return STATUS_SUCCESS;
  if (strcmp(command->words.word[0], "last-error") == 0) {
    vdisk_text_add(&command->reply, last_error);
    vdisk_text_add(&command->reply, "\n");
    return STATUS_SUCCESS;
  }
  return vdisk_command_run(command);
}

/* The reply is made where it is to be sent from. Control devices have no other buffer, so the line moves. */
static NTSTATUS run(struct vdisk_call *call, char *line) {
  char error[ERROR_LIMIT_BYTES], nothing[1];
  struct vdisk_command command = {.call = call};
  bool has_output = call->output_bytes > 0;
  vdisk_text_init(&command.reply, has_output ? call->buffer : nothing, has_output ? call->output_bytes : 1);
  vdisk_text_init(&command.error, error, sizeof error);
  NTSTATUS status = run_line(&command, line);
  if (command.reply.is_cut && NT_SUCCESS(status)) status = STATUS_BUFFER_TOO_SMALL;
  if (command.error.length_bytes > 0) memcpy(last_error, error, sizeof last_error);
  if (status != STATUS_PENDING) call->information = (uint32_t)command.reply.length_bytes;
  return status;
}

NTSTATUS vdisk_control_serve(struct vdisk_call *call) {
  if (call->code != IOCTL_TESTBED_COMMAND) return STATUS_INVALID_DEVICE_REQUEST;
  if (call->input_bytes > CSI_TESTBED_COMMAND_LIMIT_BYTES) return STATUS_INVALID_PARAMETER;
  char *line = ExAllocatePoolWithTag(PagedPool, call->input_bytes + 1, VDISK_POOL_TAG);
  if (line == NULL) return STATUS_INSUFFICIENT_RESOURCES;
  memcpy(line, call->buffer, call->input_bytes);
  line[call->input_bytes] = 0;
  NTSTATUS status = run(call, line);
  ExFreePoolWithTag(line, VDISK_POOL_TAG);
  return status;
}
