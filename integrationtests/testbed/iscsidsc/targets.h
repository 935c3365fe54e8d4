/* SPDX-License-Identifier: Apache-2.0
 *
 * iSCSI targets and the initiator that knows them, as records of the testbed's network (network/state.h):
 * what is registered and discovered, who may log in, which sessions there are. Portable; the answers of calls
 * are the numbers that Windows' initiator gives, 0 for success. Time is a clock in milliseconds that all
 * programs share.
 *
 *   target            iqn, portal, chap-user, chap-secret, mutual-secret, disk-delay, login-delay, down
 *   lun               iqn, number, words (of `disk add`), attached
 *   initiator         running, stopped-error, mutual-secret, next-session
 *   send-targets      portal, address, port: registered
 *   discovered        iqn, portal
 *   session           id, iqn, portal, auth, user, disks-at
 *   persistent-login  iqn, portal
 *
 * A portal stands in records as csi_iscsi_portal_key() writes it, a secret as its digest.
 */
#ifndef CSI_TESTBED_ISCSIDSC_TARGETS_H
#define CSI_TESTBED_ISCSIDSC_TARGETS_H

#include <stdbool.h>
#include <stdint.h>

#include "iscsi/host.h"
#include "network/secret.h"
#include "network/state.h"

/* Answers that only the testbed tells apart. */
#define TARGETS_CONNECTION_FAILED UINT32_C(0xEFFF0003)
#define TARGETS_INVALID_CHAP_SECRET UINT32_C(0xEFFF004A)
#define TARGETS_NO_PERSISTENT_LOGIN UINT32_C(0xEFFF0042)
enum { TARGETS_SERVICE_STOPPED = 1722 }; /* RPC_S_SERVER_UNAVAILABLE, unless a command sets another */

/* The instance name of the one adapter, and the name that a login without user gives. */
#define TARGETS_ADAPTER "Root\\ISCSIPRT\\0000_0"
#define TARGETS_PORTAL_NAME "the testbed's portal" /* of those that persistent logins go to */
#define TARGETS_INITIATOR_NAME "iqn.1991-05.com.microsoft:testbed"

/* What every call answers first: 0 while the service runs. */
uint32_t targets_service(const struct network_state *state);

/* ---- Portals. ---- */

/* Asks the portal for its targets; registers it when it answers. */
uint32_t targets_add_portal(struct network_state *state, const struct csi_iscsi_portal *portal);
uint32_t targets_refresh_portal(struct network_state *state, const struct csi_iscsi_portal *portal);
uint32_t targets_remove_portal(struct network_state *state, const struct csi_iscsi_portal *portal);

/* ---- Sessions. ---- */

struct targets_login {
  const char *iqn;
  const struct csi_iscsi_portal *portal; /* address "" = any that is known */
  enum csi_iscsi_authentication authentication;
  const char *user;                  /* NULL = none given */
  char secret[NETWORK_DIGEST_BYTES]; /* "" = none given */
  size_t secret_bytes;               /* length of the secret itself */
};

/* How long the target takes to answer a login. */
uint32_t targets_login_delay_ms(const struct network_state *state, const char *iqn);

/* Logs in; a target with which there is a session refuses. */
uint32_t targets_log_in(struct network_state *state, const struct targets_login *login, uint64_t now_ms,
                        uint64_t *session_id_out);

/* Makes a session, whatever the target demands, as if somebody else had logged in; disks come after the
 * target's delay. Returns its record. */
struct network_record *targets_begin_session(struct network_state *state, const struct network_record *target,
                                             enum csi_iscsi_authentication authentication, const char *user,
                                             uint64_t now_ms);

uint32_t targets_log_out(struct network_state *state, uint64_t session_id);
/* The record of a session; NULL when there is none. */
struct network_record *targets_find_session(const struct network_state *state, uint64_t session_id);
/* How many there are with a target. */
uint32_t targets_count_sessions(const struct network_state *state, const char *iqn);

/* Ends all sessions with a target; with all when iqn is NULL. */
void targets_end_sessions(struct network_state *state, const char *iqn);

/* ---- Others. ---- */

/* Forgets persistent logins; one with no address means those of all portals. */
uint32_t targets_forget_login(struct network_state *state, const char *iqn,
                              const struct csi_iscsi_portal *portal);

/* The secret by which targets prove themselves. */
uint32_t targets_set_mutual_secret(struct network_state *state, const uint8_t *secret, size_t secret_bytes);

/* The portal that a key in a record tells, ADDRESS:PORT; without an address when it is none, or NULL. */
struct csi_iscsi_portal targets_portal_of_key(const char *key);

/* True when a LUN should be a disk now: there is a session with its target that has had its delay. */
bool targets_wants_disk(const struct network_state *state, const struct network_record *lun, uint64_t now_ms);

#endif
