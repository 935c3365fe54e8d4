/* SPDX-License-Identifier: Apache-2.0 */
#include "service/install_plan.h"

#include <string.h>

#include "base/text.h"
#include "service/command_line.h"

#define NANOSECONDS_PER_SECOND INT64_C(1000000000)
#define WINDOWS_SERVICE "-windows-service"
#define DISPLAY_NAME "CSI Proxy"
#define LOG_FILE "C:\\etc\\kubernetes\\logs\\csi-proxy.log"

enum {
  OWN_FLAG_COUNT = 11,
  LINE_BYTES = 1024,
  NAME_BYTES_MAX = 256,
};

#define FOR(verb) (1U << (verb))
#define ALL (FOR(CSI_VERB_INSTALL) | FOR(CSI_VERB_UNINSTALL) | FOR(CSI_VERB_UPGRADE))

struct own_flag {
  struct csi_flag flag;
  unsigned verbs;
};

static const char *const verb_names[] = {
    [CSI_VERB_NONE] = "",
    [CSI_VERB_INSTALL] = "install",
    [CSI_VERB_UNINSTALL] = "uninstall",
    [CSI_VERB_UPGRADE] = "upgrade",
};

enum csi_verb csi_install_verb(int argc, char *const *argv) {
  for (enum csi_verb verb = CSI_VERB_INSTALL; argc > 1 && verb <= CSI_VERB_UPGRADE; verb++)
    if (strcmp(argv[1], verb_names[verb]) == 0) return verb;
  return CSI_VERB_NONE;
}

/* -- The verbs' own flags --------------------------------------------------------------------------- */

/* Those of options->verb. Returns how many there are. */
static size_t own_flags(struct csi_install_options *options, struct csi_flag flags_out[OWN_FLAG_COUNT]) {
  const struct own_flag all[OWN_FLAG_COUNT] = {
      {{.name = "name",
        .type = CSI_FLAG_STRING,
        .value = &options->name,
        .default_text = "csiproxy",
        .usage = "The service's `name`."},
       ALL},
      {{.name = "display-name",
        .type = CSI_FLAG_STRING,
        .value = &options->display_name,
        .usage = "The service's `name` in lists; " DISPLAY_NAME ", and the service's name behind that\n"
                 "when it has another one."},
       FOR(CSI_VERB_INSTALL)},
      {{.name = "exe",
        .type = CSI_FLAG_STRING,
        .value = &options->exe,
        .usage = "Full `path` of the program to install as it is; default: this one."},
       FOR(CSI_VERB_INSTALL)},
      {{.name = "to",
        .type = CSI_FLAG_STRING,
        .value = &options->to,
        .usage = "Full `path` to which this program is copied first; install: default it stays where it\n"
                 "is; upgrade: default it replaces the program that is installed; uninstall: the program\n"
                 "for -delete-program when there is no service any more."},
       ALL},
      {{.name = "start",
        .type = CSI_FLAG_BOOL,
        .value = &options->start,
        .default_text = "true",
        .usage = "Start the service, unless it is disabled, and wait until it serves. With false one that\n"
                 "was stopped stays stopped."},
       FOR(CSI_VERB_INSTALL) | FOR(CSI_VERB_UPGRADE)},
      {{.name = "keep",
        .type = CSI_FLAG_BOOL,
        .value = &options->keep,
        .usage = "Install, upgrade or start the service whenever it is not as these flags say, until\n"
                 "Ctrl-C or the end of the container; the service goes on then."},
       FOR(CSI_VERB_INSTALL)},
      {{.name = "upgrade",
        .type = CSI_FLAG_BOOL,
        .value = &options->upgrade,
        .usage = "When the service is there already, do what the verb upgrade does."},
       FOR(CSI_VERB_INSTALL)},
      {{.name = "delete-program",
        .type = CSI_FLAG_BOOL,
        .value = &options->delete_program,
        .usage = "Delete the installed program, too, and what upgrades have left beside it."},
       FOR(CSI_VERB_UNINSTALL)},
      {{.name = "keep-flags",
        .type = CSI_FLAG_BOOL,
        .value = &options->keep_flags,
        .default_text = "true",
        .usage = "Put the given flags on top of those that are installed, instead of replacing all."},
       FOR(CSI_VERB_UPGRADE)},
      {{.name = "force",
        .type = CSI_FLAG_BOOL,
        .value = &options->force,
        .usage = "Also when the service is not a csi-proxy, going by the name of its program; and when\n"
                 "others than administrators may write where -to is."},
       ALL},
      {{.name = "timeout",
        .type = CSI_FLAG_DURATION,
        .value = &options->timeout_ns,
        .default_text = "30s",
        .minimum = NANOSECONDS_PER_SECOND,
        .maximum = 3600 * NANOSECONDS_PER_SECOND,
        .usage = "How long a start, or a stop beyond the service's -stop-grace-period, may take."},
       ALL},
  };
  size_t count = 0;
  for (size_t i = 0; i < OWN_FLAG_COUNT; i++)
    if ((all[i].verbs & FOR(options->verb)) != 0) flags_out[count++] = all[i].flag;
  return count;
}

