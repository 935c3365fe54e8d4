/* SPDX-License-Identifier: Apache-2.0
 *
 * For tests: a fake node with the admin group on it, and its RPCs as plain calls. Every call checks that no
 * disk or volume stays open, and that a status is set exactly when the call fails.
 */
#ifndef CSI_ADMIN_FIXTURE_H
#define CSI_ADMIN_FIXTURE_H

#include "admin/group.h"
#include "admin/handlers.h"
#include "iscsi_fake.h"
#include "network_faults.h"
#include "parts_fake.h"
#include "smb_fake.h"
#include "storage_fake.h"
#include "system_fake.h"

#define GIB (UINT64_C(1) << 30)
#define MIB (UINT64_C(1) << 20)
/* The working directory of all tests; it is there. */
#define K "C:\\var\\lib\\kubelet"

struct fixture {
  struct csi_fake_filesystem *files;
  struct csi_fake_storage *storage;
  struct csi_fake_network *network;
  struct csi_fake_shares *shares;
  struct csi_fake_iscsi *targets;
  struct csi_fake_system *system;
  struct csi_fake_parts *parts;
  struct csi_keyed_locks *locks;
  struct csi_smb *smb;
  struct csi_admin *group;
  struct csi_status status; /* of the last call */
  struct csi_arena *arena;  /* of the last call, with its response */
  uint32_t limit_ms;        /* deadline of the next calls; 0 = none */
  unsigned fail_allocation; /* the nth allocation of the next call fails; 0 = none */
  bool allocation_failed;   /* whether it did */
};

/* cmocka set-up and tear-down: *state is the fixture; its node has no disks. */
int fixture_set_up(void **state);
int fixture_tear_down(void **state);

/* Makes the admin group anew, with the guard of system disks or without. */
void use_guard(struct fixture *fixture, bool guarded);

bool call_get_version(struct fixture *fixture, struct csi_admin_get_version_response *response_out);
bool call_get_status(struct fixture *fixture, struct csi_admin_get_status_response *response_out);
bool call_list_calls(struct fixture *fixture, struct csi_admin_list_calls_response *response_out);
bool call_list_disks(struct fixture *fixture, struct csi_admin_list_disks_response *response_out);
bool call_explain_disk(struct fixture *fixture, uint32_t number,
                       struct csi_admin_explain_disk_response *response_out);
bool call_list_volumes(struct fixture *fixture, struct csi_admin_list_volumes_response *response_out);
bool call_list_smb(struct fixture *fixture, struct csi_admin_list_smb_mappings_response *response_out);
bool call_list_iscsi(struct fixture *fixture, struct csi_admin_list_iscsi_sessions_response *response_out);

/* For results that are certain. */
void assert_ok(struct fixture *fixture, bool result);
/* The text has the part in it. */
void assert_has(const char *text, const char *part);
/* One of the texts has the part in it. */
void assert_some_has(const char *const *texts, size_t count, const char *part);

/* An empty disk of 1 GiB on a SAS bus. */
void add_disk(struct fixture *fixture, uint32_t number);
/* The same, calling itself so: see csi_fake_storage_set_identity() and csi_fake_storage_set_descriptor(). */
void add_named_disk(struct fixture *fixture, uint32_t number, const char *bus, const char *vendor,
                    const char *page83, const char *serial);

/* Mounts a volume on a folder, which is made. */
void mount_volume(struct fixture *fixture, const char *path, const struct csi_guid *guid);

#endif
