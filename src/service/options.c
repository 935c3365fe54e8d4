/* SPDX-License-Identifier: Apache-2.0 */
#include "service/options.h"

#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "system/group.h"

#define NANOSECONDS_PER_MS 1000000
#define MAX_GRACE_NS (INT64_C(3600) * 1000 * NANOSECONDS_PER_MS)

enum {
  TABLE_COUNT = 2,
  OWN_FLAG_COUNT = 19,
};

struct flag_set {
  struct csi_flag own[OWN_FLAG_COUNT];
  struct csi_flag_table tables[TABLE_COUNT];
};

static void flag_set_init(struct flag_set *set, struct csi_options *options) {
  const struct csi_flag own[OWN_FLAG_COUNT] = {
      {.name = "kubelet-path",
       .type = CSI_FLAG_STRING,
       .value = &options->kubelet_path,
       .default_text = "C:\\var\\lib\\kubelet",
       .usage = "The kubelet's `directory`; clients may work below it."},
      {.name = "working-dir",
       .type = CSI_FLAG_STRING_LIST,
       .value = &options->working_dirs,
       .usage = "Another `directory` below which clients may work; may be repeated."},
      {.name = "windows-service",
       .type = CSI_FLAG_BOOL,
       .value = &options->windows_service,
       .usage = "Run as a service, under the Windows service manager."},
      {.name = "require-privacy",
       .type = CSI_FLAG_BOOL,
       .value = &options->require_privacy,
       .default_text = "true",
       .usage = "Encrypt the traffic of new SMB global mappings."},
      {.name = "smb-route",
       .type = CSI_FLAG_STRING,
       .value = &options->smb_route,
       .default_text = "auto",
       .usage = "The `way` to SMB global mappings: wnet (mpr.dll), mi (the WMI class, by mi.dll), or auto."},
      {.name = "protected-services",
       .type = CSI_FLAG_STRING,
       .value = &options->protected_services,
       .default_text = CSI_SYSTEM_PROTECTED_SERVICES,
       .usage = "Short `names`, separated by commas, of services that clients must not stop; this one\n"
                "cannot be stopped by them anyway."},
      {.name = "allow-system-disks",
       .type = CSI_FLAG_BOOL,
       .value = &options->allow_system_disks,
       .usage = "Let clients partition, format, resize and take offline the disks Windows itself needs."},
      {.name = "metrics-bind-address",
       .type = CSI_FLAG_STRING,
       .value = &options->metrics_bind_address,
       .usage = "Serve metrics for Prometheus at `host:port`, as plain HTTP without authentication, path\n"
                "/metrics; such as localhost:8888, or :8888 for every address of the machine."},
      {.name = "pipe-sddl",
       .type = CSI_FLAG_STRING,
       .value = &options->pipe_sddl,
       .default_text = "D:P(A;;GA;;;SY)(A;;GA;;;BA)", /* SYSTEM and Administrators, nobody else */
       .usage = "Security descriptor of every pipe, in `SDDL`; must let the daemon's own account in."},
      {.name = "pipe-prefix",
       .type = CSI_FLAG_STRING,
       .value = &options->pipe_prefix,
       .default_text = "\\\\.\\pipe\\csi-proxy-",
       .usage = "The `prefix` of the pipe names, before <group>-<version>; clients only know the default."},
      {.name = "admin-pipe",
       .type = CSI_FLAG_BOOL,
       .value = &options->admin_pipe,
       .default_text = "true",
       .usage = "Serve the admin pipe, <prefix>admin-v1: status, health (grpc.health.v1) and reflection."},
      {.name = "max-connections",
       .type = CSI_FLAG_INT,
       .value = &options->max_connections,
       .default_text = "2048",
       .minimum = 1,
       .maximum = 65536,
       .usage = "Most connections served at once on one pipe."},
      {.name = "max-path-length",
       .type = CSI_FLAG_INT,
       .value = &options->max_path_bytes,
       .default_text = "260",
       .minimum = 16,
       .maximum = 32767,
       .usage = "Longest path accepted in a request, in `bytes` of UTF-8."},
      {.name = "stop-grace-period",
       .type = CSI_FLAG_DURATION,
       .value = &options->stop_grace_ns,
       .default_text = "30s",
       .minimum = 0,
       .maximum = MAX_GRACE_NS,
       .usage = "How long calls under way may take to finish when the program is stopped."},
      {.name = "event-log",
       .type = CSI_FLAG_STRING,
       .value = &options->event_log,
       .usage = "Which `events` go to the Windows Event Log: off, important (without successful calls) or\n"
                "all (default all with -windows-service, else off)."},
      {.name = "audit-log",
       .type = CSI_FLAG_STRING,
       .value = &options->audit_log,
       .usage =
           "A `file` for a line of JSON about every call that changes something; renamed and begun anew\n"
           "as -log_file is (-log_file_max_size, -log_file_max_age)."},
      {.name = "audit-log-max-backups",
       .type = CSI_FLAG_INT,
       .value = &options->audit_log_max_backups,
       .default_text = "0",
       .minimum = 0,
       .maximum = INT32_MAX,
       .usage = "How many renamed audit logs are kept; 0 means all."},
      {.name = "check-config",
       .type = CSI_FLAG_BOOL,
       .value = &options->check_config,
       .usage = "Check the flags and the paths in them, report, and exit: 0 when valid, 2 when not."},
      {.name = "version",
       .type = CSI_FLAG_BOOL,
       .value = &options->version,
       .usage = "Print the version and exit."},
  };
  memcpy(set->own, own, sizeof own);
  set->tables[0] = (struct csi_flag_table){set->own, OWN_FLAG_COUNT};
  set->tables[1] = csi_log_flags();
}

