/* SPDX-License-Identifier: Apache-2.0 */
#include "admin/introspection.h"

#include <stdlib.h>

#include "admin/health.h"
#include "admin/reflection.h"

struct csi_introspection {
  const struct csi_service_list *groups[CSI_INTROSPECTION_GROUPS + 1]; /* NULL-terminated, both */
  const struct csi_service_list *own[4];
  struct csi_health health;
  struct csi_reflection reflection;
  struct csi_server *server;
};

struct csi_introspection *csi_introspection_new(struct csi_readiness *readiness,
                                                const struct csi_service_list *const *groups,
                                                size_t group_count, const struct csi_service_list *admin,
                                                struct csi_status *status) {
  struct csi_introspection *introspection = calloc(1, sizeof *introspection);
  if (!introspection) {
    csi_fail_out_of_memory(status);
    return NULL;
  }
  for (size_t i = 0; i < group_count && i < CSI_INTROSPECTION_GROUPS; i++)
    introspection->groups[i] = groups[i];
  introspection->own[0] = admin;
  introspection->own[1] = &csi_health_services;
  introspection->own[2] = &csi_reflection_services;
  introspection->health =
      (struct csi_health){.readiness = readiness, .groups = introspection->groups, .own = introspection->own};
  introspection->reflection =
      (struct csi_reflection){.own = introspection->own, .groups = introspection->groups};
  return introspection;
}

void csi_introspection_free(struct csi_introspection *introspection) {
  free(introspection);
}

void csi_introspection_attach(struct csi_introspection *introspection, struct csi_server *server) {
  introspection->server = server;
}

size_t csi_introspection_list(struct csi_introspection *introspection, struct csi_extra_service *extras_out) {
  const struct csi_service_list *reflection = &csi_reflection_services;
  extras_out[0] = (struct csi_extra_service){&csi_health_services, csi_health_services.services[0],
                                             &introspection->health};
  for (size_t i = 0; i < reflection->service_count; i++)
    extras_out[1 + i] =
        (struct csi_extra_service){reflection, reflection->services[i], &introspection->reflection};
  return 1 + reflection->service_count;
}

void csi_introspection_stopping(struct csi_introspection *introspection) {
  csi_readiness_set_stopping(introspection->health.readiness);
  if (introspection->server) csi_server_refresh_watches(introspection->server);
}
