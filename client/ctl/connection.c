/* SPDX-License-Identifier: Apache-2.0 */
#include "client/ctl/connection.h"

#include <stdlib.h>
#include <string.h>

#include "client/ctl/descriptors.h"
#include "csi-proxy/client.h"

enum {
  FORMAT_BYTES = 512,
  MOST_CONNECT_MS = 5000, /* a pipe that stays busy for longer will not be free soon */
};

struct csi_ctl_connection {
  struct csi_client *client;
};

char *csi_ctl_pipe_name(const struct csi_ctl *ctl, struct csi_arena *arena, const char *group,
                        const char *version) {
  return csi_arena_printf(arena, "%s%s-%s", ctl->pipe_prefix, group, version);
}

/* --- what to do about a failure */

/* Whether any pipe of a service with this prefix is there. */
static bool service_is_there(struct csi_ctl *ctl) {
  for (const char *const *name = csi_ctl_group_names(); *name != NULL; name++) {
    const struct csi_ctl_group *group;
    struct csi_ctl_error unheard;
    if (!csi_ctl_find_group(ctl, *name, &group, &unheard)) continue;
    for (size_t i = 0; i < group->service_count; i++) {
      const char *pipe = csi_ctl_pipe_name(ctl, ctl->arena, *name, csi_ctl_version_of(group->services[i]));
      if (pipe != NULL && csi_pipe_is_present(pipe)) return true;
    }
  }
  return false;
}

static bool hint_missing(struct csi_ctl *ctl, const char *group, const char *version,
                         struct csi_ctl_error *error) {
  if (!service_is_there(ctl))
    return csi_ctl_hint(error, "the service does not run: see \"sc.exe query csiproxy\", "
                               "start it with \"sc.exe start csiproxy\"; -pipe-prefix if it has other names");
  if (strcmp(group, "admin") == 0)
    return csi_ctl_hint(error, "the service runs without its admin pipe: start it with -admin-pipe=true, or "
                               "upgrade it; until then \"csi-proxyctl call\" works, for example \"call disk "
                               "v1 ListDiskIDs\"");
  return csi_ctl_hint(error,
                      "the service runs and does not serve %s %s: \"csi-proxyctl list\" shows what it serves",
                      group, version);
}

static bool fail_to_connect(struct csi_ctl *ctl, const char *group, const char *version,
                            const struct csi_error *failure, struct csi_ctl_error *error) {
  *error = (struct csi_ctl_error){.exit = CSI_CTL_UNREACHABLE, .failure = *failure};
  switch (failure->code) {
  case CSI_NOT_FOUND:
    return hint_missing(ctl, group, version, error);
  case CSI_PERMISSION_DENIED:
    return csi_ctl_hint(error, "run this in a prompt that was opened as administrator; the service's "
                               "-pipe-sddl says who may connect");
  case CSI_DEADLINE_EXCEEDED:
    return csi_ctl_hint(error, "all instances of the pipe stay busy: the service hangs or is overloaded; "
                               "its log and \"csi-proxyctl top\" may tell");
  case CSI_INVALID_ARGUMENT:
    error->exit = CSI_CTL_USAGE;
    return false;
  default: /* a socket that nobody listens on is left over */
    return service_is_there(ctl) ? false : hint_missing(ctl, group, version, error);
  }
}

/* --- connecting */

static bool is_open(const struct csi_ctl *ctl, const char *group, const char *version) {
  return ctl->open != NULL && strcmp(csi_client_group(ctl->open->client), group) == 0 &&
         strcmp(csi_client_version(ctl->open->client), version) == 0;
}

/* The prefix is no format. */
static bool make_format(const char *prefix, char *format_out) {
  size_t length = 0;
  for (const char *at = prefix; *at != '\0'; at++) {
    if (length + sizeof "%%%s-%s" > FORMAT_BYTES) return false;
    if (*at == '%') format_out[length++] = '%';
    format_out[length++] = *at;
  }
  memcpy(format_out + length, "%s-%s", sizeof "%s-%s");
  return true;
}

static uint32_t connect_timeout_ms(const struct csi_ctl *ctl) {
  return ctl->timeout_ms > 0 && ctl->timeout_ms < MOST_CONNECT_MS ? ctl->timeout_ms : MOST_CONNECT_MS;
}

bool csi_ctl_connect(struct csi_ctl *ctl, const char *group, const char *version,
                     struct csi_client **client_out, struct csi_ctl_error *error) {
  if (!is_open(ctl, group, version)) {
    char format[FORMAT_BYTES];
    struct csi_error failure;
    struct csi_client *client;
    csi_ctl_disconnect(ctl);
    if (!make_format(ctl->pipe_prefix, format)) return csi_ctl_wrong(error, "-pipe-prefix is too long");
    const struct csi_client_options options = {.connect_timeout_ms = connect_timeout_ms(ctl),
                                               .endpoint_format = format};
    if (csi_client_connect_raw(group, version, &options, &client, &failure) != CSI_OK)
      return fail_to_connect(ctl, group, version, &failure, error);
    ctl->open = calloc(1, sizeof *ctl->open);
    if (ctl->open == NULL) {
      csi_client_close(client);
      return csi_ctl_fail_out_of_memory(error);
    }
    ctl->open->client = client;
  }
  *client_out = ctl->open->client;
  return true;
}

void csi_ctl_disconnect(struct csi_ctl *ctl) {
  if (ctl->open == NULL) return;
  csi_client_close(ctl->open->client);
  free(ctl->open);
  ctl->open = NULL;
}
