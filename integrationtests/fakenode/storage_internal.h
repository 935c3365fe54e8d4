/* SPDX-License-Identifier: Apache-2.0
 *
 * What the parts of storage_fake.h share: the lock, faults and counts around the model. Private to the fake.
 */
#ifndef CSI_FAKENODE_STORAGE_INTERNAL_H
#define CSI_FAKENODE_STORAGE_INTERNAL_H

#include <pthread.h>

#include "storage_model.h"

enum {
  STORAGE_ANNOUNCED_BYTES = 1024,
};

struct storage_fault {
  struct storage_fault *next;
  struct csi_fake_fault is; /* nth and count: what is left */
};

struct storage_announced {
  struct storage_announced *next;
  char path[STORAGE_ANNOUNCED_BYTES];
  struct csi_guid guid;
};

struct csi_fake_storage {
  struct csi_disk_host disk_host;
  struct csi_volume_host volume_host;
  pthread_mutex_t lock; /* guards what follows */
  struct storage_model model;
  struct storage_fault *faults; /* in the order they were added */
  unsigned clearings;           /* of the faults */
  size_t struck;
  struct storage_announced *announced;
  size_t steps[CSI_FAKE_STEPS];
  size_t open_handles;
  uint32_t step_limit_ms;
  csi_fake_storage_hook *hook;
  void *hook_data;
};

/* Takes the lock and brings the volumes up to date; gives it back, up to date again, at the end of the
 * scope. */
struct csi_fake_storage *storage_enter(struct csi_fake_storage *storage);
void storage_leave(struct csi_fake_storage **storage);
#define STORAGE_VISIT(storage)                                                                               \
  __attribute__((cleanup(storage_leave), unused)) struct csi_fake_storage *storage_visited =                 \
      storage_enter(storage)

/* What comes before every step: the hook, the count, the faults. False = the step has failed. The lock must
 * not be held. disk: the disk's number, or CSI_FAKE_ANY_DISK. */
bool storage_begin(struct csi_fake_storage *storage, struct csi_ctx *ctx, enum csi_fake_step step,
                   int64_t disk);

/* The volume that was last announced for the folder. The lock is held. */
bool storage_latest_mount(struct csi_fake_storage *storage, const char *path, struct csi_guid *guid_out);

/* Fills disk_host (disk_fake.c), volume_host (volume_fake.c). */
void storage_set_up_disk_host(struct csi_fake_storage *storage);
void storage_set_up_volume_host(struct csi_fake_storage *storage);

#endif