/* -- One flag --------------------------------------------------------------------------------------- */

struct flag_text {
  const char *name; /* name_bytes long */
  size_t name_bytes;
  const char *value; /* NULL = none behind '=' */
};

/* False when the argument is no flag, or ends the flags. */
static bool read_flag(const char *argument, struct flag_text *out) {
  size_t dashes = strspn(argument, "-");
  if (dashes == 0 || dashes > 2 || argument[dashes] == '\0' || argument[dashes] == '=') return false;
  out->name = argument + dashes;
  out->name_bytes = strcspn(out->name, "=");
  out->value = out->name[out->name_bytes] == '=' ? out->name + out->name_bytes + 1 : NULL;
  return true;
}

static bool has_name(const struct flag_text *flag, const char *name) {
  return strlen(name) == flag->name_bytes && memcmp(flag->name, name, flag->name_bytes) == 0;
}

static bool same_name(const struct flag_text *a, const struct flag_text *b) {
  return a->name_bytes == b->name_bytes && memcmp(a->name, b->name, a->name_bytes) == 0;
}

static bool is_switch(enum csi_flag_type type) {
  return type == CSI_FLAG_BOOL || type == CSI_FLAG_CUSTOM_BOOL;
}

static bool is_among(const char *text, const char *const *texts) {
  for (; *texts != NULL; texts++)
    if (strcmp(text, *texts) == 0) return true;
  return false;
}

static char *canonical(struct csi_arena *arena, const struct flag_text *flag, enum csi_flag_type type,
                       const char *value) {
  static const char *const truths[] = {"1", "t", "T", "true", "TRUE", "True", NULL};
  static const char *const lies[] = {"0", "f", "F", "false", "FALSE", "False", NULL};
  int name_bytes = (int)flag->name_bytes;
  if (value == NULL || (is_switch(type) && is_among(value, truths)))
    return csi_arena_printf(arena, "-%.*s", name_bytes, flag->name);
  if (is_switch(type) && is_among(value, lies)) value = "false";
  return csi_arena_printf(arena, "-%.*s=%s", name_bytes, flag->name, value);
}

/* -- Lists of flags --------------------------------------------------------------------------------- */

static bool new_flags(struct csi_arena *arena, size_t capacity, struct csi_service_flags *out,
                      struct csi_status *status) {
  *out = (struct csi_service_flags){.items = csi_arena_alloc_array(arena, capacity + 1, sizeof(char *))};
  return out->items != NULL || csi_fail_out_of_memory(status);
}

/* Replaces the flag of that name, or appends; a repeatable flag is appended unless it is there already. There
 * must be room. */
static void put_flag(struct csi_service_flags *flags, char *item) {
  struct flag_text wanted = {0}, present = {0};
  enum csi_flag_type type = CSI_FLAG_STRING;
  bool named = read_flag(item, &wanted);
  if (named) (void)csi_options_flag_type(wanted.name, wanted.name_bytes, &type);
  for (size_t i = 0; i < flags->count; i++) {
    if (strcmp(flags->items[i], item) == 0) return;
    bool same = named && read_flag(flags->items[i], &present) && same_name(&wanted, &present);
    if (!same || type == CSI_FLAG_STRING_LIST) continue;
    flags->items[i] = item;
    return;
  }
  flags->items[flags->count++] = item;
}

bool csi_service_flags_read(struct csi_arena *arena, char *const *arguments, size_t argument_count,
                            struct csi_service_flags *out, const char **ignored_out,
                            struct csi_status *status) {
  *ignored_out = NULL;
  if (!new_flags(arena, argument_count, out, status)) return false;
  for (size_t i = 0; i < argument_count; i++) {
    struct flag_text flag;
    if (!read_flag(arguments[i], &flag)) {
      *ignored_out = arguments[i];
      return true;
    }
    enum csi_flag_type type = CSI_FLAG_BOOL;
    bool known = csi_options_flag_type(flag.name, flag.name_bytes, &type);
    if (flag.value == NULL && known && !is_switch(type) && i + 1 < argument_count)
      flag.value = arguments[++i];
    if (has_name(&flag, &WINDOWS_SERVICE[1])) continue;
    char *item = canonical(arena, &flag, known ? type : CSI_FLAG_STRING, flag.value);
    if (item == NULL) return csi_fail_out_of_memory(status);
    put_flag(out, item);
  }
  return true;
}

