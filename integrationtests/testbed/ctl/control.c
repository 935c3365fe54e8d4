/* SPDX-License-Identifier: Apache-2.0 */
#include "control.h"

#include <windows.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <winioctl.h>

#include "testbed.h"

enum {
  /* A command is never sent twice to get a longer answer: it may have changed something. */
  REPLY_BYTES = CSI_TESTBED_REPLY_LIMIT_BYTES,
};

struct csi_control_device {
  HANDLE device;
  char *reply;
};

bool csi_ctl_fail(struct csi_ctl_error *error, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(error->text, sizeof error->text, format, arguments);
  va_end(arguments);
  return false;
}

bool csi_ctl_fail_win32(struct csi_ctl_error *error, uint32_t number, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(error->text, sizeof error->text, format, arguments);
  va_end(arguments);

  wchar_t reason_w[256];
  DWORD units = FormatMessageW(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, NULL, number, 0,
                               reason_w, ARRAYSIZE(reason_w), NULL);
  while (units > 0 && (reason_w[units - 1] <= L' ' || reason_w[units - 1] == L'.'))
    units--;
  size_t used = strlen(error->text);
  snprintf(error->text + used, sizeof error->text - used, ": Win32 error %lu (0x%lx)%s%.*ls",
           (unsigned long)number, (unsigned long)number, units > 0 ? ", " : "", (int)units, reason_w);
  return false;
}

struct csi_control_device *csi_control_open(struct csi_ctl_error *error) {
  HANDLE device = CreateFileW(CSI_TESTBED_PATH, GENERIC_READ | GENERIC_WRITE,
                              FILE_SHARE_READ | FILE_SHARE_WRITE, NULL, OPEN_EXISTING, 0, NULL);
  if (device == INVALID_HANDLE_VALUE) {
    csi_ctl_fail_win32(error, GetLastError(),
                       "the testbed's driver does not run in this Wine prefix (vdiskctl install DIR)");
    return NULL;
  }
  struct csi_control_device *control = calloc(1, sizeof *control);
  if (control != NULL) control->reply = malloc(REPLY_BYTES + 1);
  if (control == NULL || control->reply == NULL) {
    csi_ctl_fail(error, "out of memory");
    free(control);
    CloseHandle(device);
    return NULL;
  }
  control->device = device;
  return control;
}

void csi_control_close(struct csi_control_device *control) {
  if (control == NULL) return;
  CloseHandle(control->device);
  free(control->reply);
  free(control);
}

/* Returns ERROR_SUCCESS with the answer in control->reply, or the error number. */
static DWORD transact(struct csi_control_device *control, const char *line) {
  DWORD returned = 0;
  if (!DeviceIoControl(control->device, IOCTL_TESTBED_COMMAND, (void *)line, (DWORD)strlen(line),
                       control->reply, REPLY_BYTES, &returned, NULL)) {
    return GetLastError();
  }
  control->reply[returned < REPLY_BYTES ? returned : REPLY_BYTES] = '\0';
  return ERROR_SUCCESS;
}

bool csi_control_send(struct csi_control_device *control, const char *line, const char **reply_out,
                      struct csi_ctl_error *error) {
  DWORD failure = transact(control, line);
  if (failure == ERROR_SUCCESS) {
    *reply_out = control->reply;
    return true;
  }
  /* The answer of a failed control call is lost; the driver keeps its text for whoever asks. */
  if (transact(control, "last-error") != ERROR_SUCCESS || control->reply[0] == '\0')
    return csi_ctl_fail_win32(error, failure, "\"%s\" failed", line);
  control->reply[strcspn(control->reply, "\r\n")] = '\0';
  return csi_ctl_fail_win32(error, failure, "%s", control->reply);
}
