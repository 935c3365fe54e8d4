/* SPDX-License-Identifier: Apache-2.0 */
#include "scene.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  LINE_BYTES = 2048,
  FIRST_DISK = 100,
  DISK_NUMBERS = 9000,
  SHORT_MS = 700,
  ATTEMPTS_MAX = 20,
  COME_BACK_MS = 60000,
  PAUSE_MS = 20,
};

static char reply[SCENE_REPLY_BYTES];

static const char *command(struct run *run, const char *line) {
  check(run, scene_command(line, reply, sizeof reply), "scene: %s: %s", line, reply);
  return reply;
}

const char *scene(struct run *run, const char *format, ...) {
  char line[LINE_BYTES];
  va_list args;
  va_start(args, format);
  int length = vsnprintf(line, sizeof line, format, args);
  va_end(args);
  check(run, length >= 0 && length < LINE_BYTES, "the case makes a command that is too long");
  return command(run, line);
}

/* Finds ` words ` in a line that begins at text; whole words only. */
static const char *find_words(const char *text, size_t length, const char *words) {
  size_t size = strlen(words);
  for (size_t i = 0; i + size <= length; i++) {
    bool begins = i == 0 || text[i - 1] == ' ';
    bool ends = i + size == length || text[i + size] == ' ';
    if (begins && ends && memcmp(text + i, words, size) == 0) return text + i;
  }
  return NULL;
}

static const char *value_of(struct run *run, const char *line, size_t length, const char *key) {
  size_t size = strlen(key);
  for (size_t i = 0; i + size < length; i++) {
    if ((i > 0 && line[i - 1] != ' ') || line[i + size] != '=' || memcmp(line + i, key, size) != 0) continue;
    const char *value = line + i + size + 1;
    return path(run, "%.*s", (int)strcspn(value, " \r\n"), value);
  }
  return "";
}

const char *scene_word(struct run *run, const char *list, const char *words, const char *key) {
  for (const char *line = command(run, list); *line != '\0';) {
    size_t length = strcspn(line, "\r\n");
    if (find_words(line, length, words) != NULL) return value_of(run, line, length, key);
    line += length;
    line += strspn(line, "\r\n");
  }
  return "";
}

uint32_t add_disk(struct run *run, const char *format, ...) {
  static uint32_t disks;
  uint32_t number = FIRST_DISK + disks % DISK_NUMBERS;
  char words[LINE_BYTES];
  va_list args;
  va_start(args, format);
  vsnprintf(words, sizeof words, format, args);
  va_end(args);
  scene(run, "disk add number=%u file=%s\\clienttests-%u.img %s", (unsigned)number, run->settings->images,
        (unsigned)disks++, words);
  return number;
}

uint32_t add_volume(struct run *run, const char *words, const char *type, char id_out[VOLUME_ID_BYTES]) {
  struct volume_ids volumes;
  uint32_t disk = add_disk(run, "%s", words);
  check(run, partition(run, disk) == CSI_OK, "PartitionDisk: %s", run->error.text);
  check(run, list_volumes(run, disk, 0, &volumes) == CSI_OK, "ListVolumesOnDisk: %s", run->error.text);
  check(run, volumes.count == 1, "%zu volumes on a new disk", volumes.count);
  snprintf(id_out, VOLUME_ID_BYTES, "%s", volumes.ids[0]);
  if (type != NULL) scene(run, "signature disk=%u partition=1 type=%s", (unsigned)disk, type);
  return disk;
}

void hold_page_file(struct run *run, uint32_t disk, const char *id) {
  check(run, scene_set_page_file(disk, id, reply, sizeof reply), "scene: page file: %s", reply);
}

void break_format(struct run *run, uint32_t disk, enum scene_format format) {
  check(run, scene_set_format(disk, format, reply, sizeof reply), "scene: format: %s", reply);
}

static unsigned long calls_of(struct run *run, const char *call) {
  return strtoul(scene_word(run, "network counters", path(run, "call=%s", call), "count"), NULL, 10);
}

void check_not_called(struct run *run, const char *call) {
  unsigned long calls = calls_of(run, call);
  check(run, calls == 0, "%lu calls of %s", calls, call);
}

/* On a loaded machine an attempt may be over before it has made the call; then it takes longer ones. */
void hang_in(struct run *run, const char *call, enum csi_code (*attempt)(struct run *run)) {
  unsigned long before = calls_of(run, call);
  bool hangs = false;
  scene(run, "network fault add call=%s hang", call);
  for (unsigned i = 1; i <= ATTEMPTS_MAX && !hangs && !run->failed; i++) {
    run->timeout_ms = i * SHORT_MS;
    enum csi_code code = attempt(run);
    check(run, code == CSI_DEADLINE_EXCEEDED, "%s hangs: %s: %s", call, csi_code_name(code), run->error.text);
    hangs = calls_of(run, call) > before;
  }
  run->timeout_ms = 0;
  check(run, hangs, "%s was not called", call);
}

void check_works_again(struct run *run, const char *what, enum csi_code (*attempt)(struct run *run)) {
  int64_t end_ms = now_ms() + COME_BACK_MS;
  enum csi_code code = attempt(run);
  while (code != CSI_OK && run->error.precise_code == CSI_UNAVAILABLE && now_ms() < end_ms) {
    sleep_ms(PAUSE_MS);
    code = attempt(run);
  }
  check_ok(run, what, code);
}

void prepare_scene(struct run *run, const char *name) {
  scene(run, "reset");
  make_case_directory(run, name);
}

void clean_up_scene(struct run *run) {
  hold_page_file(run, 0, NULL);
  break_format(run, 0, SCENE_FORMAT_WORKS);
  scene(run, "fault clear");
  remove_case_directory(run);
  scene(run, "reset");
}