bool csi_service_flags_merge(struct csi_arena *arena, const struct csi_service_flags *base,
                             const struct csi_service_flags *changes, struct csi_service_flags *out,
                             struct csi_status *status) {
  if (!new_flags(arena, base->count + changes->count, out, status)) return false;
  for (size_t i = 0; i < base->count; i++)
    put_flag(out, base->items[i]);
  for (size_t i = 0; i < changes->count; i++)
    put_flag(out, changes->items[i]);
  return true;
}

static bool has_flag(const struct csi_service_flags *flags, const char *name) {
  struct flag_text flag;
  for (size_t i = 0; i < flags->count; i++)
    if (read_flag(flags->items[i], &flag) && has_name(&flag, name)) return true;
  return false;
}

bool csi_service_flags_add_log(struct csi_arena *arena, struct csi_service_flags *flags,
                               struct csi_status *status) {
  static char log_file[] = "-log_file=" LOG_FILE, no_stderr[] = "-logtostderr=false",
              max_size[] = "-log_file_max_size=100";
  static char *items[] = {log_file, no_stderr, max_size};
  static const struct csi_service_flags usual = {.items = items, .count = sizeof items / sizeof *items};
  if (has_flag(flags, "log_file") || has_flag(flags, "log_dir") || has_flag(flags, "logtostderr"))
    return true;
  struct csi_service_flags given = *flags;
  return csi_service_flags_merge(arena, &usual, &given, flags, status);
}

const char *csi_service_flag_value(const struct csi_service_flags *flags, const char *name) {
  struct flag_text flag;
  for (size_t i = 0; i < flags->count; i++)
    if (read_flag(flags->items[i], &flag) && has_name(&flag, name)) return flag.value;
  return NULL;
}

/* -- Reading the verb's arguments ------------------------------------------------------------------- */

struct sorted {
  char **own; /* [0] is the program */
  int own_count;
  char **service;
  size_t service_count;
};

static bool belongs_to_service(const struct csi_install_options *options, const struct flag_text *flag,
                               enum csi_flag_type *type_out) {
  return options->verb != CSI_VERB_UNINSTALL && csi_options_flag_type(flag->name, flag->name_bytes, type_out);
}

static bool is_own(const struct csi_flag *own, size_t own_count, const struct flag_text *flag,
                   enum csi_flag_type *type_out) {
  for (size_t i = 0; i < own_count; i++) {
    if (!has_name(flag, own[i].name)) continue;
    *type_out = own[i].type;
    return true;
  }
  return false;
}

/* Puts each flag, with its value, where it belongs. What is neither goes to the verb's own, to be refused. */
static void sort_arguments(const struct csi_install_options *options, const struct csi_flag *own,
                           size_t own_count, int argc, char *const *argv, struct sorted *sorted) {
  for (int i = 2; i < argc; i++) {
    struct flag_text flag = {0};
    enum csi_flag_type type = CSI_FLAG_BOOL;
    bool is_flag = read_flag(argv[i], &flag);
    bool service =
        is_flag && !is_own(own, own_count, &flag, &type) && belongs_to_service(options, &flag, &type);
    bool with_next = is_flag && flag.value == NULL && !is_switch(type) && i + 1 < argc;
    for (int more = with_next ? 2 : 1; more > 0; more--) {
      if (service)
        sorted->service[sorted->service_count++] = argv[i];
      else
        sorted->own[sorted->own_count++] = argv[i];
      if (more > 1) i++;
    }
  }
}

