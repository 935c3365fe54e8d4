/* SPDX-License-Identifier: Apache-2.0 */
#include "csi-proxy/client.h"

#include <grpc/grpc.h>
#include <grpc/support/log.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "client/endpoint.h"
#include "client/failure.h"
#include "client/groups.h"
#include "client/session.h"

enum {
  DEFAULT_CONNECT_TIMEOUT_MS = 2000,
};

static const struct csi_client_group *find_group(const char *name) {
  for (size_t i = 0; csi_client_groups[i] != NULL; i++) {
    if (strcmp(csi_client_groups[i]->group, name) == 0) return csi_client_groups[i];
  }
  return NULL;
}

static const struct csi_client_version *find_version(const struct csi_client_group *group, const char *name) {
  for (size_t i = 0; i < group->version_count; i++) {
    if (strcmp(group->versions[i].version, name) == 0) return &group->versions[i];
  }
  return NULL;
}

/* Every name is checked before the first connection: a typing error must not depend on the node. */
static bool check_versions(const struct csi_client_group *group, const char *const *names,
                           struct csi_status *status) {
  if (names == NULL) return true;
  if (names[0] == NULL) return csi_fail(status, CSI_INVALID_ARGUMENT, "the list of versions is empty");
  for (size_t i = 0; names[i] != NULL; i++) {
    if (find_version(group, names[i]) == NULL) {
      return csi_fail(status, CSI_INVALID_ARGUMENT, "this library does not know version %s of %s", names[i],
                      group->group);
    }
  }
  return true;
}

/* The version to try as number `index`, NULL behind the last. */
static const struct csi_client_version *candidate(const struct csi_client_group *group,
                                                  const char *const *names, size_t index) {
  if (names != NULL) return names[index] != NULL ? find_version(group, names[index]) : NULL;
  return index < group->version_count ? &group->versions[index] : NULL;
}

static bool open_version(struct csi_client *client, const struct csi_client_version *version,
                         const struct csi_client_options *options, struct csi_status *status) {
  const char *format = options != NULL ? options->endpoint_format : NULL;
  client->version = version;
  if (!csi_endpoint_name(format, client->group->group, version->version, &client->endpoint, status))
    return false;
  if (csi_session_open(client, status)) return true;
  free(client->endpoint);
  client->endpoint = NULL;
  return false;
}

/* Takes the first version that is served. One that is served but refuses us, or stays busy, ends the
 * search: an older version behind it would only hide the reason. */
static bool open_first_served(struct csi_client *client, const char *const *names,
                              const struct csi_client_options *options, struct csi_status *status) {
  struct csi_status first = {0};
  for (size_t i = 0;; i++) {
    const struct csi_client_version *version = candidate(client->group, names, i);
    if (version == NULL) break;
    csi_status_clear(status);
    if (open_version(client, version, options, status)) return true;
    if (status->code != CSI_NOT_FOUND) return false;
    if (i == 0) first = *status;
  }
  *status = first;
  return csi_explain(status,
                     "no version of %s that was asked for is served on this node: ", client->group->group);
}

/* gRPC writes to stderr, which is the caller's: silence, unless its own variable asks for more. */
static void start_grpc(void) {
  if (getenv("GRPC_VERBOSITY") == NULL) gpr_set_log_verbosity((gpr_log_severity)(GPR_LOG_SEVERITY_ERROR + 1));
  grpc_init();
}

/* gRPC stays until the process ends: starting and stopping it takes ten times as long as a connection,
 * and some drivers make a client for every call. */
static void start_grpc_once(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, start_grpc);
}

static struct csi_client *new_client(const struct csi_client_options *options) {
  struct csi_client *client = calloc(1, sizeof *client);
  if (client == NULL) return NULL;
  client->connect_timeout_ms = options != NULL ? options->connect_timeout_ms : 0;
  if (client->connect_timeout_ms == 0) client->connect_timeout_ms = DEFAULT_CONNECT_TIMEOUT_MS;
  return client;
}

static bool connect_group(const char *name, const char *const *versions,
                          const struct csi_client_options *options, struct csi_client **client_out,
                          struct csi_status *status) {
  const struct csi_client_group *group = name != NULL ? find_group(name) : NULL;
  if (group == NULL) {
    return csi_fail(status, CSI_INVALID_ARGUMENT, "this library does not know the API group %s",
                    name != NULL ? name : "(null)");
  }
  if (!check_versions(group, versions, status)) return false;

  struct csi_client *client = new_client(options);
  if (client == NULL) return csi_fail_out_of_memory(status);
  client->group = group;
  start_grpc_once();
  if (!open_first_served(client, versions, options, status)) {
    free(client);
    return false;
  }
  *client_out = client;
  return true;
}

enum csi_code csi_client_connect(const char *group, const char *const *versions,
                                 const struct csi_client_options *options, struct csi_client **client_out,
                                 struct csi_error *error_out) {
  struct csi_status status = {0};
  *client_out = NULL;
  if (connect_group(group, versions, options, client_out, &status)) return CSI_OK;
  if (error_out != NULL) csi_error_from_status(&status, error_out);
  return status.code;
}

/* The name becomes part of a path. */
static bool copy_name(char *to, const char *name, const char *what, struct csi_status *status) {
  static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789-_";
  size_t length = name != NULL ? strlen(name) : 0;
  if (length == 0 || length >= CSI_RAW_NAME_BYTES || strspn(name, allowed) != length || name[0] < 'a')
    return csi_fail(status, CSI_INVALID_ARGUMENT,
                    "\"%s\" cannot be a %s: 1 to %d small letters, digits, '-' or '_' after a letter",
                    name != NULL ? name : "(null)", what, CSI_RAW_NAME_BYTES - 1);
  memcpy(to, name, length + 1);
  return true;
}

static bool name_raw_group(struct csi_raw_group *raw, const char *group, const char *version,
                           struct csi_status *status) {
  if (!copy_name(raw->group_name, group, "group", status) ||
      !copy_name(raw->version_name, version, "version", status))
    return false;
  raw->version = (struct csi_client_version){.version = raw->version_name};
  raw->group =
      (struct csi_client_group){.group = raw->group_name, .versions = &raw->version, .version_count = 1};
  return true;
}

static bool connect_raw(const char *group, const char *version, const struct csi_client_options *options,
                        struct csi_client **client_out, struct csi_status *status) {
  struct csi_client *client = new_client(options);
  if (client == NULL) return csi_fail_out_of_memory(status);
  client->group = &client->raw.group;
  if (name_raw_group(&client->raw, group, version, status)) {
    start_grpc_once();
    if (open_version(client, &client->raw.version, options, status)) {
      *client_out = client;
      return true;
    }
  }
  free(client);
  return false;
}

enum csi_code csi_client_connect_raw(const char *group, const char *version,
                                     const struct csi_client_options *options, struct csi_client **client_out,
                                     struct csi_error *error_out) {
  struct csi_status status = {0};
  *client_out = NULL;
  if (connect_raw(group, version, options, client_out, &status)) return CSI_OK;
  if (error_out != NULL) csi_error_from_status(&status, error_out);
  return status.code;
}

const char *csi_client_version(const struct csi_client *client) {
  return client->version->version;
}

const char *csi_client_group(const struct csi_client *client) {
  return client->group->group;
}

void csi_client_close(struct csi_client *client) {
  if (client == NULL) return;
  csi_session_close(client);
  free(client->endpoint);
  free(client);
}
