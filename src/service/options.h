/* SPDX-License-Identifier: Apache-2.0
 *
 * What the command line says, parsed and checked as far as that is possible without the operating
 * system. Portable; no allocation; not thread-safe (flags are parsed once, before any thread exists).
 */
#ifndef CSI_SERVICE_OPTIONS_H
#define CSI_SERVICE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/flags.h"
#include "base/status.h"
#include "service/event_log.h"
#include "smb/route.h"

enum {
  CSI_OPTIONS_PREFIX_BYTES = 192, /* longest -pipe-prefix; a pipe name has 256 characters at most */
};

struct csi_options {
  const char *kubelet_path;
  struct csi_flag_list working_dirs; /* -working-dir only; csi_options_roots() adds the kubelet path */
  bool windows_service;
  bool require_privacy;
  bool allow_system_disks;
  bool admin_pipe;
  const char *smb_route; /* as given */
  enum csi_smb_route route;
  const char *protected_services;
  const char *metrics_bind_address;
  const char *pipe_sddl;
  const char *pipe_prefix;
  int64_t max_connections;
  int64_t max_path_bytes;
  int64_t stop_grace_ns;
  const char *event_log; /* as given; "" when it was not */
  enum csi_event_mode events;
  const char *audit_log;         /* "": none */
  int64_t audit_log_max_backups; /* 0: all */
  bool check_config;
  bool version;
  int argc; /* what was parsed */
  char *const *argv;
};

enum csi_options_result {
  CSI_OPTIONS_RUN,
  CSI_OPTIONS_HELP,    /* -h, -help: usage asked for */
  CSI_OPTIONS_INVALID, /* status says why; options hold what was read up to there */
};

/* Reads argv into options and the logging flags into base/log.
 *
 * argv: UTF-8; must outlive options, which borrow from it.
 * status: INVALID_ARGUMENT, for CSI_OPTIONS_INVALID: an unknown flag, a malformed or out-of-range
 *   value, an argument that is no flag. */
enum csi_options_result csi_options_parse(struct csi_options *options, int argc, char *const *argv,
                                          struct csi_status *status) CSI_MUST_CHECK;

/* True when argv has -windows-service, wherever it stands: the service manager waits to be told even that
 * the rest could not be understood. */
bool csi_options_ask_for_service(int argc, char *const *argv);

/* Finds out what kind a flag is, logging flags included. name: name_bytes long, without dashes. False when
 * there is no such flag. */
bool csi_options_flag_type(const char *name, size_t name_bytes, enum csi_flag_type *type_out);

/* Writes the usage text, logging flags included. */
void csi_options_print_usage(FILE *stream, const char *program);

/* Every directory below which clients may work: the -working-dir values in order of appearance, then
 * the kubelet path. Returns how many were written to roots_out. */
size_t csi_options_roots(const struct csi_options *options, const char *roots_out[CSI_FLAG_LIST_ITEMS + 1]);

/* Lists the flags that were given and differ from their defaults, as "-name=value"; of a flag that was given
 * more than once the last, of a repeatable one all. In the arena. False when memory is short. */
bool csi_options_list_changed(const struct csi_options *options, struct csi_arena *arena,
                              const char ***flags_out, size_t *count_out) CSI_MUST_CHECK;

/* The grace period in milliseconds. */
uint32_t csi_options_stop_grace_ms(const struct csi_options *options);

/* Writes the endpoint format for csi_server_options: the pipe prefix, then "%s-%s". */
void csi_options_endpoint_format(const struct csi_options *options, char *format_out, size_t format_bytes);

#endif
