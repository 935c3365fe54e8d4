/* SPDX-License-Identifier: Apache-2.0 */
#include "service/options.h"

#include <string.h>

#include "base/log.h"
#include "system/group.h"

#define NANOSECONDS_PER_MS 1000000
#define MAX_GRACE_NS (INT64_C(3600) * 1000 * NANOSECONDS_PER_MS)

enum {
  TABLE_COUNT = 2,
  OWN_FLAG_COUNT = 15,
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
       .usage = "For the metrics endpoint, `host:port`; accepted, but this version does not have one."},
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

enum csi_options_result csi_options_parse(struct csi_options *options, int argc, char *const *argv,
                                          struct csi_status *status) {
  *options = (struct csi_options){0};
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
  return check_prefix(options->pipe_prefix, status) && read_route(options->smb_route, &options->route, status)
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
