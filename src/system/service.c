/* SPDX-License-Identifier: Apache-2.0 */
#include "system/service.h"

#include <string.h>

#include "base/text.h"

struct csi_service csi_service_of(struct csi_ctx *ctx, const struct csi_system *group, const char *name) {
  struct csi_service service = {.ctx = ctx, .group = group, .name = name};
  csi_text_escape(service.shown, sizeof service.shown, name, strlen(name));
  return service;
}

bool csi_service_explain_query(const struct csi_service *service) {
  struct csi_status *status = &service->ctx->status;
  if (csi_service_failed_with(service, CSI_SERVICE_DOES_NOT_EXIST)) csi_explain(status, "not found: ");
  return csi_explain(status, "failed to get service %s. error: failed to query service %s: ", service->shown,
                     service->shown);
}

/* What a name cannot be; NULL when it can be one. */
static const char *find_fault(struct csi_ctx *ctx, const char *name) {
  size_t units;
  if (name[0] == '\0') return "not found: the name of the service is empty";
  if (csi_utf16_from_utf8(ctx->arena, name, strlen(name), &units, &ctx->status) == NULL)
    return ctx->status.text;
  if (units > CSI_SERVICE_NAME_UNITS) return "not found: a name has at most 256 characters";
  for (const char *at = name; *at != '\0'; at++) {
    if (*at == '/' || *at == '\\') return "not found: a name has no slashes and backslashes";
    if ((unsigned char)*at < ' ' || *at == '\x7F') return "not found: a name has no control characters";
  }
  return NULL;
}

bool csi_service_from_client(struct csi_ctx *ctx, const struct csi_system *group, const char *name,
                             struct csi_service *service_out) {
  *service_out = csi_service_of(ctx, group, name == NULL ? "" : name);
  const char *fault = find_fault(ctx, service_out->name);
  if (fault == NULL) return true;
  if (csi_status_ok(&ctx->status)) csi_fail(&ctx->status, CSI_INVALID_ARGUMENT, "%s", fault);
  return csi_service_explain_query(service_out);
}

bool csi_service_find(const struct csi_service *service, const char **key_name_out) {
  const struct csi_system_host *host = service->group->host;
  return host->get_key_name(host->self, service->ctx, service->name, key_name_out) ||
         csi_service_explain_query(service);
}

bool csi_service_is_driver(const struct csi_service_status *status) {
  return (status->type & CSI_SERVICE_DRIVER_TYPES) != 0;
}

bool csi_service_check_type(const struct csi_service *service, const struct csi_service_status *status) {
  if (!csi_service_is_driver(status)) return true;
  csi_fail(&service->ctx->status, CSI_NOT_FOUND, "not found: it is a driver, not a service");
  return csi_service_explain_query(service);
}

bool csi_service_get_status(const struct csi_service *service, struct csi_service_status *status_out) {
  const struct csi_system_host *host = service->group->host;
  return host->get_status(host->self, service->ctx, service->name, status_out);
}

bool csi_service_lock(const struct csi_service *service, const char *key_name, const char *holder,
                      char key_out[CSI_LOCK_KEY_BYTES]) {
  /* Long names may share a lock with others that begin alike. */
  static const char prefix[] = "service ";
  enum { PREFIX_BYTES = sizeof prefix - 1 };
  size_t name_bytes = csi_utf8_cut(key_name, strlen(key_name), CSI_LOCK_KEY_BYTES - 1 - PREFIX_BYTES);
  memcpy(key_out, prefix, PREFIX_BYTES);
  for (size_t i = 0; i < name_bytes; i++) {
    char letter = key_name[i];
    key_out[PREFIX_BYTES + i] = letter >= 'A' && letter <= 'Z' ? (char)(letter - 'A' + 'a') : letter;
  }
  key_out[PREFIX_BYTES + name_bytes] = '\0';
  return csi_keyed_lock(service->group->locks, service->ctx, key_out, holder);
}

const char *csi_service_state_name(uint32_t state) {
  static const char *const names[] = {
      [CSI_SERVICE_STOPPED] = "Stopped",
      [CSI_SERVICE_START_PENDING] = "Start Pending",
      [CSI_SERVICE_STOP_PENDING] = "Stop Pending",
      [CSI_SERVICE_RUNNING] = "Running",
      [CSI_SERVICE_CONTINUE_PENDING] = "Continue Pending",
      [CSI_SERVICE_PAUSE_PENDING] = "Pause Pending",
      [CSI_SERVICE_PAUSED] = "Paused",
  };
  if (state >= sizeof names / sizeof names[0] || names[state] == NULL) return "Unknown";
  return names[state];
}

bool csi_service_is_pending(uint32_t state) {
  return state == CSI_SERVICE_START_PENDING || state == CSI_SERVICE_STOP_PENDING ||
         state == CSI_SERVICE_CONTINUE_PENDING || state == CSI_SERVICE_PAUSE_PENDING;
}

bool csi_service_failed_with(const struct csi_service *service, uint32_t number) {
  const struct csi_status *status = &service->ctx->status;
  return status->space == CSI_SPACE_WIN32 && status->number == number && !csi_status_ok(status);
}
