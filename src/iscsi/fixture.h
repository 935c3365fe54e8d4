/* SPDX-License-Identifier: Apache-2.0
 *
 * For tests: a node in memory with the iSCSI group on it, and its RPCs as plain calls. Every call checks that
 * no lock stays taken, that a status is set exactly when the call fails, and that no secret is in its text.
 */
#ifndef CSI_ISCSI_FIXTURE_H
#define CSI_ISCSI_FIXTURE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/ctx.h"
#include "csi-proxy/iscsi.h"
#include "iscsi/group.h"
#include "iscsi_command.h"
#include "network_faults.h"
#include "storage_fake.h"

#define ADDRESS "192.0.2.1"
#define PLACE "(192.0.2.1:3260)" /* as error texts have it */
#define IQN "iqn.2004-10.com.example:disk1"
#define OTHER_IQN "iqn.2004-10.com.example:disk2" /* at the same portal, without disks */
#define CHAP_IQN "iqn.2004-10.com.example:chap"   /* at the same portal */
#define CHAP_USER "node-1"
#define CHAP_SECRET "chap-secret-12"
#define MUTUAL_SECRET "mutual-secret12"
#define DEAD_ADDRESS "192.0.2.99" /* nobody answers there */

enum {
  PORT = 3260,
  DISK = 5, /* number of the disk of IQN */
  FIXTURE_ITEMS_MAX = 8,
  FIXTURE_ITEM_BYTES = 256,
};

struct iscsi_fixture {
  struct csi_fake_filesystem *files;
  struct csi_fake_storage *storage;
  struct csi_fake_network *network;
  struct csi_fake_iscsi *iscsi;
  struct csi_keyed_locks *locks;
  struct csi_iscsi *group;
  struct csi_status status;                          /* of the last call */
  int64_t deadline_ns;                               /* for the next calls */
  unsigned fail_allocation;                          /* the nth allocation of the next call fails; 0 = none */
  bool allocation_failed;                            /* whether it did */
  atomic_bool cancelled, stopping;                   /* the calls see both */
  char items[FIXTURE_ITEMS_MAX][FIXTURE_ITEM_BYTES]; /* what the last call gave */
  size_t item_count;
};

/* cmocka set-up and tear-down: *state is the fixture. */
int iscsi_fixture_set_up(void **state);
int iscsi_fixture_tear_down(void **state);

/* address NULL: the request has no portal. */
bool call_add(struct iscsi_fixture *fixture, const char *address, uint32_t port);
bool call_discover(struct iscsi_fixture *fixture, const char *address, uint32_t port);
bool call_remove(struct iscsi_fixture *fixture, const char *address, uint32_t port);
bool call_list(struct iscsi_fixture *fixture);                     /* items: `address port` */
bool call_connect(struct iscsi_fixture *fixture, const char *iqn); /* at ADDRESS, no authentication */
bool call_connect_with(struct iscsi_fixture *fixture, const struct csi_iscsi_connect_target_request *request);
bool call_disconnect(struct iscsi_fixture *fixture, const char *address, const char *iqn);
bool call_disks(struct iscsi_fixture *fixture, const char *address, const char *iqn);
bool call_set_secret(struct iscsi_fixture *fixture, const char *secret);

/* Faults of the next call of that name, and how often it was made. */
void fail_call(struct iscsi_fixture *fixture, const char *call, unsigned nth, unsigned count, uint32_t error);
size_t count_calls(struct iscsi_fixture *fixture, const char *call);

/* For results that are certain. */
void assert_ok(struct iscsi_fixture *fixture, bool result);
/* The last call failed with this code and with a text that begins so. */
void assert_failed(struct iscsi_fixture *fixture, bool result, enum csi_code code, const char *text);
/* The text of the last failure has this in it. */
void assert_says(struct iscsi_fixture *fixture, const char *text);
/* What the last call gave; NULL ends the list. */
void assert_items(struct iscsi_fixture *fixture, ...) __attribute__((sentinel));
void assert_sessions(struct iscsi_fixture *fixture, const char *iqn, size_t count);
/* The disk of IQN is one of the node's. */
void assert_disk_present(struct iscsi_fixture *fixture, bool present);

#endif
