/* SPDX-License-Identifier: Apache-2.0 */
#include "target_words.h"

#include <string.h>

#include "base/wipe.h"
#include "iscsi/name.h"
#include "iscsi/portal.h"

enum { WORDS_BYTES = 2048 };

/* One command on its way. */
struct target_command {
  struct network_state *state;
  struct vdisk_words *words;
  uint64_t now_ms;
  struct vdisk_text *reply;
  const char *problem;
};

static bool refuse(struct target_command *command, const char *problem) {
  command->problem = problem;
  return false;
}

/* ---- Words. ---- */

/* The value of key, decoded; NULL when it is not there. */
static bool take_text(struct target_command *command, const char *key, const char **value_out) {
  char *value = vdisk_words_value(command->words, key);
  *value_out = value;
  return value == NULL || vdisk_percent_decode(value) || refuse(command, "a value has a bad %XX");
}

static bool take_number(struct target_command *command, const char *key, uint64_t otherwise,
                        uint64_t *number_out) {
  const char *value = vdisk_words_value(command->words, key);
  *number_out = otherwise;
  return value == NULL || (vdisk_number_parse(value, number_out) && *number_out <= UINT32_MAX) ||
         refuse(command, "a number is expected");
}

static bool take_iqn(struct target_command *command, const char **iqn_out) {
  if (!take_text(command, "iqn", iqn_out)) return false;
  return (*iqn_out != NULL && csi_iscsi_name_problem(*iqn_out) == NULL) || refuse(command, "iqn is missing");
}

static bool take_target(struct target_command *command, struct network_record **target_out) {
  const char *iqn;
  if (!take_iqn(command, &iqn)) return false;
  *target_out = network_find(command->state, "target", "iqn", iqn);
  return *target_out != NULL || refuse(command, "no such target");
}

/* ADDRESS:PORT */
static bool take_portal(struct target_command *command, char key_out[CSI_ISCSI_PORTAL_KEY_BYTES]) {
  char *value = vdisk_words_value(command->words, "portal");
  char *colon = value == NULL ? NULL : strrchr(value, ':');
  uint64_t port;
  struct csi_iscsi_portal portal;
  if (colon == NULL || !vdisk_number_parse(colon + 1, &port) || port == 0 || port > UINT16_MAX)
    return refuse(command, "portal is ADDRESS:PORT");
  *colon = '\0';
  const char *problem = csi_iscsi_portal_read(value, (uint32_t)port, &portal);
  if (problem != NULL) return refuse(command, problem);
  csi_iscsi_portal_key(&portal, key_out);
  return true;
}

static bool check_words(struct target_command *command) {
  return vdisk_words_unused(command->words) == NULL || refuse(command, "an unknown word");
}

/* ---- Targets. ---- */

/* Secrets that a target may be added with; their digests are kept. */
static bool take_secret(struct target_command *command, const char *key,
                        char digest_out[NETWORK_DIGEST_BYTES]) {
  char *value = vdisk_words_value(command->words, key);
  digest_out[0] = '\0';
  if (value == NULL) return true;
  if (!vdisk_percent_decode(value)) return refuse(command, "a value has a bad %XX");
  network_secret_digest(value, strlen(value), digest_out);
  csi_wipe(value, strlen(value));
  return true;
}

