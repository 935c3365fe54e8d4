/* SPDX-License-Identifier: Apache-2.0 */
#include "client/ctl/arguments.h"

#include <stdbool.h>
#include <string.h>

/* Behind one dash or two. */
static const char *name_in(const char *argument) {
  return argument[1] == '-' ? argument + 2 : argument + 1;
}

const struct csi_flag *csi_arguments_find_flag(const struct csi_flag_table *tables, size_t table_count,
                                               const char *argument) {
  const char *name = name_in(argument);
  size_t length = strcspn(name, "=");
  for (size_t i = 0; i < table_count; i++)
    for (size_t k = 0; k < tables[i].count; k++) {
      const struct csi_flag *flag = &tables[i].flags[k];
      if (strlen(flag->name) == length && memcmp(flag->name, name, length) == 0) return flag;
    }
  return NULL;
}

bool csi_arguments_takes_value(const struct csi_flag *flag) {
  return flag->type != CSI_FLAG_BOOL && flag->type != CSI_FLAG_CUSTOM_BOOL;
}

static bool takes_next(const struct csi_flag *flag, const char *argument) {
  return flag != NULL && csi_arguments_takes_value(flag) && strchr(argument, '=') == NULL;
}

char **csi_arguments_sort(struct csi_arena *arena, const struct csi_flag_table *tables, size_t table_count,
                          int argc, char **argv, int *argc_out, int *first_out) {
  char **sorted = csi_arena_alloc_array(arena, (size_t)argc + 2, sizeof *sorted);
  char **rest = csi_arena_alloc_array(arena, (size_t)argc + 1, sizeof *rest);
  if (sorted == NULL || rest == NULL) return NULL;
  int count = 0, rest_count = 0;
  bool complete = true;
  sorted[count++] = argv[0];
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--") == 0) {
      while (++i < argc)
        rest[rest_count++] = argv[i];
    } else if (argv[i][0] != '-' || argv[i][1] == '\0') {
      rest[rest_count++] = argv[i];
    } else {
      sorted[count++] = argv[i];
      if (!takes_next(csi_arguments_find_flag(tables, table_count, argv[i]), argv[i])) continue;
      complete = i + 1 < argc;
      if (complete) sorted[count++] = argv[++i];
    }
  }
  /* A flag at the end that lacks its value must not take "--" for it: nothing else counts then. */
  if (!complete) rest_count = 0;
  if (rest_count > 0) sorted[count++] = (char *)"--";
  *first_out = count;
  memcpy(sorted + count, rest, (size_t)rest_count * sizeof *rest);
  *argc_out = count + rest_count;
  return sorted;
}
