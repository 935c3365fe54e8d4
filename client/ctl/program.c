/* SPDX-License-Identifier: Apache-2.0 */
#include "client/ctl/program.h"

#include <string.h>

#include "client/ctl/arguments.h"
#include "client/ctl/connection.h"
#include "client/ctl/descriptors.h"
#include "client/ctl/output.h"

#if defined(_WIN32)
#define DEFAULT_PREFIX "\\\\.\\pipe\\csi-proxy-"
#else
#define DEFAULT_PREFIX "/run/csi-proxy/csi-proxy-"
#endif

enum {
  NS_PER_MS = 1000000,
  TABLES = 64, /* of flags: ours and those of each verb */
};

/* What the flags of all verbs set. */
static struct {
  const char *pipe_prefix;
  int64_t timeout_ns;
  enum csi_ctl_format format;
  enum csi_ctl_colour colour;
} settings;

static bool set_word(const char *text, const char *const *words, int *value, char *reason,
                     size_t reason_bytes) {
  for (int i = 0; words[i] != NULL; i++) {
    if (strcmp(words[i], text) != 0) continue;
    *value = i;
    return true;
  }
  snprintf(reason, reason_bytes, "must be %s, %s or %s", words[0], words[1], words[2]);
  return false;
}

static bool set_format(void *value, const char *text, char *reason, size_t reason_bytes) {
  static const char *const words[] = {"table", "json", "yaml", NULL};
  int number = 0;
  bool set = set_word(text, words, &number, reason, reason_bytes);
  *(enum csi_ctl_format *)value = (enum csi_ctl_format)number;
  return set;
}

static bool set_colour(void *value, const char *text, char *reason, size_t reason_bytes) {
  static const char *const words[] = {"auto", "always", "never", NULL};
  int number = 0;
  bool set = set_word(text, words, &number, reason, reason_bytes);
  *(enum csi_ctl_colour *)value = (enum csi_ctl_colour)number;
  return set;
}

static const struct csi_flag global_flags[] = {
    {.name = "pipe-prefix",
     .type = CSI_FLAG_STRING,
     .value = &settings.pipe_prefix,
     .default_text = DEFAULT_PREFIX,
     .usage = "The `prefix` of the pipe names, before <group>-<version>, as the service was started with."},
    {.name = "timeout",
     .type = CSI_FLAG_DURATION,
     .value = &settings.timeout_ns,
     .default_text = "30s",
     .usage = "Most time for a call; the service stops working on it as well. 0 = no limit.",
     .minimum = 0,
     .maximum = (int64_t)24 * 3600 * 1000 * NS_PER_MS},
    {.name = "o",
     .type = CSI_FLAG_CUSTOM,
     .value = &settings.format,
     .default_text = "table",
     .usage = "The `format` of the output: table, json or yaml.",
     .set = set_format},
    {.name = "color",
     .type = CSI_FLAG_CUSTOM,
     .value = &settings.colour,
     .default_text = "auto",
     .usage = "`When` to use colours: auto (on a terminal), always or never.",
     .set = set_colour},
};

struct csi_flag_table csi_ctl_global_flags(void) {
  return (struct csi_flag_table){global_flags, sizeof global_flags / sizeof global_flags[0]};
}

void csi_ctl_print_flags(FILE *out) {
  const struct csi_flag_table table = csi_ctl_global_flags();
  csi_flags_print_usage(out, "csi-proxyctl", &table, 1);
}

const struct csi_ctl_verb *csi_ctl_find_verb(const char *name) {
  for (const struct csi_ctl_verb_table *table = csi_ctl_verb_tables; table->count > 0; table++)
    for (size_t i = 0; i < table->count; i++)
      if (strcmp(table->verbs[i].name, name) == 0) return &table->verbs[i];
  return NULL;
}

/* Ours, then those of each verb that has some: a flag before the verb may be the verb's. */
static size_t all_tables(struct csi_flag_table *tables_out) {
  size_t count = 0;
  tables_out[count++] = csi_ctl_global_flags();
  for (const struct csi_ctl_verb_table *table = csi_ctl_verb_tables; table->count > 0; table++)
    for (size_t i = 0; i < table->count && count < TABLES; i++)
      if (table->verbs[i].flag_count > 0)
        tables_out[count++] = (struct csi_flag_table){table->verbs[i].flags, table->verbs[i].flag_count};
  return count;
}

