/* SPDX-License-Identifier: Apache-2.0
 *
 * The daemon between start and stop, whoever hosts it: a console, the service manager, a test.
 *
 * Policy: all endpoints or none. A driver that finds one pipe expects what belongs to it too, and a
 * service manager can only restart what has failed as a whole. Every group is tried before giving
 * up, so that one look at the log shows everything that is in the way. The admin pipe is no exception: it
 * can only be missing when another csi-proxy has it, and -admin-pipe=false does without it.
 */
#ifndef CSI_SERVICE_DAEMON_H
#define CSI_SERVICE_DAEMON_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "rpc/method.h"
#include "rpc/server.h"
#include "service/options.h"

/* Exit codes of the process; the non-zero ones are also the service-specific exit codes. */
enum csi_exit {
  CSI_EXIT_OK = 0,
  CSI_EXIT_CONFIG = 2, /* flags or values that no retry makes valid */
  CSI_EXIT_START = 3,  /* valid, but could not start: a pipe is taken, memory is short */
};

enum {
  CSI_GROUP_EXTRAS = 4,
};

/* One API group this build can serve. */
struct csi_group {
  const char *name;
  const struct csi_service_list *services;
  /* Makes what the group's handlers get as their `group`. context: the program's. INVALID_ARGUMENT = the
   * options are wrong. */
  bool (*open)(void *context, const struct csi_options *options, void **group_out, struct csi_status *status);
  void (*close)(void *context, void *group);

  /* For people and their tools, no part of the wire contract: served after the others, and only with
   * -admin-pipe; not counted among the API versions. Opened in any case. */
  bool is_admin;
  /* Once the server exists, before anything is served. metrics_address: where metrics are served, "" when
   * they are not; borrowed. May be NULL. */
  void (*attach)(void *context, void *group, struct csi_server *server, const char *metrics_address);
  /* Services that stand on the group's endpoints beside its own. Returns how many. May be NULL. */
  size_t (*list_extras)(void *context, void *group, struct csi_extra_service extras_out[CSI_GROUP_EXTRAS]);
  /* The program is about to stop; calls still run. May be NULL. */
  void (*stopping)(void *context, void *group);
};

/* What a build is made of. */
struct csi_program {
  const struct csi_group *groups;
  size_t group_count; /* at most CSI_PROGRAM_GROUPS */
  void *context;      /* for the groups; may be NULL */
  /* Checks what only the operating system can judge. False and INVALID_ARGUMENT when a value cannot
   * work; what is merely odd goes to `remark`, one call a finding. May be NULL. */
  bool (*check)(const struct csi_options *options, void (*remark)(void *context, const char *text),
                void *context, struct csi_status *status);
  /* For the metrics, while somebody reads them; any thread; each may be NULL; must not block. The first tells
   * what was seen last, false when nothing was, and has it looked at again by somebody else. */
  bool (*group_was_ready)(void *context, const char *group, bool *is_ready_out);
  uint64_t (*count_hanging_calls)(void);
  uint64_t (*count_lost_events)(void);
};

enum {
  CSI_PROGRAM_GROUPS = 8,
};

/* What differs between the hosts. Called on the thread of csi_daemon_run(). */
struct csi_daemon_host {
  void *context;
  void (*starting)(void *context);      /* one more step of the start comes */
  void (*running)(void *context);       /* every endpoint listens */
  void (*wait_for_stop)(void *context); /* blocks until the daemon shall stop */
  /* At the beginning of the stop and about every 500 ms: calls still running, time they have left. And while
   * the end of a stop or of a failed start is closing what it has, with the time that may take. */
  void (*stopping)(void *context, size_t running, uint32_t left_ms);
};

/* Checks the options as csi_daemon_run() does before it opens the first endpoint, and the path of the
 * audit log as far as that can be done without making it, and reports to `report`; has no other effect.
 * CSI_EXIT_OK or CSI_EXIT_CONFIG. */
enum csi_exit csi_daemon_check(const struct csi_options *options, const struct csi_program *program,
                               FILE *report);

/* Serves until the host says stop, lets the calls under way finish within the grace period, closes
 * everything. Failures are logged. */
enum csi_exit csi_daemon_run(const struct csi_options *options, const struct csi_program *program,
                             const struct csi_daemon_host *host);

#endif
