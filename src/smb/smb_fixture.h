/* SPDX-License-Identifier: Apache-2.0
 *
 * For tests: a fake node with the SMB group on it, and its RPCs as plain calls. Every call checks that
 * nothing stays open or locked, that a status is set exactly when the call fails, and that no password (all
 * of them begin with "pw-") is in its text or in the log.
 */
#ifndef CSI_SMB_SMB_FIXTURE_H
#define CSI_SMB_SMB_FIXTURE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/ctx.h"
#include "filesystem_fake.h"
#include "network_faults.h"
#include "smb/group.h"
#include "smb_fake.h"

/* The working directory of all tests; it is there. */
#define K "C:\\var\\lib\\kubelet"
#define LINK K "\\mount"

/* The share of all tests, which takes USER and PASSWORD. */
#define REMOTE "\\\\Server\\Share"
#define ROOT "\\\\server\\share"
#define USER "AZURE\\user"
#define PASSWORD "pw-1"
#define NEW_PASSWORD "pw-2"

struct smb_fixture {
  struct csi_fake_filesystem *files;
  struct csi_fake_network *network;
  struct csi_fake_shares *shares;
  struct csi_keyed_locks *locks;
  struct csi_smb *group;
  struct csi_status status;        /* of the last call */
  int64_t deadline_ns;             /* for the next calls */
  uint32_t patience_ms;            /* of the group that restart_service() makes */
  unsigned fail_allocation;        /* the nth allocation of the next call fails; 0 = none */
  bool allocation_failed;          /* whether it did */
  atomic_bool cancelled, stopping; /* the calls see both */
  atomic_bool password_was_logged;
};

/* cmocka set-up and tear-down: *state is the fixture. */
int smb_fixture_set_up(void **state);
int smb_fixture_tear_down(void **state);
/* The same group anew, as after a restart of the service. */
void restart_service(struct smb_fixture *fixture);

bool call_new(struct smb_fixture *fixture, const char *remote_path, const char *local_path,
              const char *username, const char *password);
bool call_remove(struct smb_fixture *fixture, const char *remote_path);

/* The server knows another password from now on. */
void rotate_password(struct smb_fixture *fixture, const char *password);
/* Every following step of that call fails, until csi_fake_network_clear_faults(). */
void fail_call(struct smb_fixture *fixture, const char *call, uint32_t error);

/* For results that are certain. */
void assert_ok(struct smb_fixture *fixture, bool result);
/* The last call failed with this code and with a text that begins so. */
void assert_failed(struct smb_fixture *fixture, bool result, enum csi_code code, const char *text);
/* The text of the last failure has this in it. */
void assert_says(struct smb_fixture *fixture, const char *text);
/* ROOT is mapped with these credentials. */
void assert_mapped(struct smb_fixture *fixture, const char *user, const char *password);
/* How many mappings have been made and ended since the counts were reset, by whatever call. */
void assert_steps(struct smb_fixture *fixture, size_t adds, size_t removes);
/* The link leads there, as Go's os.Readlink prints it; NULL = there is nothing. */
void assert_link(struct smb_fixture *fixture, const char *path, const char *target);

#endif
