/* SPDX-License-Identifier: Apache-2.0 */
#include "targets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "iscsi/portal.h"

uint32_t targets_service(const struct network_state *state) {
  const struct network_record *initiator = network_next(state, "initiator", NULL);
  if (initiator == NULL || network_get_number(initiator, "running", 1) != 0) return 0;
  return (uint32_t)network_get_number(initiator, "stopped-error", TARGETS_SERVICE_STOPPED);
}

/* ---- Records. ---- */

/* The first record of the kind behind `after` that is of the target and, unless portal is NULL, the portal.
 */
static struct network_record *next_of(const struct network_state *state, const char *kind,
                                      const struct network_record *after, const char *iqn,
                                      const char *portal) {
  struct network_record *record = network_next(state, kind, after);
  while (record != NULL && !((iqn == NULL || network_has(record, "iqn", iqn)) &&
                             (portal == NULL || network_has(record, "portal", portal))))
    record = network_next(state, kind, record);
  return record;
}

/* Removes all of them. */
static void remove_of(struct network_state *state, const char *kind, const char *iqn, const char *portal) {
  struct network_record *record;
  while ((record = next_of(state, kind, NULL, iqn, portal)) != NULL)
    network_remove(state, record);
}

static bool is_up(const struct network_record *target) {
  return network_get_number(target, "down", 0) == 0;
}

static void set_copy(struct network_state *state, struct network_record *record, const char *key,
                     const struct network_record *from) {
  network_set(state, record, key, network_get(from, key));
}

/* ---- Portals. ---- */

struct csi_iscsi_portal targets_portal_of_key(const char *key) {
  struct csi_iscsi_portal portal = {.port = 0};
  const char *colon = key == NULL ? NULL : strrchr(key, ':');
  if (colon == NULL || (size_t)(colon - key) >= sizeof portal.address) return portal;
  memcpy(portal.address, key, (size_t)(colon - key));
  portal.port = (uint16_t)strtoul(colon + 1, NULL, 10);
  return portal;
}

/* The initiator knows of the portal what it answers now. */
static uint32_t discover(struct network_state *state, const char *portal) {
  bool answers = false;
  for (struct network_record *target = next_of(state, "target", NULL, NULL, portal);
       target != NULL && !answers; target = next_of(state, "target", target, NULL, portal))
    answers = is_up(target);
  if (!answers) return TARGETS_CONNECTION_FAILED;
  remove_of(state, "discovered", NULL, portal);
  for (struct network_record *target = next_of(state, "target", NULL, NULL, portal); target != NULL;
       target = next_of(state, "target", target, NULL, portal)) {
    struct network_record *discovered = network_add(state, "discovered");
    set_copy(state, discovered, "iqn", target);
    set_copy(state, discovered, "portal", target);
  }
  return 0;
}

uint32_t targets_add_portal(struct network_state *state, const struct csi_iscsi_portal *portal) {
  char key[CSI_ISCSI_PORTAL_KEY_BYTES];
  csi_iscsi_portal_key(portal, key);
  uint32_t error = discover(state, key);
  if (error != 0 || network_find(state, "send-targets", "portal", key) != NULL) return error;
  struct network_record *registered = network_add(state, "send-targets");
  network_set(state, registered, "portal", key);
  network_set(state, registered, "address", portal->address);
  network_set_number(state, registered, "port", portal->port);
  return 0;
}

uint32_t targets_refresh_portal(struct network_state *state, const struct csi_iscsi_portal *portal) {
  char key[CSI_ISCSI_PORTAL_KEY_BYTES];
  csi_iscsi_portal_key(portal, key);
  if (network_find(state, "send-targets", "portal", key) == NULL) return CSI_ISDSC_PORTAL_NOT_FOUND;
  return discover(state, key);
}

uint32_t targets_remove_portal(struct network_state *state, const struct csi_iscsi_portal *portal) {
  char key[CSI_ISCSI_PORTAL_KEY_BYTES];
  csi_iscsi_portal_key(portal, key);
  struct network_record *registered = network_find(state, "send-targets", "portal", key);
  if (registered == NULL) return CSI_ISDSC_PORTAL_NOT_FOUND;
  network_remove(state, registered);
  remove_of(state, "discovered", NULL, key);
  return 0;
}

/* ---- Logging in. ---- */

uint32_t targets_login_delay_ms(const struct network_state *state, const char *iqn) {
  const struct network_record *target = network_find(state, "target", "iqn", iqn);
  return target == NULL ? 0 : (uint32_t)network_get_number(target, "login-delay", 0);
}

/* Node and target prove who they are. */
static bool is_authentic(const struct network_state *state, const struct network_record *target,
                         const struct targets_login *login) {
  const char *user = network_get(target, "chap-user"), *secret = network_get(target, "chap-secret");
  bool wants_chap = secret != NULL;
  if (wants_chap != (login->authentication != CSI_ISCSI_AUTH_NONE)) return false;
  if (!wants_chap) return true;
  const char *given = login->user == NULL ? TARGETS_INITIATOR_NAME : login->user;
  if ((user != NULL && strcmp(user, given) != 0) || strcmp(secret, login->secret) != 0) return false;
  if (login->authentication != CSI_ISCSI_AUTH_MUTUAL_CHAP) return true;
  const struct network_record *initiator = network_next(state, "initiator", NULL);
  const char *own = initiator == NULL ? NULL : network_get(initiator, "mutual-secret");
  const char *proof = network_get(target, "mutual-secret");
  return own != NULL && proof != NULL && strcmp(own, proof) == 0;
}

