/* SPDX-License-Identifier: Apache-2.0
 *
 * Work for later, done by one thread of the driver's own with the lock held.
 */
#ifndef VDISK_TASK_H
#define VDISK_TASK_H

#include "nt.h"

/* Lies in what it is about; all members are private. Zeroed memory is a task that is not scheduled. */
struct vdisk_task {
  LIST_ENTRY link;
  uint64_t due_ms;
  bool is_scheduled;
  void (*run)(struct vdisk_task *task);
};

/* Starts and ends the thread. vdisk_tasks_stop() drops what is scheduled; call it without the lock. */
NTSTATUS vdisk_tasks_start(void);
void vdisk_tasks_stop(void);

/* Has run(task) called in delay_ms. The task may free itself. With the lock held; not while scheduled. */
void vdisk_task_schedule(struct vdisk_task *task, void (*run)(struct vdisk_task *task), uint32_t delay_ms);

/* Takes back what was scheduled, if it was. With the lock held. */
void vdisk_task_cancel(struct vdisk_task *task);

#endif