static bool check_prefix(const char *prefix, struct csi_status *status) {
  if (prefix[0] == '\0') return csi_fail(status, CSI_INVALID_ARGUMENT, "-pipe-prefix must not be empty");
  if (strlen(prefix) > CSI_OPTIONS_PREFIX_BYTES)
    return csi_fail(status, CSI_INVALID_ARGUMENT, "-pipe-prefix is longer than %d bytes",
                    CSI_OPTIONS_PREFIX_BYTES);
  /* It becomes part of a printf format. */
  if (strchr(prefix, '%') != NULL)
    return csi_fail(status, CSI_INVALID_ARGUMENT, "-pipe-prefix must not contain '%%'");
  return true;
}

static bool read_route(const char *name, enum csi_smb_route *route_out, struct csi_status *status) {
  static const char *const names[] = {
      [CSI_SMB_ROUTE_AUTO] = "auto", [CSI_SMB_ROUTE_WNET] = "wnet", [CSI_SMB_ROUTE_MI] = "mi"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (strcmp(name, names[i]) != 0) continue;
    *route_out = (enum csi_smb_route)i;
    return true;
  }
  return csi_fail(status, CSI_INVALID_ARGUMENT, "-smb-route is auto, wnet or mi, not \"%s\"", name);
}

static bool read_events(struct csi_options *options, struct csi_status *status) {
  options->events = options->windows_service ? CSI_EVENTS_ALL : CSI_EVENTS_OFF;
  return options->event_log[0] == '\0' || csi_event_mode_parse(options->event_log, &options->events) ||
         csi_fail(status, CSI_INVALID_ARGUMENT, "-event-log is off, important or all, not \"%s\"",
                  options->event_log);
}

/* By name only: another spelling of the same file is not seen. */
static bool check_audit_log(const char *path, struct csi_status *status) {
  return path[0] == '\0' || !csi_utf8_equal_ignore_case(path, csi_log_file_name()) ||
         csi_fail(status, CSI_INVALID_ARGUMENT, "-audit-log must not be the -log_file: %s", path);
}

enum csi_options_result csi_options_parse(struct csi_options *options, int argc, char *const *argv,
                                          struct csi_status *status) {
  *options = (struct csi_options){.argc = argc, .argv = argv};
  /* For the event that says what is wrong with the flags. */
  if (csi_options_ask_for_service(argc, argv)) options->events = CSI_EVENTS_ALL;
  struct flag_set set;
  flag_set_init(&set, options);
  int rest = argc;
  switch (csi_flags_parse(set.tables, TABLE_COUNT, argc, argv, &rest, status)) {
  case CSI_FLAGS_OK:
    break;
  case CSI_FLAGS_HELP:
    return CSI_OPTIONS_HELP;
  case CSI_FLAGS_ERROR:
    return CSI_OPTIONS_INVALID;
  }
  if (rest < argc) {
    csi_fail(status, CSI_INVALID_ARGUMENT, "argument is not a flag: %s", argv[rest]);
    return CSI_OPTIONS_INVALID;
  }
  return check_prefix(options->pipe_prefix, status) && read_events(options, status) &&
                 check_audit_log(options->audit_log, status) &&
                 read_route(options->smb_route, &options->route, status)
             ? CSI_OPTIONS_RUN
             : CSI_OPTIONS_INVALID;
}

