/* SPDX-License-Identifier: Apache-2.0 */
#include "parts_fake.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "command_line.h"

enum {
  NAME_BYTES = 256,
  FILE_NOT_FOUND = 2, /* Win32, and the next */
  NO_SUCH_PRIVILEGE = 1313,
  PAUSE_MS = 5,
};

struct csi_fake_parts {
  struct csi_parts_host host;
  pthread_mutex_t lock; /* guards what follows */
  struct {
    char name[NAME_BYTES];
    enum csi_fake_part what;
  } known[CSI_FAKE_PARTS];
  size_t count;
  size_t checks;
  size_t under_way;
};

static enum csi_fake_part look_up(struct csi_fake_parts *parts, const char *name) {
  enum csi_fake_part what = CSI_FAKE_PART_PRESENT;
  pthread_mutex_lock(&parts->lock);
  for (size_t i = 0; i < parts->count; i++)
    if (strcmp(parts->known[i].name, name) == 0) what = parts->known[i].what;
  pthread_mutex_unlock(&parts->lock);
  return what;
}

static bool hang(struct csi_ctx *ctx) {
  while (csi_ctx_alive(ctx))
    if (!csi_pause(ctx, PAUSE_MS)) break;
  return false;
}

static void count(struct csi_fake_parts *parts, bool begins) {
  pthread_mutex_lock(&parts->lock);
  parts->checks += begins;
  parts->under_way += begins ? 1 : (size_t)-1;
  pthread_mutex_unlock(&parts->lock);
}

static void pause_a_moment(void) {
  nanosleep(&(struct timespec){.tv_nsec = PAUSE_MS * 1000000}, NULL);
}

static bool answer(struct csi_fake_parts *parts, struct csi_ctx *ctx, const struct csi_part_spec *part) {
  switch (look_up(parts, part->name)) {
  case CSI_FAKE_PART_MISSING:
    if (part->kind == CSI_PART_SERVICE)
      return csi_fail_system(&ctx->status, CSI_SPACE_WIN32, CSI_SERVICE_DOES_NOT_EXIST, "OpenServiceW",
                             "service %s", part->name);
    return csi_fail_system(&ctx->status, CSI_SPACE_WIN32, FILE_NOT_FOUND, "CreateFileW", "%s", part->name);
  case CSI_FAKE_PART_STOPPED:
    return csi_fail(&ctx->status, CSI_FAILED_PRECONDITION, "the service %s is stopped", part->name);
  case CSI_FAKE_PART_DISABLED:
    return csi_fail(&ctx->status, CSI_NOT_FOUND, "the service %s is stopped and disabled", part->name);
  case CSI_FAKE_PART_HANGS:
    return hang(ctx);
  case CSI_FAKE_PART_STUCK:
    while (look_up(parts, part->name) == CSI_FAKE_PART_STUCK)
      pause_a_moment();
    return answer(parts, ctx, part);
  case CSI_FAKE_PART_NONSENSE:
    return csi_fail_system(&ctx->status, CSI_SPACE_WIN32, NO_SUCH_PRIVILEGE, "LookupPrivilegeValueW", "%s",
                           part->name);
  default:
    return true;
  }
}

static bool check(void *self, struct csi_ctx *ctx, const struct csi_part_spec *part) {
  count(self, true);
  bool is_there = answer(self, ctx, part);
  count(self, false);
  return is_there;
}

struct csi_fake_parts *csi_fake_parts_new(void) {
  struct csi_fake_parts *parts = calloc(1, sizeof *parts);
  if (parts == NULL) abort();
  pthread_mutex_init(&parts->lock, NULL);
  parts->host = (struct csi_parts_host){.self = parts, .check = check};
  return parts;
}

static bool is_idle(struct csi_fake_parts *parts) {
  pthread_mutex_lock(&parts->lock);
  bool idle = parts->under_way == 0;
  pthread_mutex_unlock(&parts->lock);
  return idle;
}

void csi_fake_parts_free(struct csi_fake_parts *parts) {
  csi_fake_parts_reset(parts);
  while (!is_idle(parts))
    pause_a_moment();
  pthread_mutex_destroy(&parts->lock);
  free(parts);
}

const struct csi_parts_host *csi_fake_parts_host(struct csi_fake_parts *parts) {
  return &parts->host;
}

bool csi_fake_parts_set(struct csi_fake_parts *parts, const char *name, enum csi_fake_part what) {
  pthread_mutex_lock(&parts->lock);
  size_t i = 0;
  while (i < parts->count && strcmp(parts->known[i].name, name) != 0)
    i++;
  bool has_room = i < CSI_FAKE_PARTS && strlen(name) < NAME_BYTES;
  if (has_room) {
    snprintf(parts->known[i].name, NAME_BYTES, "%s", name);
    parts->known[i].what = what;
    if (i == parts->count) parts->count++;
  }
  pthread_mutex_unlock(&parts->lock);
  return has_room;
}

void csi_fake_parts_reset(struct csi_fake_parts *parts) {
  pthread_mutex_lock(&parts->lock);
  parts->count = 0;
  pthread_mutex_unlock(&parts->lock);
}

size_t csi_fake_parts_checks(struct csi_fake_parts *parts) {
  pthread_mutex_lock(&parts->lock);
  size_t checks = parts->checks;
  pthread_mutex_unlock(&parts->lock);
  return checks;
}

/* ---- Commands. ---- */

static bool part_set(struct csi_fake_command *command) {
  static const char *const states[] = {
      [CSI_FAKE_PART_PRESENT] = "present",  [CSI_FAKE_PART_MISSING] = "missing",
      [CSI_FAKE_PART_STOPPED] = "stopped",  [CSI_FAKE_PART_DISABLED] = "disabled",
      [CSI_FAKE_PART_HANGS] = "hangs",      [CSI_FAKE_PART_STUCK] = "stuck",
      [CSI_FAKE_PART_NONSENSE] = "nonsense"};
  const char *name = NULL, *state = NULL;
  if (!csi_fake_command_text(command, "name", &name) || !csi_fake_command_text(command, "state", &state) ||
      !csi_fake_command_complete(command))
    return false;
  if (name == NULL || state == NULL) return csi_fake_command_fail(command, "name or state is missing");
  for (size_t i = 0; i < sizeof states / sizeof *states; i++)
    if (strcmp(state, states[i]) == 0)
      return csi_fake_parts_set(command->fake, name, (enum csi_fake_part)i) ||
             csi_fake_command_fail(command, "no room for more parts");
  return csi_fake_command_fail(command, "not understood: state=%s", state);
}

static bool part_reset(struct csi_fake_command *command) {
  if (!csi_fake_command_complete(command)) return false;
  csi_fake_parts_reset(command->fake);
  return true;
}

bool csi_fake_parts_command(struct csi_fake_parts *parts, const char *line, char *reply, size_t reply_bytes,
                            bool *done_out) {
  static const struct csi_fake_verb verbs[] = {
      {"part", "set", part_set}, {"part", "reset", part_reset}, {NULL, NULL, NULL}};
  return csi_fake_command_run(verbs, parts, line, reply, reply_bytes, done_out);
}