static bool add_target(struct target_command *command) {
  const char *iqn, *user;
  char portal[CSI_ISCSI_PORTAL_KEY_BYTES], secret[NETWORK_DIGEST_BYTES], mutual[NETWORK_DIGEST_BYTES];
  uint64_t disk_delay_ms;
  if (!take_iqn(command, &iqn) || !take_portal(command, portal) || !take_text(command, "chap-user", &user) ||
      !take_secret(command, "chap-secret", secret) || !take_secret(command, "mutual-secret", mutual) ||
      !take_number(command, "disk-delay", 0, &disk_delay_ms) || !check_words(command))
    return false;
  if (network_find(command->state, "target", "iqn", iqn) != NULL)
    return refuse(command, "there is such a target already");
  struct network_record *target = network_add(command->state, "target");
  network_set(command->state, target, "iqn", iqn);
  network_set(command->state, target, "portal", portal);
  network_set(command->state, target, "chap-user", user);
  network_set(command->state, target, "chap-secret", secret[0] == '\0' ? NULL : secret);
  network_set(command->state, target, "mutual-secret", mutual[0] == '\0' ? NULL : mutual);
  network_set_number(command->state, target, "disk-delay", disk_delay_ms);
  return true;
}

/* Puts all words but the first and `iqn` together again, as `disk add` shall have them. */
static bool join_words(struct target_command *command, struct vdisk_text *text) {
  struct vdisk_words *words = command->words;
  for (uint32_t i = words->next; i < words->count; i++) {
    words->used[i] = true;
    if (strcmp(words->word[i], "iqn") == 0) continue;
    vdisk_text_add(text, text->length_bytes == 0 ? "" : " ");
    vdisk_text_add(text, words->word[i]);
    if (words->value[i] == NULL) continue;
    vdisk_text_add(text, "=");
    vdisk_text_add(text, words->value[i]);
  }
  if (!vdisk_words_has(words, "bus")) vdisk_text_add(text, " bus=iscsi");
  return !text->is_cut || refuse(command, "the command is too long");
}

static bool add_lun(struct target_command *command) {
  struct network_record *target;
  uint64_t number;
  char joined[WORDS_BYTES];
  struct vdisk_text text;
  vdisk_text_init(&text, joined, sizeof joined);
  if (!take_target(command, &target) || !take_number(command, "number", 0, &number) ||
      !join_words(command, &text))
    return false;
  if (number == 0 || !vdisk_words_has(command->words, "size") || !vdisk_words_has(command->words, "file"))
    return refuse(command, "a LUN needs number=N size=BYTES file=PATH, as `disk add`");
  struct network_record *lun = network_add(command->state, "lun");
  network_set(command->state, lun, "iqn", network_get(target, "iqn"));
  network_set_number(command->state, lun, "number", number);
  network_set(command->state, lun, "words", joined);
  return true;
}

static bool set_target(struct target_command *command) {
  struct network_record *target;
  uint64_t login_delay_ms, down;
  if (!take_target(command, &target) ||
      !take_number(command, "login-delay", network_get_number(target, "login-delay", 0), &login_delay_ms) ||
      !take_number(command, "down", network_get_number(target, "down", 0), &down) || !check_words(command))
    return false;
  network_set_number(command->state, target, "login-delay", login_delay_ms);
  network_set_number(command->state, target, "down", down);
  return true;
}

/* Its LUNs stay until they are no disks any more. */
static bool remove_target(struct target_command *command) {
  struct network_record *target;
  if (!take_target(command, &target) || !check_words(command)) return false;
  targets_end_sessions(command->state, network_get(target, "iqn"));
  network_remove(command->state, target);
  return true;
}

static bool list_targets(struct target_command *command) {
  if (!check_words(command)) return false;
  for (const struct network_record *target = network_next(command->state, "target", NULL); target != NULL;
       target = network_next(command->state, "target", target)) {
    const char *iqn = network_get(target, "iqn");
    vdisk_text_add(command->reply, "iqn=");
    vdisk_text_add(command->reply, iqn);
    vdisk_text_add_word(command->reply, "portal", network_get(target, "portal"));
    vdisk_text_add_number_word(command->reply, "sessions", targets_count_sessions(command->state, iqn));
    vdisk_text_add(command->reply, "\n");
  }
  return true;
}

/* ---- Sessions. ---- */

