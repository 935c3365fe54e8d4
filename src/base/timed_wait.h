/* SPDX-License-Identifier: Apache-2.0
 *
 * Waiting for a condition until a time of csi_now_ns(): a clock that is set does not make it longer or
 * shorter.
 */
#ifndef CSI_BASE_TIMED_WAIT_H
#define CSI_BASE_TIMED_WAIT_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Every condition that csi_timed_wait() is used on is made by this. Cannot fail. */
void csi_timed_wait_init(pthread_cond_t *condition);

/* With the lock held, as pthread_cond_timedwait(); may return early. False once the time has come. */
bool csi_timed_wait(pthread_cond_t *condition, pthread_mutex_t *lock, int64_t until_ns);

#endif