bool csi_options_ask_for_service(int argc, char *const *argv) {
  static const char name[] = "windows-service";
  for (int i = 1; i < argc; i++) {
    const char *flag = argv[i] + strspn(argv[i], "-");
    if (flag == argv[i] || strncmp(flag, name, sizeof name - 1) != 0) continue;
    const char *value = flag + sizeof name - 1;
    if (value[0] == '\0' || (value[0] == '=' && value[1] != '\0' && strchr("1tT", value[1]) != NULL))
      return true;
  }
  return false;
}

bool csi_options_flag_type(const char *name, size_t name_bytes, enum csi_flag_type *type_out) {
  struct csi_options unused;
  struct flag_set set;
  flag_set_init(&set, &unused);
  for (size_t t = 0; t < TABLE_COUNT; t++) {
    for (size_t i = 0; i < set.tables[t].count; i++) {
      const struct csi_flag *flag = &set.tables[t].flags[i];
      if (strlen(flag->name) != name_bytes || memcmp(flag->name, name, name_bytes) != 0) continue;
      *type_out = flag->type;
      return true;
    }
  }
  return false;
}

/* What csi_options_list_changed() has found so far. */
struct changed {
  struct csi_arena *arena;
  const struct csi_flag **flags; /* which flag each text is of */
  const char **texts;
  size_t count;
  bool failed;
};

static void forget_earlier(struct changed *changed, const struct csi_flag *flag) {
  size_t kept = 0;
  for (size_t i = 0; i < changed->count; i++) {
    if (changed->flags[i] == flag) continue;
    changed->flags[kept] = changed->flags[i];
    changed->texts[kept++] = changed->texts[i];
  }
  changed->count = kept;
}

static bool is_default(const struct csi_flag *flag, const char *value) {
  const char *zero = flag->type == CSI_FLAG_BOOL || flag->type == CSI_FLAG_CUSTOM_BOOL ? "false" : "";
  return strcmp(value, flag->default_text != NULL ? flag->default_text : zero) == 0;
}

static void take_given(void *context, const struct csi_flag *flag, const char *value) {
  struct changed *changed = context;
  bool is_list = flag->type == CSI_FLAG_STRING_LIST;
  if (!is_list) forget_earlier(changed, flag);
  if (!is_list && is_default(flag, value)) return;
  const char *text = csi_arena_printf(changed->arena, "-%s=%s", flag->name, value);
  changed->failed |= text == NULL;
  changed->flags[changed->count] = flag;
  changed->texts[changed->count++] = text;
}

bool csi_options_list_changed(const struct csi_options *options, struct csi_arena *arena,
                              const char ***flags_out, size_t *count_out) {
  struct csi_options unused;
  struct flag_set set;
  flag_set_init(&set, &unused);
  size_t room = (size_t)options->argc + 1;
  struct changed changed = {
      .arena = arena,
      .flags = csi_arena_alloc_array(arena, room, sizeof *changed.flags),
      .texts = csi_arena_alloc_array(arena, room, sizeof *changed.texts),
  };
  if (changed.flags == NULL || changed.texts == NULL) return false;
  csi_flags_list_given(set.tables, TABLE_COUNT, options->argc, options->argv, take_given, &changed);
  *flags_out = changed.texts;
  *count_out = changed.count;
  return !changed.failed;
}

void csi_options_print_usage(FILE *stream, const char *program) {
  struct csi_options unused;
  struct flag_set set;
  flag_set_init(&set, &unused);
  csi_flags_print_usage(stream, program, set.tables, TABLE_COUNT);
}

size_t csi_options_roots(const struct csi_options *options, const char *roots_out[CSI_FLAG_LIST_ITEMS + 1]) {
  size_t count = 0;
  for (; count < options->working_dirs.count; count++)
    roots_out[count] = options->working_dirs.items[count];
  roots_out[count++] = options->kubelet_path;
  return count;
}

uint32_t csi_options_stop_grace_ms(const struct csi_options *options) {
  return (uint32_t)(options->stop_grace_ns / NANOSECONDS_PER_MS);
}

void csi_options_endpoint_format(const struct csi_options *options, char *format_out, size_t format_bytes) {
  snprintf(format_out, format_bytes, "%s%%s-%%s", options->pipe_prefix);
}
