/* SPDX-License-Identifier: Apache-2.0 */
#include "system/stop.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "system/stop_order.h"
#include "system/wait.h"

#define LIFTED_BY "(the flag -protected-services says which are)"

enum {
  ROUNDS = 3, /* dependents may be started while others are being stopped */
  NAMES_BYTES = 300,
};

static bool explain_failure(const struct csi_service *service) {
  return csi_explain(&service->ctx->status, "failed to stop service %s. error: ", service->shown);
}

/* -- One service ----------------------------------------------------------------------------------- */

struct stopping {
  const struct csi_service *service;
  struct csi_service_wait wait;
  bool is_asked;      /* what the client wants stopped, not one that depends on it */
  bool sent;          /* the control was accepted */
  bool refused;       /* it could not be received at that moment */
  bool seen_stopping; /* after that */
};

static bool explain_control(const struct csi_service *service, uint32_t state) {
  struct csi_status *failure = &service->ctx->status;
  if (csi_service_failed_with(service, CSI_SERVICE_INVALID_CONTROL))
    csi_advise(failure, " (the service does not let itself be stopped)");
  return csi_explain(failure, "error stopping service name %s. current state: %s, error: ", service->shown,
                     csi_service_state_name(state));
}

static bool explain_stopping(const struct stopping *stopping) {
  explain_control(stopping->service, stopping->wait.status.state);
  return stopping->is_asked && explain_failure(stopping->service);
}

/* Sends the control. */
static bool send(struct stopping *stopping) {
  const struct csi_service *service = stopping->service;
  bool is_pending = csi_service_is_pending(stopping->wait.status.state);
  const struct csi_system_host *host = service->group->host;
  struct csi_status *failure = &service->ctx->status;
  stopping->sent = host->stop(host->self, service->ctx, service->name);
  if (stopping->sent) return true;
  bool cannot_accept = csi_service_failed_with(service, CSI_SERVICE_CANNOT_ACCEPT_CONTROL);
  /* It may be on its way since the look; the next look tells. */
  if (csi_service_failed_with(service, CSI_SERVICE_NOT_ACTIVE) ||
      (cannot_accept && (is_pending || !stopping->refused))) {
    csi_status_clear(failure);
    stopping->refused = cannot_accept && !is_pending;
    return true;
  }
  return explain_stopping(stopping);
}

/* Acts on what the look has shown, and waits for the next one. */
static bool step(struct stopping *stopping) {
  struct csi_status *failure = &stopping->service->ctx->status;
  if (stopping->wait.status.state == CSI_SERVICE_STOP_PENDING) {
    stopping->seen_stopping = true;
  } else if (stopping->sent && stopping->seen_stopping) {
    csi_fail(failure, CSI_ABORTED, "it began to stop, and does not any more");
    return explain_stopping(stopping);
  } else if (!stopping->sent) {
    if (!send(stopping)) return false;
    if (stopping->sent) return true; /* to the next look without a pause */
  }
  if (csi_service_wait(&stopping->wait)) return true;
  return csi_explain(failure,
                     failure->code == CSI_CANCELLED ? "given up waiting for service %s to stop: "
                                                    : "timed out waiting for service %s to stop: ",
                     stopping->service->shown);
}

/* sent_out: whether it has stopped because it was told to. */
static bool stop_one(const struct csi_service *service, bool is_asked, bool *sent_out) {
  struct stopping stopping = {
      .service = service, .wait = csi_service_wait_begin(service), .is_asked = is_asked};
  for (;;) {
    if (!csi_service_look(&stopping.wait)) return explain_stopping(&stopping);
    if (stopping.wait.status.state == CSI_SERVICE_STOPPED) {
      *sent_out = stopping.sent;
      return true;
    }
    if (!step(&stopping)) return false;
  }
}

/* -- Names of services ----------------------------------------------------------------------------- */

/* Each once. */
struct names {
  const char *names[CSI_STOP_SERVICES_MAX];
  size_t count;
};

/* The place of a name; count when it is not there. */
static size_t find_name(const struct names *names, const char *name) {
  size_t i = 0;
  while (i < names->count && !csi_utf8_equal_ignore_case(names->names[i], name))
    i++;
  return i;
}

/* "A, B, ...", as far as there is room. */
static void show_names(char text_out[NAMES_BYTES], const char *const *names, size_t count) {
  text_out[0] = '\0';
  for (size_t i = 0; i < count; i++) {
    struct csi_service each = csi_service_of(NULL, NULL, names[i]);
    size_t length = strlen(text_out);
    if (length + strlen(each.shown) + sizeof ", ..." > NAMES_BYTES) {
      snprintf(text_out + length, NAMES_BYTES - length, ", ...");
      break;
    }
    snprintf(text_out + length, NAMES_BYTES - length, "%s%s", length > 0 ? ", " : "", each.shown);
  }
}

