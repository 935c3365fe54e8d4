/* SPDX-License-Identifier: Apache-2.0
 *
 * system                    shows the versions of the system group that this node serves, and the serial
 *                           number of the machine
 * system show SERVICE       shows name, start type and state of a service
 * system start SERVICE      starts it, and waits until it runs
 * system stop SERVICE       stops it, and waits until it has stopped
 * system stop-all SERVICE   the same, after all services that depend on it
 *
 * In place of pipes, CSI_PROXY_ENDPOINT_FORMAT may name other endpoints (see csi_client_options).
 */
#include <csi-proxy/client.h>
#include <csi-proxy/system.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "show.h"

static const struct csi_call_options in_time = {.timeout_ms = CALL_TIMEOUT_MS};
static const struct csi_call_options in_long_time = {.timeout_ms = LONG_CALL_TIMEOUT_MS};

static bool show_serial_number(struct csi_client *client) {
  const struct csi_system_get_bios_serial_number_request request = {0};
  struct csi_system_get_bios_serial_number_response *response;
  struct csi_error error;
  if (csi_system_get_bios_serial_number(client, &request, &in_time, &response, &error) != CSI_OK) {
    show_error(&error);
    return false;
  }
  printf("\nSerial number: <%s>\n", response->serial_number);
  csi_response_free(response);
  return true;
}

static const char *start_type_name(enum csi_system_start_type type) {
  switch (type) {
  case CSI_SYSTEM_START_TYPE_BOOT:
    return "boot";
  case CSI_SYSTEM_START_TYPE_SYSTEM:
    return "system";
  case CSI_SYSTEM_START_TYPE_AUTOMATIC:
    return "automatic";
  case CSI_SYSTEM_START_TYPE_MANUAL:
    return "manual";
  case CSI_SYSTEM_START_TYPE_DISABLED:
    return "disabled";
  }
  return "?"; /* of a service that is newer than this program */
}

static const char *status_name(enum csi_system_service_status status) {
  switch (status) {
  case CSI_SYSTEM_SERVICE_STATUS_UNKNOWN:
    break;
  case CSI_SYSTEM_SERVICE_STATUS_STOPPED:
    return "stopped";
  case CSI_SYSTEM_SERVICE_STATUS_START_PENDING:
    return "starting";
  case CSI_SYSTEM_SERVICE_STATUS_STOP_PENDING:
    return "stopping";
  case CSI_SYSTEM_SERVICE_STATUS_RUNNING:
    return "running";
  case CSI_SYSTEM_SERVICE_STATUS_CONTINUE_PENDING:
    return "going on";
  case CSI_SYSTEM_SERVICE_STATUS_PAUSE_PENDING:
    return "pausing";
  case CSI_SYSTEM_SERVICE_STATUS_PAUSED:
    return "paused";
  }
  return "?";
}

static bool show(struct csi_client *client, const char *name) {
  struct csi_system_get_service_request request = {.name = name};
  struct csi_system_get_service_response *service;
  struct csi_error error;
  if (csi_system_get_service(client, &request, &in_time, &service, &error) != CSI_OK) {
    show_error(&error);
    return false;
  }
  printf("%s (%s): %s, start type %s\n", name, service->display_name, status_name(service->status),
         start_type_name(service->start_type));
  csi_response_free(service);
  return true;
}

static bool start(struct csi_client *client, const char *name) {
  struct csi_system_start_service_request request = {.name = name};
  struct csi_system_start_service_response *response;
  struct csi_error error;
  long long started_us = now_us();
  enum csi_code code = csi_system_start_service(client, &request, &in_long_time, &response, &error);
  csi_response_free(response);
  return show_outcome("StartService", name, "running", started_us, code, &error);
}

static bool stop(struct csi_client *client, const char *name, bool with_dependents) {
  struct csi_system_stop_service_request request = {.name = name, .force = with_dependents};
  struct csi_system_stop_service_response *response;
  struct csi_error error;
  long long started_us = now_us();
  enum csi_code code = csi_system_stop_service(client, &request, &in_long_time, &response, &error);
  csi_response_free(response);
  return show_outcome("StopService", name, "stopped", started_us, code, &error);
}

static bool run(struct csi_client *client, const char *what, const char *name) {
  if (strcmp(what, "show") == 0) return show(client, name);
  if (strcmp(what, "start") == 0) return start(client, name);
  return stop(client, name, strcmp(what, "stop-all") == 0);
}

int main(int argc, char **argv) {
  static const char *const versions[] = {"v1alpha1", NULL};
  bool is_known = argc == 3 && (strcmp(argv[1], "show") == 0 || strcmp(argv[1], "start") == 0 ||
                                strcmp(argv[1], "stop") == 0 || strcmp(argv[1], "stop-all") == 0);
  if (argc != 1 && !is_known) {
    fprintf(stderr, "usage: system [show | start | stop | stop-all SERVICE]\n");
    return 2;
  }
  struct csi_client_options options = {.endpoint_format = getenv("CSI_PROXY_ENDPOINT_FORMAT")};
  if (argc == 1) show_versions("system", versions, &options);

  struct csi_client *client = connect_or_explain("system", &options);
  if (client == NULL) return EXIT_FAILURE;
  bool ok = argc == 1 ? show_serial_number(client) : run(client, argv[1], argv[2]);
  csi_client_close(client);
  return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
