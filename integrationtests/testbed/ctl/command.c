/* SPDX-License-Identifier: Apache-2.0 */
#include "command.h"

#include <stdio.h>
#include <string.h>

#include "driver/text.h"
#include "driver/words.h"
#include "format.h"
#include "physical_disk.h"
#include "profile.h"
#include "service_command.h"
#include "share_command.h"
#include "show.h"
#include "signature.h"
#include "table.h"
#include "target_command.h"
#include "wait.h"

enum {
  REPLY_BYTES = 1 << 20,
};

/* What a command of this program gets. */
struct request {
  struct csi_control_device *control;
  struct vdisk_words words;
  struct vdisk_text reply;
};

static bool run_wait_disks(struct request *request, struct csi_ctl_error *error) {
  return csi_wait_disks_command(&request->words, error);
}

static bool run_wait_volumes(struct request *request, struct csi_ctl_error *error) {
  return csi_wait_volumes_command(request->control, &request->words, error);
}

static bool run_table(struct request *request, struct csi_ctl_error *error) {
  return csi_table_command(&request->words, error);
}

static bool run_signature(struct request *request, struct csi_ctl_error *error) {
  return csi_signature_command(&request->words, error);
}

static bool run_format(struct request *request, struct csi_ctl_error *error) {
  return csi_format_command(&request->words, &request->reply, error);
}

static bool run_update(struct request *request, struct csi_ctl_error *error) {
  CSI_SCOPED_PHYSICAL_DISK disk;
  return csi_physical_disk_open(&request->words, &disk, error) &&
         csi_physical_disk_control(&disk, IOCTL_DISK_UPDATE_PROPERTIES, "IOCTL_DISK_UPDATE_PROPERTIES", NULL,
                                   0, NULL, 0, error);
}

static bool run_show_disks(struct request *request, struct csi_ctl_error *error) {
  return csi_show_disks(&request->reply, error);
}

static bool run_show_volumes(struct request *request, struct csi_ctl_error *error) {
  return csi_show_volumes(&request->reply, error);
}

static bool run_share(struct request *request, struct csi_ctl_error *error) {
  return csi_share_command(&request->words, &request->reply, error);
}

/* target, session, initiator */
static bool run_target(struct request *request, struct csi_ctl_error *error) {
  return csi_target_command(&request->words, &request->reply, error);
}

static bool run_service(struct request *request, struct csi_ctl_error *error) {
  return csi_service_command(&request->words, &request->reply, error);
}

static bool run_network(struct request *request, struct csi_ctl_error *error) {
  bool is_reset = request->words.count == 2 && strcmp(request->words.word[1], "reset") == 0;
  if (is_reset && !csi_target_end_sessions(error)) return false;
  return csi_network_command(&request->words, &request->reply, error);
}

/* What the driver has, and what is kept beside it. */
static bool run_reset(struct request *request, struct csi_ctl_error *error) {
  const char *nothing;
  return csi_control_send(request->control, "reset", &nothing, error) && csi_network_reset(error) &&
         csi_service_reset(error);
}

static const struct {
  const char *name;
  bool (*run)(struct request *request, struct csi_ctl_error *error);
} own_commands[] = {
    {"wait-disks", run_wait_disks}, {"wait-volumes", run_wait_volumes},
    {"table", run_table},           {"signature", run_signature},
    {"format", run_format},         {"update", run_update},
    {"show-disks", run_show_disks}, {"show-volumes", run_show_volumes},
    {"share", run_share},           {"network", run_network},
    {"reset", run_reset},           {"target", run_target},
    {"session", run_target},        {"initiator", run_target},
    {"service", run_service},
};

/* Index of the command that line begins with; the number of commands when it is the driver's. */
static size_t find_own(const char *line) {
  size_t name_bytes = strcspn(line, " ");
  size_t i = 0;
  while (
      i < sizeof own_commands / sizeof own_commands[0] &&
      (strlen(own_commands[i].name) != name_bytes || memcmp(line, own_commands[i].name, name_bytes) != 0)) {
    i++;
  }
  return i;
}

bool csi_command_execute(struct csi_control_device *control, const char *line, const char **reply_out,
                         struct csi_ctl_error *error) {
  static char reply[REPLY_BYTES];
  char text[CSI_PROFILE_LINE_BYTES];
  struct request request = {.control = control};
  size_t own = find_own(line);
  if (own == sizeof own_commands / sizeof own_commands[0])
    return csi_control_send(control, line, reply_out, error);

  if ((size_t)snprintf(text, sizeof text, "%s", line) >= sizeof text ||
      !vdisk_words_split(&request.words, text)) {
    return csi_ctl_fail(error, "the command is too long");
  }
  vdisk_words_take(&request.words);
  vdisk_text_init(&request.reply, reply, sizeof reply);
  if (!own_commands[own].run(&request, error)) return false;
  const char *unused = vdisk_words_unused(&request.words);
  if (unused != NULL)
    return csi_ctl_fail(error, "the command is done, but for the word it does not know: %s", unused);
  *reply_out = reply;
  return !request.reply.is_cut || csi_ctl_fail(error, "the answer is too long");
}