static bool check_own(const struct csi_install_options *options, struct csi_status *status) {
  if (options->name[0] == '\0' || strlen(options->name) > NAME_BYTES_MAX ||
      strpbrk(options->name, "/\\") != NULL)
    return csi_fail(status, CSI_INVALID_ARGUMENT,
                    "-name: a service's name has 1 to %d characters and no slash or backslash",
                    NAME_BYTES_MAX);
  if (options->exe[0] != '\0' && options->to[0] != '\0')
    return csi_fail(status, CSI_INVALID_ARGUMENT, "-exe and -to exclude each other");
  if (options->upgrade && (options->exe[0] != '\0' || options->keep))
    return csi_fail(status, CSI_INVALID_ARGUMENT, "-upgrade excludes -exe and -keep");
  if (options->keep && !options->start)
    return csi_fail(status, CSI_INVALID_ARGUMENT, "-keep excludes -start=false");
  if (options->verb == CSI_VERB_UNINSTALL && options->to[0] != '\0' &&
      !(options->delete_program && csi_install_is_csi_proxy(options->to)))
    return csi_fail(status, CSI_INVALID_ARGUMENT,
                    "-to goes with -delete-program, and its name must begin with csi-proxy");
  static const char *const not_for_services[] = {"check-config", "version"};
  for (size_t i = 0; i < sizeof not_for_services / sizeof *not_for_services; i++)
    if (has_flag(&options->flags, not_for_services[i]))
      return csi_fail(status, CSI_INVALID_ARGUMENT, "a service cannot have -%s", not_for_services[i]);
  return true;
}

static bool fill_display_name(struct csi_arena *arena, struct csi_install_options *options,
                              struct csi_status *status) {
  if (options->display_name != NULL && options->display_name[0] != '\0') return true;
  options->display_name = strcmp(options->name, "csiproxy") == 0
                              ? DISPLAY_NAME
                              : csi_arena_printf(arena, DISPLAY_NAME " (%s)", options->name);
  return options->display_name != NULL || csi_fail_out_of_memory(status);
}

static enum csi_options_result parse_own(const struct csi_flag *own, size_t own_count,
                                         const struct sorted *sorted, struct csi_status *status) {
  const struct csi_flag_table table = {own, own_count};
  int rest = sorted->own_count;
  switch (csi_flags_parse(&table, 1, sorted->own_count, sorted->own, &rest, status)) {
  case CSI_FLAGS_OK:
    break;
  case CSI_FLAGS_HELP:
    return CSI_OPTIONS_HELP;
  case CSI_FLAGS_ERROR:
    return CSI_OPTIONS_INVALID;
  }
  if (rest == sorted->own_count) return CSI_OPTIONS_RUN;
  csi_fail(status, CSI_INVALID_ARGUMENT, "argument is not a flag: %.256s", sorted->own[rest]);
  return CSI_OPTIONS_INVALID;
}

enum csi_options_result csi_install_parse(struct csi_arena *arena, int argc, char *const *argv,
                                          struct csi_install_options *out, struct csi_status *status) {
  *out = (struct csi_install_options){
      .verb = csi_install_verb(argc, argv), .to = "", .exe = "", .keep_flags = true};
  struct csi_flag own[OWN_FLAG_COUNT];
  size_t own_count = own_flags(out, own);
  struct sorted sorted = {.own = csi_arena_alloc_array(arena, (size_t)argc + 1, sizeof(char *)),
                          .own_count = 1,
                          .service = csi_arena_alloc_array(arena, (size_t)argc + 1, sizeof(char *))};
  if (sorted.own == NULL || sorted.service == NULL) {
    csi_fail_out_of_memory(status);
    return CSI_OPTIONS_INVALID;
  }
  sorted.own[0] = argv[0];
  sort_arguments(out, own, own_count, argc, argv, &sorted);
  enum csi_options_result result = parse_own(own, own_count, &sorted, status);
  if (result != CSI_OPTIONS_RUN) return result;
  const char *ignored; /* there is none: only flags and their values were put there */
  bool valid =
      csi_service_flags_read(arena, sorted.service, sorted.service_count, &out->flags, &ignored, status) &&
      check_own(out, status) && fill_display_name(arena, out, status);
  return valid ? CSI_OPTIONS_RUN : CSI_OPTIONS_INVALID;
}

static const char *const purposes[] = {
    [CSI_VERB_INSTALL] = "Installs this program as a Windows service and starts it.",
    [CSI_VERB_UNINSTALL] = "Stops the service, when the calls under way have ended, and removes it.",
    [CSI_VERB_UPGRADE] =
        "Puts this program in the place of the one that is installed: stops that when the calls\n    "
        "under way have ended, starts this one with the same flags, and goes back when it fails.",
};

void csi_install_print_verbs(FILE *stream) {
  fputs("With a verb as its first argument the program does something else; see csi-proxy.exe VERB -help:\n",
        stream);
  for (enum csi_verb verb = CSI_VERB_INSTALL; verb <= CSI_VERB_UPGRADE; verb++)
    fprintf(stream, "%s\n    %s\n", verb_names[verb], purposes[verb]);
}

