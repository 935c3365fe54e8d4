/* SPDX-License-Identifier: Apache-2.0 */
#include "wait.h"

#include <windows.h>

#include <stdio.h>
#include <string.h>

#include "disk_interfaces.h"
#include "driver/words.h"

enum {
  DEFAULT_TIMEOUT_MS = 10 * 1000,
  POLL_MS = 5,
};

static bool read_timeout(struct vdisk_words *words, uint64_t *timeout_ms_out, struct csi_ctl_error *error) {
  const char *timeout = vdisk_words_value(words, "timeout");
  *timeout_ms_out = DEFAULT_TIMEOUT_MS;
  if (timeout == NULL || vdisk_number_parse(timeout, timeout_ms_out)) return true;
  return csi_ctl_fail(error, "timeout=%s is no number of milliseconds", timeout);
}

struct found_disks {
  uint32_t count;
  bool all_open;
};

static void count_disk(void *context, const wchar_t *path_w) {
  struct found_disks *found = context;
  HANDLE disk = CreateFileW(path_w, 0, FILE_SHARE_READ | FILE_SHARE_WRITE, NULL, OPEN_EXISTING, 0, NULL);
  found->count++;
  if (disk == INVALID_HANDLE_VALUE) {
    found->all_open = false;
  } else {
    CloseHandle(disk);
  }
}

bool csi_wait_disks_command(struct vdisk_words *words, struct csi_ctl_error *error) {
  const char *count = vdisk_words_take(words);
  uint64_t wanted, timeout_ms;
  if (!vdisk_number_parse(count, &wanted)) return csi_ctl_fail(error, "\"%s\" is no number of disks", count);
  if (!read_timeout(words, &timeout_ms, error)) return false;
  for (ULONGLONG begun_ms = GetTickCount64();;) {
    struct found_disks found = {.all_open = true};
    if (!csi_disk_interfaces(count_disk, &found, error)) return false;
    if (found.count == wanted && found.all_open) return true;
    if (GetTickCount64() - begun_ms >= timeout_ms) {
      return csi_ctl_fail(error, "SetupDi lists %u disks%s and not %llu, after %llu ms", found.count,
                          found.all_open ? "" : ", not all of which can be opened",
                          (unsigned long long)wanted, (unsigned long long)timeout_ms);
    }
    Sleep(POLL_MS);
  }
}

/* Lines of `volume list` that have this word. */
static uint64_t count_lines_with(const char *lines, const char *word) {
  uint64_t count = 0;
  size_t word_bytes = strlen(word);
  for (const char *at = lines; (at = strstr(at, word)) != NULL; at += word_bytes)
    if (at > lines && at[-1] == ' ' && (at[word_bytes] == ' ' || at[word_bytes] == '\n')) count++;
  return count;
}

static bool count_volumes(struct csi_control_device *control, uint64_t disk, uint64_t *count_out,
                          struct csi_ctl_error *error) {
  char word[32];
  const char *lines;
  if (!csi_control_send(control, "volume list", &lines, error)) return false;
  snprintf(word, sizeof word, "disk=%llu", (unsigned long long)disk);
  *count_out = count_lines_with(lines, word);
  return true;
}

bool csi_wait_volumes_command(struct csi_control_device *control, struct vdisk_words *words,
                              struct csi_ctl_error *error) {
  const char *disk = vdisk_words_value(words, "disk"), *count = vdisk_words_value(words, "count");
  uint64_t number, wanted = 1, timeout_ms, found = 0;
  if (disk == NULL || !vdisk_number_parse(disk, &number))
    return csi_ctl_fail(error, "disk=N is missing or wrong");
  if (count != NULL && !vdisk_number_parse(count, &wanted))
    return csi_ctl_fail(error, "count=%s is no number", count);
  if (!read_timeout(words, &timeout_ms, error)) return false;
  for (ULONGLONG begun_ms = GetTickCount64();;) {
    if (!count_volumes(control, number, &found, error)) return false;
    if (found == wanted) return true;
    if (GetTickCount64() - begun_ms >= timeout_ms) {
      return csi_ctl_fail(error, "disk %s has %llu volumes and not %llu, after %llu ms", disk,
                          (unsigned long long)found, (unsigned long long)wanted,
                          (unsigned long long)timeout_ms);
    }
    Sleep(POLL_MS);
  }
}
