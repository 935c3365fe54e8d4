/* SPDX-License-Identifier: Apache-2.0 */
#include "system/start.h"

#include <inttypes.h>

#include "system/wait.h"

struct starting {
  const struct csi_service *service;
  struct csi_ctx *ctx;
  struct csi_service_wait wait;
  bool sent; /* it has been told to start */
};

/* What Win32_Service.StartService, which the original called, makes of errors, and what to do. The last row
 * is for all others. */
static const struct row {
  uint32_t win32;
  unsigned return_value;
  const char *advice; /* %s: the service */
} rows[] = {
    {2, 9, "the program of the service is missing; sc.exe qc tells its path"},
    {3, 9, "the program of the service is missing; sc.exe qc tells its path"},
    {5, 2, "csi-proxy has to run as LocalSystem or as an administrator"},
    {1053, 7,
     "the program of the service runs, but has not reported to the service manager; see the event log"},
    {1054, 17, NULL},
    {1055, 11, "another program is changing services; try again"},
    {1056, 10, NULL},
    {1058, 14, "the service is disabled; sc.exe config NAME start= demand lets it start"},
    {1059, 18, "its dependencies form a circle; sc.exe qc tells them"},
    {1068, 13,
     "a service that it depends on did not start; sc.exe qc tells which they are, the event log why"},
    {1069, 15,
     "the account of the service or its password was not accepted; sc.exe config NAME obj= password= sets "
     "them"},
    {1072, 16, "it is being removed; it goes when all programs that have it open have closed it"},
    {1075, 12, "a service that it depends on is not installed; sc.exe qc tells which they are"},
    {0, 8, NULL},
};

static const struct row *find_row(const struct csi_status *status) {
  const struct row *row = rows;
  while (row->win32 != 0 && (status->space != CSI_SPACE_WIN32 || row->win32 != status->number))
    row++;
  return row;
}

static bool explain_transition(const struct starting *starting, unsigned return_value) {
  const char *shown = starting->service->shown;
  return csi_explain(&starting->ctx->status,
                     "failed to wait for service %s state change. error: service %s state transition "
                     "failed: error starting service name %s. return value: %u, error: ",
                     shown, shown, shown, return_value);
}

static bool explain_check(const struct starting *starting) {
  const char *shown = starting->service->shown;
  return csi_explain(
      &starting->ctx->status,
      "failed to wait for service %s state change. error: service %s state check failed: ", shown, shown);
}

static bool fail_paused(const struct starting *starting) {
  const struct row *row = rows;
  while (row->win32 != CSI_SERVICE_ALREADY_RUNNING)
    row++;
  csi_fail(&starting->ctx->status, CSI_FAILED_PRECONDITION,
           "it is paused, and only who has paused it lets it go on (sc.exe continue)");
  return explain_transition(starting, row->return_value);
}

/* It was told to start, and is stopped again. */
static bool fail_ended(const struct starting *starting) {
  struct csi_status *failure = &starting->ctx->status;
  const struct csi_service_status *status = &starting->wait.status;
  if (status->win32_exit_code == CSI_SERVICE_SPECIFIC_ERROR)
    csi_fail_system(failure, CSI_SPACE_WIN32, status->win32_exit_code, "the service",
                    "it stopped while it started, with the error %" PRIu32 " (0x%" PRIx32 ") of its own",
                    status->specific_exit_code, status->specific_exit_code);
  else if (status->win32_exit_code != 0)
    csi_fail_system(failure, CSI_SPACE_WIN32, status->win32_exit_code, "the service",
                    "it stopped while it started");
  else
    csi_fail(failure, CSI_FAILED_PRECONDITION, "it stopped while it started, and told no reason");
  csi_advise(failure, " (the event log may tell more)");
  return explain_check(starting);
}

/* Tells it to start. */
static bool send(struct starting *starting) {
  const struct csi_service *service = starting->service;
  const struct csi_system_host *host = service->group->host;
  struct csi_status *failure = &starting->ctx->status;
  starting->sent = host->start(host->self, starting->ctx, service->name);
  if (starting->sent) return true;
  if (csi_service_failed_with(service, CSI_SERVICE_ALREADY_RUNNING)) { /* somebody else has, just now */
    csi_status_clear(failure);
    return true;
  }
  const struct row *row = find_row(failure);
  if (row->advice != NULL) csi_advise(failure, " (%s)", row->advice);
  return explain_transition(starting, row->return_value);
}

/* Acts on what the look has shown, and waits for the next one, unless it runs. */
static bool step(struct starting *starting) {
  struct csi_status *failure = &starting->ctx->status;
  uint32_t state = starting->wait.status.state;
  if (state == CSI_SERVICE_RUNNING) return true;
  if (state == CSI_SERVICE_PAUSED) return fail_paused(starting);
  if (state == CSI_SERVICE_STOPPED) {
    if (starting->sent) return fail_ended(starting);
    if (!send(starting)) return false;
    if (starting->sent) return true; /* to the next look without a pause */
  } else if (!csi_service_is_pending(state)) {
    csi_fail(failure, CSI_INTERNAL, "its state is %" PRIu32 ", which is none", state);
    return explain_check(starting);
  }
  if (csi_service_wait(&starting->wait)) return true;
  return csi_explain(failure,
                     failure->code == CSI_CANCELLED ? "given up waiting for service %s to become running: "
                                                    : "timed out waiting for service %s to become running: ",
                     starting->service->shown);
}

bool csi_service_start(const struct csi_service *service) {
  struct starting starting = {
      .service = service, .ctx = service->ctx, .wait = csi_service_wait_begin(service)};
  do {
    if (!csi_service_look(&starting.wait)) return explain_check(&starting);
    if (!csi_service_check_type(service, &starting.wait.status)) return false;
    if (!step(&starting)) return false;
  } while (starting.wait.status.state != CSI_SERVICE_RUNNING);
  return true;
}
