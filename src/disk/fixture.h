/* SPDX-License-Identifier: Apache-2.0
 *
 * For tests: disks in memory with the disk group on them, and its RPCs as plain calls. Every call checks
 * that no disk stays open and that a status is set exactly when the call fails.
 */
#ifndef CSI_DISK_FIXTURE_H
#define CSI_DISK_FIXTURE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "disk/group.h"
#include "disk/handlers.h"
#include "storage_fake.h"

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

struct fixture {
  struct csi_fake_filesystem *files;
  struct csi_fake_storage *storage;
  struct csi_keyed_locks *locks;
  struct csi_disk *group;
  struct csi_status status; /* of the last call */
  struct csi_arena *arena;  /* of the last call, with its response */
  uint32_t limit_ms;        /* deadline of the next calls; 0 = none */
  unsigned fail_allocation; /* the nth allocation of the next call fails; 0 = none */
  bool allocation_failed;   /* whether it did */
  atomic_bool cancelled;
};

/* cmocka set-up and tear-down: *state is the fixture; its node has no disks. */
int fixture_set_up(void **state);
int fixture_tear_down(void **state);

/* Makes the group anew, with the guard or without. */
void use_guard(struct fixture *fixture, bool guarded);

bool call_list_locations(struct fixture *fixture, struct csi_disk_list_disk_locations_response *response_out);
bool call_list_ids(struct fixture *fixture, struct csi_disk_list_disk_ids_response *response_out);
bool call_find(struct fixture *fixture, const char *name, uint32_t *number_out);
bool call_partition(struct fixture *fixture, uint32_t number);
bool call_rescan(struct fixture *fixture);
bool call_get_size(struct fixture *fixture, uint32_t number, int64_t *size_out);
bool call_set_online(struct fixture *fixture, uint32_t number, bool online);
bool call_is_online(struct fixture *fixture, uint32_t number, bool *online_out);

void assert_ok(struct fixture *fixture, bool result);
/* The last call failed with this code and with a text that begins so. */
void assert_failed(struct fixture *fixture, bool result, enum csi_code code, const char *text);

/* An empty disk of 1 GiB. */
void add_raw_disk(struct fixture *fixture, uint32_t number);

/* What the table says; valid until the next call. */
struct csi_layout layout_of(struct fixture *fixture, uint32_t number);

#endif
