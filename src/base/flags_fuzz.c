/* SPDX-License-Identifier: Apache-2.0
 *
 * Input: one argument a line. Whatever it is, parsing ends with a result, and with a valid text.
 */
#include <stdlib.h>
#include <string.h>

#include "base/flags.h"
#include "base/log.h"
#include "base/text.h"

enum {
  MAX_ARGUMENTS = 128,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes) {
  static const char *text;
  static bool truth;
  static int64_t number, duration;
  static uint64_t magnitude;
  static struct csi_flag_list list;
  static const struct csi_flag own[] = {
      {.name = "s", .type = CSI_FLAG_STRING, .value = &text, .usage = ""},
      {.name = "b", .type = CSI_FLAG_BOOL, .value = &truth, .usage = ""},
      {.name = "n", .type = CSI_FLAG_INT, .value = &number, .usage = ""},
      {.name = "u", .type = CSI_FLAG_UINT, .value = &magnitude, .usage = "", .minimum = 1, .maximum = 9},
      {.name = "duration", .type = CSI_FLAG_DURATION, .value = &duration, .usage = ""},
      {.name = "list", .type = CSI_FLAG_STRING_LIST, .value = &list, .usage = ""},
  };
  const struct csi_flag_table tables[] = {{own, sizeof own / sizeof own[0]}, csi_log_flags()};

  char *input = malloc(size_bytes + 1);
  if (input == NULL) return 0;
  if (size_bytes > 0) memcpy(input, data, size_bytes);
  input[size_bytes] = '\0';
  char *argv[MAX_ARGUMENTS + 1] = {(char *)"program"};
  int argc = 1;
  for (char *line = strtok(input, "\n"); line != NULL && argc < MAX_ARGUMENTS; line = strtok(NULL, "\n"))
    argv[argc++] = line;

  int rest = -1;
  struct csi_status status = {.code = CSI_OK};
  enum csi_flags_result result = csi_flags_parse(tables, 2, argc, argv, &rest, &status);
  if (result == CSI_FLAGS_OK && (rest < 1 || rest > argc)) abort();
  if ((result == CSI_FLAGS_ERROR) == csi_status_ok(&status)) abort();
  if (!csi_utf8_is_valid(status.text, strlen(status.text))) abort();
  for (int level = 0; level < 4; level++)
    (void)csi_log_level_is_on(level, "src/base/flags_fuzz.c");

  /* Nothing may point into the input once it is gone. */
  char *none[] = {(char *)"program", NULL};
  struct csi_status again = {.code = CSI_OK};
  if (csi_flags_parse(tables, 2, 1, none, &rest, &again) != CSI_FLAGS_OK) abort();
  free(input);
  return 0;
}