static bool check_count(const struct csi_ctl_verb *verb, unsigned count, struct csi_ctl_error *error) {
  if (count >= verb->least_arguments && count <= verb->most_arguments) return true;
  csi_ctl_wrong(error, count < verb->least_arguments ? "%s: arguments are missing" : "%s: too many arguments",
                verb->name);
  return csi_ctl_hint(error, "usage: csi-proxyctl %s%s%s", verb->name, verb->arguments[0] != '\0' ? " " : "",
                      verb->arguments);
}

/* Milliseconds, rounded up: a limit of less is not none. */
static uint32_t timeout_ms(void) {
  return (uint32_t)((settings.timeout_ns + NS_PER_MS - 1) / NS_PER_MS);
}

static int run_verb(struct csi_ctl *ctl, const struct csi_ctl_verb *verb, int argc, char **argv) {
  struct csi_ctl_error error;
  if (!check_count(verb, (unsigned)(argc - 1), &error)) return csi_ctl_report(ctl, &error);
  ctl->pipe_prefix = settings.pipe_prefix;
  ctl->timeout_ms = timeout_ms();
  ctl->format = settings.format;
  ctl->colour = settings.colour;
  return verb->run(ctl, argc, argv);
}

static int print_usage(const struct csi_ctl_verb *verb) {
  if (verb != NULL)
    csi_ctl_print_verb(stdout, verb);
  else
    csi_ctl_print_help(stdout);
  return CSI_CTL_DONE;
}

static int fail_flags(struct csi_ctl *ctl, const struct csi_ctl_verb *verb, const struct csi_status *status) {
  struct csi_ctl_error error;
  csi_ctl_wrong(&error, "%s", status->text);
  csi_ctl_hint(&error, "\"csi-proxyctl help%s%s\" shows the flags", verb != NULL ? " " : "",
               verb != NULL ? verb->name : "");
  return csi_ctl_report(ctl, &error);
}

static int run(struct csi_ctl *ctl, int argc, char **argv) {
  struct csi_flag_table tables[TABLES];
  struct csi_ctl_error error;
  struct csi_status status = {0};
  int first, rest, count;
  char **sorted = csi_arguments_sort(ctl->arena, tables, all_tables(tables), argc, argv, &count, &first);
  if (sorted == NULL) {
    csi_ctl_fail_out_of_memory(&error);
    return csi_ctl_report(ctl, &error);
  }
  const struct csi_ctl_verb *verb = first < count ? csi_ctl_find_verb(sorted[first]) : NULL;
  if (first < count && verb == NULL) {
    csi_ctl_fail_unknown_verb(sorted[first], &error);
    return csi_ctl_report(ctl, &error);
  }
  const struct csi_flag_table own[] = {
      tables[0], {verb != NULL ? verb->flags : NULL, verb != NULL ? verb->flag_count : 0}};
  switch (csi_flags_parse(own, 2, count, sorted, &rest, &status)) {
  case CSI_FLAGS_OK:
    break;
  case CSI_FLAGS_HELP:
    return print_usage(verb);
  case CSI_FLAGS_ERROR:
    return fail_flags(ctl, verb, &status);
  }
  if (verb != NULL) return run_verb(ctl, verb, count - rest, sorted + rest);
  csi_ctl_print_help(stderr);
  return CSI_CTL_USAGE;
}

int csi_ctl_run(int argc, char **argv) {
  struct csi_ctl ctl = {.arena = csi_arena_new(SIZE_MAX)};
  struct csi_ctl_error error;
  if (ctl.arena == NULL) {
    csi_ctl_fail_out_of_memory(&error);
    return csi_ctl_report(&ctl, &error);
  }
  csi_arena_mark_secret(ctl.arena); /* requests read from files stand in it */
  int result = run(&ctl, argc, argv);
  csi_ctl_disconnect(&ctl);
  csi_ctl_free_pools(&ctl);
  csi_arena_free(ctl.arena);
  return fflush(stdout) != 0 ? csi_output_not_written(&ctl) : result;
}