void csi_install_print_usage(FILE *stream, enum csi_verb verb) {
  struct csi_install_options unused = {.verb = verb};
  struct csi_flag own[OWN_FLAG_COUNT];
  const struct csi_flag_table table = {own, own_flags(&unused, own)};
  char title[64];
  snprintf(title, sizeof title, "csi-proxy %s", verb_names[verb]);
  fprintf(stream, "%s\n", purposes[verb]);
  csi_flags_print_usage(stream, title, &table, 1);
  if (verb != CSI_VERB_UNINSTALL)
    fputs("All other flags are those of the service; see csi-proxy.exe -help.\n", stream);
}

/* -- Services --------------------------------------------------------------------------------------- */

char **csi_service_arguments(struct csi_arena *arena, const struct csi_install_config *config,
                             size_t *count_out, struct csi_status *status) {
  static char windows_service[] = WINDOWS_SERVICE;
  char **arguments = csi_arena_alloc_array(arena, config->flags.count + 3, sizeof *arguments);
  char *executable = csi_arena_strdup(arena, config->executable);
  if (arguments == NULL || executable == NULL) {
    csi_fail_out_of_memory(status);
    return NULL;
  }
  arguments[0] = executable;
  arguments[1] = windows_service;
  for (size_t i = 0; i < config->flags.count; i++)
    arguments[2 + i] = config->flags.items[i];
  if (count_out != NULL) *count_out = config->flags.count + 2;
  return arguments;
}

bool csi_install_config_read_command(struct csi_arena *arena, const char *command_line,
                                     struct csi_install_config *config, struct csi_status *status) {
  struct csi_command_line line;
  if (!csi_command_line_split(arena, command_line, &line, status)) return false;
  config->executable = line.arguments[0];
  config->ambiguous = line.ambiguous;
  return csi_service_flags_read(arena, line.arguments + 1, line.argument_count - 1, &config->flags,
                                &config->ignored, status);
}

struct teller {
  void (*tell)(void *context, const char *line);
  void *context;
  size_t count;
};

static void tell(struct teller *teller, const char *what, const char *installed, const char *wanted) {
  char line[LINE_BYTES];
  snprintf(line, sizeof line, "%s: installed is %s, wanted is %s", what, installed, wanted);
  teller->tell(teller->context, line);
  teller->count++;
}

static bool contains(const struct csi_service_flags *flags, const char *item) {
  for (size_t i = 0; i < flags->count; i++)
    if (strcmp(flags->items[i], item) == 0) return true;
  return false;
}

static void compare_flags(struct teller *teller, const struct csi_install_config *installed,
                          const struct csi_install_config *wanted) {
  for (size_t i = 0; i < installed->flags.count; i++)
    if (!contains(&wanted->flags, installed->flags.items[i]))
      tell(teller, "flag", installed->flags.items[i], "without it");
  for (size_t i = 0; i < wanted->flags.count; i++)
    if (!contains(&installed->flags, wanted->flags.items[i]))
      tell(teller, "flag", "without it", wanted->flags.items[i]);
}

size_t csi_install_config_compare(const struct csi_install_config *installed,
                                  const struct csi_install_config *wanted,
                                  void (*tell_line)(void *context, const char *line), void *context) {
  struct teller teller = {.tell = tell_line, .context = context};
  if (!csi_utf8_equal_ignore_case(installed->executable, wanted->executable))
    tell(&teller, "program", installed->executable, wanted->executable);
  compare_flags(&teller, installed, wanted);
  if (installed->ambiguous)
    tell(&teller, "command line", "a path with blanks and no quotes", "the path in quotes");
  if (installed->ignored != NULL) tell(&teller, "argument that is no flag", installed->ignored, "without it");
  if (strcmp(installed->display_name, wanted->display_name) != 0)
    tell(&teller, "display name", installed->display_name, wanted->display_name);
  if (!csi_utf8_equal_ignore_case(installed->account, wanted->account))
    tell(&teller, "account", installed->account, wanted->account);
  if (installed->own_process != wanted->own_process)
    tell(&teller, "type", installed->own_process ? "a process of its own" : "a shared process",
         "a process of its own");
  if (installed->auto_start != wanted->auto_start)
    tell(&teller, "start", installed->auto_start ? "automatic" : "not automatic", "automatic");
  return teller.count;
}

bool csi_install_is_csi_proxy(const char *executable) {
  const char *name = executable;
  for (const char *next = executable; *next != '\0'; next++)
    if (*next == '\\' || *next == '/') name = next + 1;
  return csi_utf8_has_prefix_ignore_case(name, "csi-proxy");
}
