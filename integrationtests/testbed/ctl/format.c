/* SPDX-License-Identifier: Apache-2.0 */
#include "format.h"

#include <windows.h>

#include <stdint.h>
#include <stdio.h>
#include <wchar.h>

enum {
  FIXED_MEDIA = 12,
  COMMAND_PROGRESS = 0x00,
  COMMAND_DONE = 0x0B,
  ROOT_UNITS = 80,
  TEXT_UNITS = 128,
};

typedef BOOLEAN(WINAPI *format_callback)(ULONG command, ULONG action, void *argument);
typedef void(WINAPI *format_function)(wchar_t *root_w, ULONG media_type, wchar_t *file_system_w,
                                      wchar_t *label_w, BOOLEAN quick, ULONG cluster_bytes,
                                      format_callback callback);

/* The callback has no argument of ours. */
static struct {
  struct vdisk_text *reply;
  uint32_t percent;
  bool is_done, succeeded;
} progress;

static BOOLEAN WINAPI on_command(ULONG command, ULONG action, void *argument) {
  (void)action;
  if (command == COMMAND_PROGRESS) {
    progress.percent = *(const DWORD *)argument;
    return TRUE;
  }
  vdisk_text_add(progress.reply, "command=0x");
  vdisk_text_add_hex(progress.reply, command, 2);
  if (command == COMMAND_DONE) {
    progress.is_done = true;
    progress.succeeded = *(const BOOLEAN *)argument;
    vdisk_text_add_number_word(progress.reply, "success", progress.succeeded);
    vdisk_text_add_number_word(progress.reply, "progress", progress.percent);
  }
  vdisk_text_add(progress.reply, "\n");
  return TRUE;
}

static format_function load(struct csi_ctl_error *error) {
  HMODULE library = LoadLibraryW(L"fmifs.dll");
  if (library == NULL) {
    csi_ctl_fail_win32(error, GetLastError(), "there is no fmifs.dll");
    return NULL;
  }
  format_function function = (format_function)(void (*)(void))GetProcAddress(library, "FormatEx");
  if (function == NULL) csi_ctl_fail_win32(error, GetLastError(), "fmifs.dll has no FormatEx");
  return function;
}

/* A word's value as UTF-16; empty when it is not there. */
static bool widen(char *value, wchar_t text_w[TEXT_UNITS], struct csi_ctl_error *error) {
  text_w[0] = L'\0';
  if (value == NULL) return true;
  if (!vdisk_percent_decode(value) ||
      MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, value, -1, text_w, TEXT_UNITS) == 0) {
    return csi_ctl_fail(error, "%s is no text of usual length", value);
  }
  return true;
}

bool csi_format_command(struct vdisk_words *words, struct vdisk_text *reply, struct csi_ctl_error *error) {
  const char *volume = vdisk_words_value(words, "volume"), *cluster = vdisk_words_value(words, "cluster");
  wchar_t root_w[ROOT_UNITS], file_system_w[TEXT_UNITS], label_w[TEXT_UNITS];
  uint64_t cluster_bytes = 0;
  uint8_t guid[16];
  if (volume == NULL || !vdisk_guid_parse(volume, guid))
    return csi_ctl_fail(error, "volume={GUID} is missing or wrong");
  if (cluster != NULL && (!vdisk_number_parse(cluster, &cluster_bytes) || cluster_bytes > UINT32_MAX))
    return csi_ctl_fail(error, "cluster=%s is no size", cluster);
  if (!widen(vdisk_words_value(words, "fs"), file_system_w, error) ||
      !widen(vdisk_words_value(words, "label"), label_w, error)) {
    return false;
  }
  _snwprintf(root_w, ROOT_UNITS, L"\\\\?\\Volume%hs", volume);
  format_function format = load(error);
  if (format == NULL) return false;
  progress.reply = reply;
  progress.percent = 0;
  progress.is_done = progress.succeeded = false;
  format(root_w, FIXED_MEDIA, file_system_w[0] == L'\0' ? (wchar_t[]){L"NTFS"} : file_system_w, label_w, TRUE,
         (ULONG)cluster_bytes, on_command);
  if (progress.is_done && progress.succeeded) return true;
  for (char *at = reply->buffer; *at != '\0'; at++)
    if (*at == '\n') *at = ';';
  return csi_ctl_fail(error, "FormatEx has not formatted it: %s", reply->buffer);
}
