/* SPDX-License-Identifier: Apache-2.0
 *
 * Commands to the testbed's driver, by the control program's own code.
 */
#include <windows.h>

#include <stdio.h>
#include <string.h>

#include "ctl/command.h"
#include "ctl/control.h"
#include "scene.h"

#define MEMORY_KEY L"SYSTEM\\CurrentControlSet\\Control\\Session Manager\\Memory Management"

/* What is in it is what the stand-in for fmifs.dll does wrong; see testbed/fmifs/knobs.h. */
#define FORMAT_KNOBS L"C:\\csi-testbed\\fmifs.txt"

static struct csi_control_device *control;

bool scene_open(const struct settings *settings, char *why, size_t why_bytes) {
  (void)settings;
  struct csi_ctl_error error = {0};
  control = csi_control_open(&error);
  if (control == NULL) snprintf(why, why_bytes, "%s", error.text);
  return control != NULL;
}

void scene_close(void) {
  csi_control_close(control);
}

bool scene_command(const char *line, char *reply, size_t reply_bytes) {
  struct csi_ctl_error error = {0};
  const char *answer = "";
  bool done = csi_command_execute(control, line, &answer, &error);
  snprintf(reply, reply_bytes, "%s", done ? answer : error.text);
  return done;
}

/* The testbed runs in a Wine prefix of its own, where nobody has a page file. */
bool scene_set_page_file(uint32_t disk, const char *id, char *reply, size_t reply_bytes) {
  static const wchar_t files_w[] = L"P:\\pagefile.sys 0 0\0";
  char line[128];
  (void)disk;
  if (id == NULL) {
    RegDeleteKeyValueW(HKEY_LOCAL_MACHINE, MEMORY_KEY, L"PagingFiles");
    return true;
  }
  snprintf(line, sizeof line, "volume letter guid=%.38s letter=P", id + strlen("\\\\?\\Volume"));
  if (!scene_command(line, reply, reply_bytes)) return false;
  LSTATUS error =
      RegSetKeyValueW(HKEY_LOCAL_MACHINE, MEMORY_KEY, L"PagingFiles", REG_MULTI_SZ, files_w, sizeof files_w);
  if (error != ERROR_SUCCESS) snprintf(reply, reply_bytes, "RegSetKeyValueW: error %ld", (long)error);
  return error == ERROR_SUCCESS;
}

bool scene_set_format(uint32_t disk, enum scene_format format, char *reply, size_t reply_bytes) {
  (void)disk;
  if (format == SCENE_FORMAT_WORKS) {
    DeleteFileW(FORMAT_KNOBS);
    return true;
  }
  FILE *file = _wfopen(FORMAT_KNOBS, L"wb");
  bool written = file != NULL && fputs(format == SCENE_FORMAT_HANGS ? "hang" : "fail=0x08", file) >= 0;
  if (file != NULL && fclose(file) != 0) written = false;
  if (!written) snprintf(reply, reply_bytes, "cannot write the file for the formatting stand-in");
  return written;
}
