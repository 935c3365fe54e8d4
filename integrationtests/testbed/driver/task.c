/* SPDX-License-Identifier: Apache-2.0 */
#include "task.h"

#include "lock.h"

static LIST_ENTRY tasks = {&tasks, &tasks}; /* by due time */
static KEVENT changed;
static void *thread;
static bool is_stopping;

static uint64_t now_ms(void) {
  LARGE_INTEGER frequency;
  LARGE_INTEGER counter = KeQueryPerformanceCounter(&frequency);
  return (uint64_t)counter.QuadPart / ((uint64_t)frequency.QuadPart / 1000);
}

void vdisk_task_schedule(struct vdisk_task *task, void (*run)(struct vdisk_task *), uint32_t delay_ms) {
  task->run = run;
  task->due_ms = now_ms() + delay_ms;
  task->is_scheduled = true;
  LIST_ENTRY *before = tasks.Blink;
  while (before != &tasks && CONTAINING_RECORD(before, struct vdisk_task, link)->due_ms > task->due_ms)
    before = before->Blink;
  InsertHeadList(before, &task->link);
  KeSetEvent(&changed, IO_NO_INCREMENT, FALSE);
}

void vdisk_task_cancel(struct vdisk_task *task) {
  if (!task->is_scheduled) return;
  RemoveEntryList(&task->link);
  task->is_scheduled = false;
}

/* Runs what is due. Returns for how long there is nothing to do, UINT64_MAX for until something changes. */
static uint64_t run_due(void) {
  while (!IsListEmpty(&tasks)) {
    struct vdisk_task *task = CONTAINING_RECORD(tasks.Flink, struct vdisk_task, link);
    uint64_t now = now_ms();
    if (task->due_ms > now) return task->due_ms - now;
    vdisk_task_cancel(task);
    task->run(task);
  }
  return UINT64_MAX;
}

static void NTAPI run_tasks(void *unused) {
  (void)unused;
  for (;;) {
    vdisk_lock();
    bool stop = is_stopping;
    uint64_t wait_ms = stop ? 0 : run_due();
    vdisk_unlock();
    if (stop) break;
    LARGE_INTEGER timeout = {.QuadPart = -(LONGLONG)wait_ms * 10000};
    KeWaitForSingleObject(&changed, Executive, KernelMode, FALSE, wait_ms == UINT64_MAX ? NULL : &timeout);
  }
  PsTerminateSystemThread(STATUS_SUCCESS);
}

NTSTATUS vdisk_tasks_start(void) {
  KeInitializeEvent(&changed, SynchronizationEvent, FALSE);
  HANDLE handle;
  NTSTATUS status = PsCreateSystemThread(&handle, THREAD_ALL_ACCESS, NULL, NULL, NULL, run_tasks, NULL);
  if (!NT_SUCCESS(status)) return status;
  status = ObReferenceObjectByHandle(handle, SYNCHRONIZE, NULL, KernelMode, &thread, NULL);
  ZwClose(handle);
  return status;
}

void vdisk_tasks_stop(void) {
  vdisk_lock();
  is_stopping = true;
  KeSetEvent(&changed, IO_NO_INCREMENT, FALSE);
  vdisk_unlock();
  if (thread == NULL) return;
  KeWaitForSingleObject(thread, Executive, KernelMode, FALSE, NULL);
  ObDereferenceObject(thread);
  thread = NULL;
}