static bool is_secret_length(size_t bytes) {
  return bytes >= CSI_ISCSI_SECRET_BYTES_MIN && bytes <= CSI_ISCSI_SECRET_BYTES_MAX;
}

/* The target that is logged in to; NULL with the answer when that does not work. */
static const struct network_record *find_target(const struct network_state *state,
                                                const struct targets_login *login, uint32_t *error_out) {
  *error_out = CSI_ISDSC_TARGET_NOT_FOUND;
  if (next_of(state, "discovered", NULL, login->iqn, NULL) == NULL) return NULL;
  char key[CSI_ISCSI_PORTAL_KEY_BYTES];
  csi_iscsi_portal_key(login->portal, key);
  const char *portal = login->portal->address[0] == '\0' ? NULL : key;
  const struct network_record *target = next_of(state, "target", NULL, login->iqn, portal);
  *error_out = TARGETS_CONNECTION_FAILED;
  return target != NULL && is_up(target) ? target : NULL;
}

static const char *authentication_name(enum csi_iscsi_authentication authentication) {
  switch (authentication) {
  case CSI_ISCSI_AUTH_ONE_WAY_CHAP:
    return "chap";
  case CSI_ISCSI_AUTH_MUTUAL_CHAP:
    return "mutual";
  default:
    return "none";
  }
}

static struct network_record *add_session(struct network_state *state, const struct network_record *target,
                                          enum csi_iscsi_authentication authentication, const char *user,
                                          uint64_t now_ms) {
  struct network_record *initiator = network_settings(state, "initiator");
  uint64_t id = network_get_number(initiator, "next-session", 1);
  network_set_number(state, initiator, "next-session", id + 1);
  struct network_record *session = network_add(state, "session");
  network_set_number(state, session, "id", id);
  set_copy(state, session, "iqn", target);
  set_copy(state, session, "portal", target);
  network_set(state, session, "auth", authentication_name(authentication));
  network_set(state, session, "user", user);
  network_set_number(state, session, "disks-at", now_ms + network_get_number(target, "disk-delay", 0));
  return session;
}

uint32_t targets_log_in(struct network_state *state, const struct targets_login *login, uint64_t now_ms,
                        uint64_t *session_id_out) {
  uint32_t error;
  const struct network_record *target = find_target(state, login, &error);
  if (target == NULL) return error;
  if (targets_count_sessions(state, login->iqn) > 0) return CSI_ISDSC_TARGET_ALREADY_LOGGED_IN;
  if (login->secret[0] != '\0' && !is_secret_length(login->secret_bytes)) return TARGETS_INVALID_CHAP_SECRET;
  if (!is_authentic(state, target, login)) return CSI_ISDSC_AUTHENTICATION_FAILURE;
  const struct network_record *session =
      add_session(state, target, login->authentication, login->user, now_ms);
  *session_id_out = network_get_number(session, "id", 0);
  return 0;
}

struct network_record *targets_begin_session(struct network_state *state, const struct network_record *target,
                                             enum csi_iscsi_authentication authentication, const char *user,
                                             uint64_t now_ms) {
  return add_session(state, target, authentication, user, now_ms);
}

/* ---- Sessions. ---- */

struct network_record *targets_find_session(const struct network_state *state, uint64_t session_id) {
  struct network_record *session = network_next(state, "session", NULL);
  while (session != NULL && network_get_number(session, "id", 0) != session_id)
    session = network_next(state, "session", session);
  return session;
}

uint32_t targets_log_out(struct network_state *state, uint64_t session_id) {
  struct network_record *session = targets_find_session(state, session_id);
  if (session == NULL) return CSI_ISDSC_INVALID_SESSION_ID;
  network_remove(state, session);
  return 0;
}

uint32_t targets_count_sessions(const struct network_state *state, const char *iqn) {
  uint32_t count = 0;
  for (const struct network_record *session = next_of(state, "session", NULL, iqn, NULL); session != NULL;
       session = next_of(state, "session", session, iqn, NULL))
    count++;
  return count;
}

void targets_end_sessions(struct network_state *state, const char *iqn) {
  remove_of(state, "session", iqn, NULL);
}

bool targets_wants_disk(const struct network_state *state, const struct network_record *lun,
                        uint64_t now_ms) {
  const char *iqn = network_get(lun, "iqn");
  if (network_find(state, "target", "iqn", iqn) == NULL) return false;
  for (const struct network_record *session = next_of(state, "session", NULL, iqn, NULL); session != NULL;
       session = next_of(state, "session", session, iqn, NULL))
    if (network_get_number(session, "disks-at", 0) <= now_ms) return true;
  return false;
}

/* ---- Others. ---- */

uint32_t targets_forget_login(struct network_state *state, const char *iqn,
                              const struct csi_iscsi_portal *portal) {
  char key[CSI_ISCSI_PORTAL_KEY_BYTES];
  csi_iscsi_portal_key(portal, key);
  const char *of_portal = portal->address[0] == '\0' ? NULL : key;
  if (next_of(state, "persistent-login", NULL, iqn, of_portal) == NULL) return TARGETS_NO_PERSISTENT_LOGIN;
  remove_of(state, "persistent-login", iqn, of_portal);
  return 0;
}

uint32_t targets_set_mutual_secret(struct network_state *state, const uint8_t *secret, size_t secret_bytes) {
  if (!is_secret_length(secret_bytes)) return TARGETS_INVALID_CHAP_SECRET;
  char digest[NETWORK_DIGEST_BYTES];
  network_secret_digest(secret, secret_bytes, digest);
  network_set(state, network_settings(state, "initiator"), "mutual-secret", digest);
  return 0;
}