static bool add_session(struct target_command *command) {
  struct network_record *target;
  if (!take_target(command, &target)) return false;
  bool is_persistent = vdisk_words_flag(command->words, "persistent");
  bool is_lost = vdisk_words_flag(command->words, "lost");
  if (!check_words(command)) return false;
  struct network_record *session =
      targets_begin_session(command->state, target, CSI_ISCSI_AUTH_NONE, NULL, command->now_ms);
  if (is_lost) network_set_number(command->state, session, "lost", 1);
  if (!is_persistent) return true;
  struct network_record *login = network_add(command->state, "persistent-login");
  network_set(command->state, login, "iqn", network_get(target, "iqn"));
  network_set(command->state, login, "portal", network_get(target, "portal"));
  return true;
}

static bool list_sessions(struct target_command *command) {
  if (!check_words(command)) return false;
  for (const struct network_record *session = network_next(command->state, "session", NULL); session != NULL;
       session = network_next(command->state, "session", session)) {
    const char *iqn = network_get(session, "iqn"), *user = network_get(session, "user");
    vdisk_text_add(command->reply, "iqn=");
    vdisk_text_add(command->reply, iqn);
    vdisk_text_add_word(command->reply, "portal", network_get(session, "portal"));
    vdisk_text_add_word(command->reply, "auth", network_get(session, "auth"));
    vdisk_text_add_word(command->reply, "user", user == NULL ? "" : user);
    vdisk_text_add_number_word(command->reply, "persistent",
                               network_find(command->state, "persistent-login", "iqn", iqn) != NULL);
    vdisk_text_add(command->reply, "\n");
  }
  return true;
}

/* ---- The initiator. ---- */

static bool set_initiator(struct target_command *command) {
  struct network_record *initiator = network_settings(command->state, "initiator");
  uint64_t running, error;
  if (!take_number(command, "running", network_get_number(initiator, "running", 1), &running) ||
      !take_number(command, "error", TARGETS_SERVICE_STOPPED, &error) || !check_words(command))
    return false;
  network_set_number(command->state, initiator, "running", running);
  network_set_number(command->state, initiator, "stopped-error", error);
  return true;
}

static bool list_initiator(struct target_command *command) {
  if (!check_words(command)) return false;
  const struct network_record *initiator = network_settings(command->state, "initiator");
  vdisk_text_add(command->reply, "running=");
  vdisk_text_add_number(command->reply, network_get_number(initiator, "running", 1));
  vdisk_text_add_number_word(command->reply, "mutual-secret",
                             network_get(initiator, "mutual-secret") != NULL);
  vdisk_text_add(command->reply, "\n");
  for (const struct network_record *portal = network_next(command->state, "send-targets", NULL);
       portal != NULL; portal = network_next(command->state, "send-targets", portal)) {
    vdisk_text_add(command->reply, "portal=");
    vdisk_text_add(command->reply, network_get(portal, "portal"));
    vdisk_text_add(command->reply, "\n");
  }
  return true;
}

/* ---- Commands. ---- */

static const struct {
  const char *noun, *verb;
  bool (*run)(struct target_command *command);
} commands[] = {
    {"target", "add", add_target},         {"target", "lun", add_lun},
    {"target", "set", set_target},         {"target", "remove", remove_target},
    {"target", "list", list_targets},      {"session", "add", add_session},
    {"session", "list", list_sessions},    {"initiator", "set", set_initiator},
    {"initiator", "list", list_initiator},
};

bool targets_command(struct network_state *state, const char *noun, struct vdisk_words *words,
                     uint64_t now_ms, struct vdisk_text *reply, const char **problem_out) {
  struct target_command command = {.state = state, .words = words, .now_ms = now_ms, .reply = reply};
  const char *verb = vdisk_words_take(words);
  for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
    if (strcmp(commands[i].noun, noun) != 0 || strcmp(commands[i].verb, verb) != 0) continue;
    bool done = commands[i].run(&command);
    *problem_out = command.problem;
    return done;
  }
  *problem_out = "no such command";
  return false;
}
