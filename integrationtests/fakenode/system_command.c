/* SPDX-License-Identifier: Apache-2.0 */
#include "system_command.h"

#include <string.h>

#include "command_line.h"

enum {
  MAX_DELAY_MS = 3600000,
  SMBIOS_BYTES = CSI_FAKE_COMMAND_BYTES / 2,
  NAME_BYTES = 1024,
};

/* One of several words, or what is there already. */
struct choice {
  const char *word;
  uint32_t value;
};

static bool read_choice(struct csi_fake_command *command, const char *key, const struct choice *choices,
                        uint32_t *value_out) {
  const char *text = NULL;
  if (!csi_fake_command_text(command, key, &text)) return false;
  if (text == NULL) return true;
  for (; choices->word != NULL; choices++) {
    if (strcmp(choices->word, text) != 0) continue;
    *value_out = choices->value;
    return true;
  }
  return csi_fake_command_fail(command, "not understood: %s=%s", key, text);
}

static bool read_milliseconds(struct csi_fake_command *command, const char *key, uint32_t *value_out) {
  uint64_t value = 0;
  if (!csi_fake_command_number(command, key, MAX_DELAY_MS, &value)) return false;
  *value_out = (uint32_t)value;
  return true;
}

static bool read_service(struct csi_fake_command *command, struct csi_fake_service *service) {
  static const struct choice start_types[] = {{"auto", CSI_FAKE_SERVICE_AUTO},
                                              {"manual", CSI_FAKE_SERVICE_MANUAL},
                                              {"disabled", CSI_FAKE_SERVICE_DISABLED},
                                              {NULL, 0}};
  static const struct choice states[] = {{"stopped", CSI_SERVICE_STOPPED},
                                         {"running", CSI_SERVICE_RUNNING},
                                         {"paused", CSI_SERVICE_PAUSED},
                                         {NULL, 0}};
  uint64_t fail_start = 0;
  if (!csi_fake_command_text(command, "name", &service->name) ||
      !csi_fake_command_text(command, "display", &service->display_name) ||
      !csi_fake_command_text(command, "depends", &service->depends) ||
      !read_choice(command, "start", start_types, &service->start_type) ||
      !read_choice(command, "state", states, &service->state) ||
      !read_milliseconds(command, "start-delay", &service->start_delay_ms) ||
      !read_milliseconds(command, "stop-delay", &service->stop_delay_ms) ||
      !csi_fake_command_number(command, "fail-start", UINT32_MAX, &fail_start) ||
      !csi_fake_command_flag(command, "refuse-stop", &service->refuse_stop) ||
      !csi_fake_command_flag(command, "silent", &service->silent))
    return false;
  service->fail_start = (uint32_t)fail_start;
  return true;
}

static bool service_add(struct csi_fake_command *command) {
  struct csi_fake_service service = {.start_type = CSI_FAKE_SERVICE_MANUAL, .state = CSI_SERVICE_STOPPED};
  uint32_t state;
  if (!read_service(command, &service) || !csi_fake_command_complete(command)) return false;
  if (service.name == NULL || service.name[0] == '\0')
    return csi_fake_command_fail(command, "name is missing");
  if (csi_fake_system_has(command->fake, service.name))
    return csi_fake_command_fail(command, "name is taken");
  char name[NAME_BYTES];
  if (csi_fake_system_nth(command->fake, CSI_FAKE_SERVICES - 1, name, sizeof name, &state))
    return csi_fake_command_fail(command, "no room for more services");
  csi_fake_system_add(command->fake, &service);
  return true;
}

static bool service_remove(struct csi_fake_command *command) {
  const char *name = NULL;
  bool all = false;
  if (!csi_fake_command_text(command, "name", &name) || !csi_fake_command_flag(command, "all", &all) ||
      !csi_fake_command_complete(command))
    return false;
  if (all || (name != NULL && strcmp(name, "all") == 0)) {
    csi_fake_system_remove_all(command->fake);
    return true;
  }
  return (name != NULL && csi_fake_system_remove(command->fake, name)) ||
         csi_fake_command_fail(command, "no such service");
}

static bool service_finish(struct csi_fake_command *command) {
  const char *name = NULL;
  if (!csi_fake_command_text(command, "name", &name) || !csi_fake_command_complete(command)) return false;
  return (name != NULL && csi_fake_system_finish(command->fake, name)) ||
         csi_fake_command_fail(command, "no such service, or nothing is pending");
}

static bool service_list(struct csi_fake_command *command) {
  if (!csi_fake_command_complete(command)) return false;
  char name[NAME_BYTES];
  uint32_t state;
  for (size_t i = 0; csi_fake_system_nth(command->fake, i, name, sizeof name, &state); i++) {
    vdisk_text_add(&command->reply, "name=");
    vdisk_text_add(&command->reply, name);
    vdisk_text_add_number_word(&command->reply, "state", state);
    vdisk_text_add(&command->reply, "\n");
  }
  return true;
}

static bool smbios_set(struct csi_fake_command *command) {
  const char *hex = NULL;
  uint8_t bytes[SMBIOS_BYTES];
  if (!csi_fake_command_text(command, "hex", &hex) || !csi_fake_command_complete(command)) return false;
  if (hex == NULL) return csi_fake_command_fail(command, "hex is missing");
  size_t digits = strlen(hex);
  for (size_t i = 0; i < digits; i += 2) {
    int high = vdisk_hex_digit(hex[i]), low = vdisk_hex_digit(hex[i + 1]);
    if (high < 0 || low < 0) return csi_fake_command_fail(command, "bad hex");
    bytes[i / 2] = (uint8_t)(high << 4 | low);
  }
  csi_fake_system_set_smbios(command->fake, bytes, digits / 2);
  return true;
}

bool csi_fake_system_command(struct csi_fake_system *system, const char *line, char *reply,
                             size_t reply_bytes, bool *done_out) {
  static const struct csi_fake_verb verbs[] = {
      {"service", "add", service_add},       {"service", "remove", service_remove},
      {"service", "finish", service_finish}, {"service", "list", service_list},
      {"smbios", "set", smbios_set},         {NULL, NULL, NULL},
  };
  return csi_fake_command_run(verbs, system, line, reply, reply_bytes, done_out);
}
