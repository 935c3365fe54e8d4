/* SPDX-License-Identifier: Apache-2.0 */
#include "system/handlers.h"

#include <inttypes.h>
#include <stdlib.h>

#include "system/service.h"
#include "system/smbios.h"
#include "system/start.h"
#include "system/stop.h"

struct csi_system *csi_system_new(const struct csi_system_options *options,
                                  const struct csi_system_host *host, struct csi_keyed_locks *locks,
                                  struct csi_status *status) {
  struct csi_system *group = calloc(1, sizeof *group);
  if (group == NULL) {
    csi_fail_out_of_memory(status);
    return NULL;
  }
  *group = (struct csi_system){
      .host = host,
      .locks = locks,
      .protected = csi_protected_services_new(options->protected_services, status),
      .patience_ms = options->patience_ms != 0 ? options->patience_ms : CSI_SERVICE_PATIENCE_MS,
  };
  if (group->protected != NULL) return group;
  csi_system_free(group);
  return NULL;
}

void csi_system_free(struct csi_system *group) {
  if (group == NULL) return;
  csi_protected_services_free(group->protected);
  free(group);
}

bool csi_system_serve_get_bios_serial_number(struct csi_ctx *ctx, struct csi_system *group,
                                             const struct csi_system_get_bios_serial_number_request *request,
                                             struct csi_system_get_bios_serial_number_response *response) {
  (void)request;
  struct csi_bytes table;
  const char *serial;
  if (!group->host->get_smbios(group->host->self, ctx, &table) ||
      !csi_smbios_get_serial_number(ctx->arena, &table, &serial, &ctx->status))
    return csi_explain(&ctx->status, "failed to get BIOS element: failed to query BIOS element: ");
  response->serial_number = serial;
  return true;
}

/* -- GetService ------------------------------------------------------------------------------------ */

static bool fill(const struct csi_service *service, const struct csi_service_config *config,
                 const struct csi_service_status *status, struct csi_system_get_service_response *response) {
  struct csi_status *failure = &service->ctx->status;
  const char *shown = service->shown;
  if (status->state < CSI_SERVICE_STOPPED || status->state > CSI_SERVICE_PAUSED)
    return csi_fail(failure, CSI_INTERNAL,
                    "failed to get state property of service %s: %" PRIu32 " is no state", shown,
                    status->state);
  if (config->start_type > CSI_SYSTEM_START_TYPE_DISABLED)
    return csi_fail(failure, CSI_INTERNAL,
                    "failed to get startMode property of service %s: %" PRIu32 " is no start type", shown,
                    config->start_type);
  response->display_name = config->display_name;
  response->start_type = (enum csi_system_start_type)config->start_type;
  response->status = (enum csi_system_service_status)status->state;
  return true;
}

bool csi_system_serve_get_service(struct csi_ctx *ctx, struct csi_system *group,
                                  const struct csi_system_get_service_request *request,
                                  struct csi_system_get_service_response *response) {
  struct csi_service service;
  struct csi_service_config config;
  struct csi_service_status status;
  if (!csi_service_from_client(ctx, group, request->name, &service)) return false;
  if (!group->host->get_config(group->host->self, ctx, service.name, &config) ||
      !csi_service_get_status(&service, &status))
    return csi_service_explain_query(&service);
  if (!csi_service_check_type(&service, &status)) return false;
  return fill(&service, &config, &status, response);
}

/* -- StartService, StopService --------------------------------------------------------------------- */

bool csi_system_serve_start_service(struct csi_ctx *ctx, struct csi_system *group,
                                    const struct csi_system_start_service_request *request,
                                    struct csi_system_start_service_response *response) {
  (void)response;
  struct csi_service service;
  const char *key_name;
  char lock_key[CSI_LOCK_KEY_BYTES];
  if (!csi_service_from_client(ctx, group, request->name, &service) ||
      !csi_service_find(&service, &key_name) ||
      !csi_service_lock(&service, key_name, "StartService", lock_key))
    return false;
  bool started = csi_service_start(&service);
  csi_keyed_unlock(group->locks, lock_key);
  return started;
}

bool csi_system_serve_stop_service(struct csi_ctx *ctx, struct csi_system *group,
                                   const struct csi_system_stop_service_request *request,
                                   struct csi_system_stop_service_response *response) {
  (void)response;
  struct csi_service service;
  const char *key_name;
  char lock_key[CSI_LOCK_KEY_BYTES];
  if (!csi_service_from_client(ctx, group, request->name, &service) ||
      !csi_service_find(&service, &key_name) ||
      !csi_service_lock(&service, key_name, "StopService", lock_key))
    return false;
  bool stopped = csi_service_stop(&service, key_name, request->force);
  csi_keyed_unlock(group->locks, lock_key);
  return stopped;
}
