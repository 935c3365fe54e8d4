/* SPDX-License-Identifier: Apache-2.0 */
#include "lock.h"

#include "nt.h"
#include "park.h"

static FAST_MUTEX mutex;

void vdisk_lock_init(void) {
  ExInitializeFastMutex(&mutex);
}

void vdisk_lock(void) {
  ExAcquireFastMutex(&mutex);
}

void vdisk_unlock(void) {
  LIST_ENTRY ended;
  vdisk_park_take_ended(&ended);
  ExReleaseFastMutex(&mutex);
  vdisk_park_deliver(&ended);
}
