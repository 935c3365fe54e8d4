/* SPDX-License-Identifier: Apache-2.0
 *
 * For tests: a fake node with the volume group on it, and its RPCs as plain calls. Every call checks that
 * nothing stays open or locked and that a status is set exactly when the call fails.
 */
#ifndef CSI_VOLUME_VOLUME_FIXTURE_H
#define CSI_VOLUME_VOLUME_FIXTURE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/ctx.h"
#include "storage_fake.h"
#include "volume/group.h"

/* The working directory of all tests. */
#define K "C:\\var\\lib\\kubelet"
#define MIB UINT64_C(1048576)
#define GIB (1024 * MIB)
#define NO_VOLUME "\\\\?\\Volume{00000000-1111-2222-3333-444444444444}\\"

enum {
  DATA_DISK = 3,   /* GPT: a reserved partition, and partition DATA with an empty volume; 2 GiB */
  DATA = 2,        /* number of the partition: the second half of the first GiB */
  SYSTEM_DISK = 0, /* what Windows runs from, with one partition and NTFS */
  FIXTURE_IDS_MAX = 8,
};

struct volume_fixture {
  struct csi_fake_filesystem *files;
  struct csi_fake_storage *storage;
  struct csi_keyed_locks *locks;
  struct csi_volume *group;
  struct csi_guid data;                           /* the volume of partition DATA */
  char id[CSI_VOLUME_ID_BYTES];                   /* the same, in text */
  struct csi_status status;                       /* of the last call */
  int64_t deadline_ns;                            /* for the next calls */
  unsigned fail_allocation;                       /* the nth allocation of the next call fails; 0 = none */
  bool allocation_failed;                         /* whether it did */
  atomic_bool cancelled, stopping;                /* the calls see both */
  char ids[FIXTURE_IDS_MAX][CSI_VOLUME_ID_BYTES]; /* what the last call gave */
  size_t id_count;
};

/* cmocka set-up and tear-down: *state is the fixture. */
int volume_fixture_set_up(void **state);
int volume_fixture_tear_down(void **state);

/* The id of the volume of another partition. */
void volume_id_of(struct volume_fixture *fixture, uint32_t disk, uint32_t partition,
                  char id_out[CSI_VOLUME_ID_BYTES]);

bool call_list(struct volume_fixture *fixture, uint32_t disk, uint32_t partition);
bool call_mount(struct volume_fixture *fixture, const char *id, const char *path);
bool call_unmount(struct volume_fixture *fixture, const char *id, const char *path);
bool call_is_formatted(struct volume_fixture *fixture, const char *id, bool *formatted_out);
bool call_format(struct volume_fixture *fixture, const char *id);
bool call_resize(struct volume_fixture *fixture, const char *id, int64_t size_bytes);
bool call_stats(struct volume_fixture *fixture, const char *id, int64_t *total_out, int64_t *used_out);
bool call_disk_number(struct volume_fixture *fixture, const char *id, uint32_t *number_out);
/* Their result is ids[0]. */
bool call_lookup(struct volume_fixture *fixture, const char *path);
bool call_closest(struct volume_fixture *fixture, const char *path);
bool call_write_cache(struct volume_fixture *fixture, const char *id);

/* For results that are certain. */
void assert_ok(struct volume_fixture *fixture, bool result);
/* The last call failed with this code and with a text that begins so. */
void assert_failed(struct volume_fixture *fixture, bool result, enum csi_code code, const char *text);
/* The text of the last failure has this in it. */
void assert_says(struct volume_fixture *fixture, const char *text);
void assert_mounted(struct volume_fixture *fixture, const char *path, bool mounted);
void assert_formatted(struct volume_fixture *fixture, const char *id, bool formatted);

#endif