/* -- The services that would have to stop ---------------------------------------------------------- */

/* Number 0 is the service itself. */
struct crowd {
  struct names services;
  struct csi_stop_edge *edges; /* room for CSI_STOP_EDGES_MAX */
  size_t edge_count;
};

static bool add(struct csi_ctx *ctx, struct crowd *crowd, const char *name, size_t needed) {
  struct names *services = &crowd->services;
  size_t i = find_name(services, name);
  if (i == CSI_STOP_SERVICES_MAX || crowd->edge_count == CSI_STOP_EDGES_MAX)
    return csi_fail(&ctx->status, CSI_RESOURCE_EXHAUSTED,
                    "more than %d services would have to be stopped as well", CSI_STOP_SERVICES_MAX - 1);
  if (i == services->count) services->names[services->count++] = name;
  crowd->edges[crowd->edge_count++] =
      (struct csi_stop_edge){.dependent = (uint16_t)i, .needed = (uint16_t)needed};
  return true;
}

static bool list_dependents(const struct csi_service *service, const char ***names_out, size_t *count_out) {
  const struct csi_system_host *host = service->group->host;
  return host->list_active_dependents(host->self, service->ctx, service->name, names_out, count_out);
}

/* A service that is gone meanwhile has none. */
static bool add_dependents(const struct csi_service *service, struct crowd *crowd, size_t needed) {
  const char **names;
  size_t count;
  if (!list_dependents(service, &names, &count)) {
    if (needed == 0 || !csi_service_failed_with(service, CSI_SERVICE_DOES_NOT_EXIST))
      return csi_explain(&service->ctx->status,
                         "error getting dependent services for service name %s: ", service->shown);
    csi_status_clear(&service->ctx->status);
    return true;
  }
  for (size_t i = 0; i < count; i++)
    if (!add(service->ctx, crowd, names[i], needed)) return false;
  return true;
}

/* Whether the service manager lists those far away as well does not matter here. */
static bool gather(const struct csi_service *service, struct crowd *crowd) {
  if (crowd->edges == NULL)
    crowd->edges = csi_arena_alloc_array(service->ctx->arena, CSI_STOP_EDGES_MAX, sizeof *crowd->edges);
  if (crowd->edges == NULL) return csi_fail_out_of_memory(&service->ctx->status);
  crowd->services = (struct names){.names = {service->name}, .count = 1};
  crowd->edge_count = 0;
  for (size_t i = 0; i < crowd->services.count; i++) {
    struct csi_service each = csi_service_of(service->ctx, service->group, crowd->services.names[i]);
    if (!add_dependents(&each, crowd, i)) return false;
  }
  return true;
}

/* -- What is refused ------------------------------------------------------------------------------- */

/* asked: what the client wants stopped; the same as service, or one that service depends on. */
static bool fail_protected(const struct csi_service *asked, const struct csi_service *service,
                           const char *why) {
  struct csi_status *status = &service->ctx->status;
  if (asked == service) return csi_fail(status, CSI_FAILED_PRECONDITION, "service %s %s", asked->shown, why);
  return csi_fail(status, CSI_FAILED_PRECONDITION,
                  "service %s depends on it, would have to be stopped first, and %s", service->shown, why);
}

static bool check_one(const struct csi_service *asked, const struct csi_service *service,
                      const char *key_name, struct csi_service_status *status_out) {
  const struct csi_system *group = service->group;
  if (csi_protected_services_have(group->protected, service->name) ||
      csi_protected_services_have(group->protected, key_name))
    return fail_protected(asked, service, "is protected: the node needs it " LIFTED_BY);
  if (!csi_service_get_status(service, status_out)) return false;
  if (status_out->process_id != 0 && status_out->process_id == group->host->get_process_id(group->host->self))
    return fail_protected(asked, service, "is csi-proxy itself, which only sc.exe stop stops");
  return true;
}

/* Known before the first one is stopped: otherwise those that depend on it would have been for nothing. */
static bool check_accepts(const struct csi_service *service, const struct csi_service_status *status) {
  bool tells = status->state == CSI_SERVICE_RUNNING || status->state == CSI_SERVICE_PAUSED;
  if (!tells || (status->controls_accepted & CSI_SERVICE_ACCEPT_STOP) != 0) return true;
  csi_fail_system(&service->ctx->status, CSI_SPACE_WIN32, CSI_SERVICE_INVALID_CONTROL, "ControlService",
                  "service %s", service->shown);
  return explain_control(service, status->state);
}

