/* SPDX-License-Identifier: Apache-2.0 */
#include "command_line.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool csi_fake_command_fail(struct csi_fake_command *command, const char *format, ...) {
  char text[512];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  vdisk_text_init(&command->reply, command->reply.buffer, command->reply.capacity_bytes);
  vdisk_text_add(&command->reply, text);
  return false;
}

bool csi_fake_command_number(struct csi_fake_command *command, const char *key, uint64_t limit,
                             uint64_t *number_out) {
  const char *value = vdisk_words_value(&command->words, key);
  uint64_t number;
  if (value == NULL) return true;
  if (!vdisk_number_parse(value, &number) || number > limit)
    return csi_fake_command_fail(command, "bad number: %s", key);
  *number_out = number;
  return true;
}

bool csi_fake_command_text(struct csi_fake_command *command, const char *key, const char **text_out) {
  char *value = vdisk_words_value(&command->words, key);
  if (value == NULL) return true;
  if (!vdisk_percent_decode(value)) return csi_fake_command_fail(command, "bad %%XX: %s", key);
  *text_out = value;
  return true;
}

bool csi_fake_command_flag(struct csi_fake_command *command, const char *key, bool *flag_out) {
  if (vdisk_words_has(&command->words, key)) *flag_out = vdisk_words_flag(&command->words, key);
  return true;
}

bool csi_fake_command_complete(struct csi_fake_command *command) {
  const char *unused = vdisk_words_unused(&command->words);
  return unused == NULL || csi_fake_command_fail(command, "not understood: %s", unused);
}

static bool is_noun(const struct csi_fake_verb *verbs, const char *line) {
  line += strspn(line, " \t");
  size_t bytes = strcspn(line, " \t\r\n");
  for (; verbs->noun != NULL; verbs++)
    if (strlen(verbs->noun) == bytes && memcmp(verbs->noun, line, bytes) == 0) return true;
  return false;
}

static bool run(const struct csi_fake_verb *verbs, struct csi_fake_command *command) {
  const char *noun = vdisk_words_take(&command->words), *verb = NULL;
  for (; verbs->noun != NULL; verbs++) {
    if (strcmp(verbs->noun, noun) != 0) continue;
    if (verbs->verb == NULL) return verbs->run(command);
    if (verb == NULL) verb = vdisk_words_take(&command->words);
    if (strcmp(verbs->verb, verb) == 0) return verbs->run(command);
  }
  return csi_fake_command_fail(command, "no such command: %s %s", noun, verb == NULL ? "" : verb);
}

bool csi_fake_command_run(const struct csi_fake_verb *verbs, void *fake, const char *line, char *reply,
                          size_t reply_bytes, bool *done_out) {
  if (!is_noun(verbs, line)) return false;
  struct csi_fake_command command = {.fake = fake};
  vdisk_text_init(&command.reply, reply, reply_bytes);
  *done_out = false;
  if (strlen(line) >= sizeof command.line) return !csi_fake_command_fail(&command, "the line is too long");
  memcpy(command.line, line, strlen(line) + 1);
  if (!vdisk_words_split(&command.words, command.line))
    return !csi_fake_command_fail(&command, "too many words");
  *done_out = run(verbs, &command);
  if (*done_out && command.reply.is_cut) *done_out = csi_fake_command_fail(&command, "the reply is too long");
  return true;
}
