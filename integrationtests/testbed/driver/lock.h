/* SPDX-License-Identifier: Apache-2.0
 *
 * One lock for everything the driver keeps. Calls come on Wine's dispatch thread, plug and play on another,
 * delayed work on a third. Nobody waits for another thread while holding it.
 */
#ifndef VDISK_LOCK_H
#define VDISK_LOCK_H

void vdisk_lock_init(void);
void vdisk_lock(void);

/* Also tells Wine the results of parked calls that have ended meanwhile: that must not be done with the lock
 * held, because Wine cancels a call under the lock that it takes to complete one. */
void vdisk_unlock(void);

#endif