static bool check_dependent(const struct csi_service *asked, const struct csi_service *service) {
  struct csi_service_status status;
  if (!check_one(asked, service, service->name, &status)) return false;
  if (csi_service_is_driver(&status)) return fail_protected(asked, service, "is a driver");
  return check_accepts(service, &status);
}

static bool check_dependents(const struct csi_service *asked, const struct crowd *crowd) {
  struct csi_ctx *ctx = asked->ctx;
  for (size_t i = 1; i < crowd->services.count; i++) {
    struct csi_service service = csi_service_of(ctx, asked->group, crowd->services.names[i]);
    if (check_dependent(asked, &service)) continue;
    if (!csi_service_failed_with(&service, CSI_SERVICE_DOES_NOT_EXIST)) return false;
    csi_status_clear(&ctx->status);
  }
  return true;
}

/* -- All of them ----------------------------------------------------------------------------------- */

/* stopped: what has been stopped, and what each round adds to. */
static bool stop_dependent(const struct csi_service *asked, const char *name, struct names *stopped) {
  struct csi_ctx *ctx = asked->ctx;
  struct csi_service service = csi_service_of(ctx, asked->group, name);
  CSI_LOG(INFO, "stopping service %s, which depends on %s", service.shown, asked->shown);
  bool sent;
  if (stop_one(&service, false, &sent)) {
    if (sent && stopped->count < CSI_STOP_SERVICES_MAX && find_name(stopped, name) == stopped->count)
      stopped->names[stopped->count++] = name;
    return true;
  }
  if (!csi_service_failed_with(&service, CSI_SERVICE_DOES_NOT_EXIST)) return false;
  csi_status_clear(&ctx->status);
  return true;
}

static bool stop_crowd(const struct csi_service *service, const struct crowd *crowd, struct names *stopped) {
  const struct names *services = &crowd->services;
  uint16_t order[CSI_STOP_SERVICES_MAX];
  csi_stop_order(services->count, crowd->edges, crowd->edge_count, order);
  for (size_t i = 0; i < services->count; i++)
    if (order[i] != 0 && !stop_dependent(service, services->names[order[i]], stopped)) return false;
  return true;
}

static bool try_rounds(const struct csi_service *service, struct names *stopped) {
  struct crowd crowd = {0};
  for (int round = 1;; round++) {
    bool sent;
    if (!gather(service, &crowd) || !check_dependents(service, &crowd)) return explain_failure(service);
    if (!stop_crowd(service, &crowd, stopped)) {
      if (!csi_service_failed_with(service, CSI_SERVICE_DEPENDENTS_RUNNING) || round == ROUNDS)
        return explain_failure(service);
    } else {
      if (stop_one(service, true, &sent)) return true;
      if (!csi_service_failed_with(service, CSI_SERVICE_DEPENDENTS_RUNNING) || round == ROUNDS) return false;
    }
    csi_status_clear(&service->ctx->status);
  }
}

static bool stop_with_dependents(const struct csi_service *service) {
  struct names stopped = {.count = 0};
  if (try_rounds(service, &stopped)) return true;
  if (stopped.count == 0) return false;
  char text[NAMES_BYTES];
  show_names(text, stopped.names, stopped.count);
  return csi_advise(&service->ctx->status, " (already stopped: %s)", text);
}

/* Says which services are in the way; best effort, the failure is there already. */
static void name_dependents(const struct csi_service *service) {
  struct csi_ctx probe = *service->ctx;
  csi_status_clear(&probe.status);
  struct csi_service asking = csi_service_of(&probe, service->group, service->name);
  const char **names;
  size_t count;
  char text[NAMES_BYTES];
  if (!list_dependents(&asking, &names, &count) || count == 0) return;
  show_names(text, names, count);
  csi_advise(&service->ctx->status, " (%zu: %s; stop them first, or use force)", count, text);
}

bool csi_service_stop(const struct csi_service *service, const char *key_name, bool force) {
  struct csi_service_status status;
  bool sent;
  if (!check_one(service, service, key_name, &status)) return explain_failure(service);
  if (!csi_service_check_type(service, &status)) return false;
  if (status.state == CSI_SERVICE_STOPPED) return true;
  if (force)
    return check_accepts(service, &status) ? stop_with_dependents(service) : explain_failure(service);
  if (stop_one(service, true, &sent)) return true;
  if (csi_service_failed_with(service, CSI_SERVICE_DEPENDENTS_RUNNING)) name_dependents(service);
  return false;
}
