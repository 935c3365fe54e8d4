/* SPDX-License-Identifier: Apache-2.0 */
#include "park.h"

#include "lock.h"
#include "object.h"

struct parked {
  LIST_ENTRY link;
  struct vdisk_call call;
  struct vdisk_object *object;
  enum vdisk_wait wait;
  NTSTATUS status;        /* once it has ended */
  struct vdisk_task task; /* VDISK_WAIT_DELAY */
};

static LIST_ENTRY all = {&all, &all};
static LIST_ENTRY all_ended = {&all_ended, &all_ended};

/* Takes a call out of the park. False when it is being cancelled: then cancel() completes it. */
static bool take(struct parked *parked) {
  if (parked->wait != VDISK_WAIT_HANG_HARD && IoSetCancelRoutine(parked->call.irp, NULL) == NULL)
    return false;
  RemoveEntryList(&parked->link);
  vdisk_task_cancel(&parked->task);
  return true;
}

static void end(struct parked *parked, NTSTATUS status) {
  parked->status = status;
  InsertTailList(&all_ended, &parked->link);
}

void vdisk_park_take_ended(LIST_ENTRY *ended_out) {
  InitializeListHead(ended_out);
  while (!IsListEmpty(&all_ended))
    InsertTailList(ended_out, RemoveHeadList(&all_ended));
}

void vdisk_park_deliver(LIST_ENTRY *ended) {
  while (!IsListEmpty(ended)) {
    struct parked *parked = CONTAINING_RECORD(RemoveHeadList(ended), struct parked, link);
    vdisk_call_complete(&parked->call, parked->status);
    ExFreePoolWithTag(parked, VDISK_POOL_TAG);
  }
}

static void serve(struct parked *parked) {
  NTSTATUS status = vdisk_call_serve(&parked->call);
  if (status == STATUS_PENDING) /* parked anew */
    ExFreePoolWithTag(parked, VDISK_POOL_TAG);
  else
    end(parked, status);
}

static void NTAPI cancel(DEVICE_OBJECT *device, IRP *irp) {
  (void)device;
  IoReleaseCancelSpinLock(irp->CancelIrql);
  struct parked *parked = irp->Tail.Overlay.DriverContext[0];
  vdisk_lock();
  RemoveEntryList(&parked->link);
  vdisk_task_cancel(&parked->task);
  end(parked, STATUS_CANCELLED);
  vdisk_unlock();
}

static void delay_is_over(struct vdisk_task *task) {
  struct parked *parked = CONTAINING_RECORD(task, struct parked, task);
  if (take(parked)) serve(parked);
}

/* Lets the call be cancelled from now on. False when it already is. */
static bool make_cancellable(struct parked *parked) {
  IRP *irp = parked->call.irp;
  irp->Tail.Overlay.DriverContext[0] = parked;
  KIRQL irql;
  IoAcquireCancelSpinLock(&irql);
  bool is_cancelled = irp->Cancel;
  if (!is_cancelled) IoSetCancelRoutine(irp, cancel);
  IoReleaseCancelSpinLock(irql);
  return !is_cancelled;
}

NTSTATUS vdisk_park(struct vdisk_call *call, struct vdisk_object *object, enum vdisk_wait wait,
                    uint32_t delay_ms) {
  struct parked *parked = ExAllocatePoolWithTag(NonPagedPool, sizeof *parked, VDISK_POOL_TAG);
  if (parked == NULL) return STATUS_INSUFFICIENT_RESOURCES;
  *parked = (struct parked){.call = *call, .object = object, .wait = wait};
  IoMarkIrpPending(call->irp);
  if (wait != VDISK_WAIT_HANG_HARD && !make_cancellable(parked)) {
    end(parked, STATUS_CANCELLED);
    return STATUS_PENDING;
  }
  InsertTailList(&all, &parked->link);
  if (wait == VDISK_WAIT_DELAY) vdisk_task_schedule(&parked->task, delay_is_over, delay_ms);
  return STATUS_PENDING;
}

static bool matches(const struct parked *parked, struct vdisk_object *object, enum vdisk_wait wait) {
  if (object != NULL && parked->object != object) return false;
  return wait == VDISK_WAIT_ANY ? parked->wait != VDISK_WAIT_REMOVED : parked->wait == wait;
}

/* Moves what matches to a list of its own, because completing a call can change the park. */
static void take_matching(struct vdisk_object *object, enum vdisk_wait wait, LIST_ENTRY *taken_out) {
  InitializeListHead(taken_out);
  for (LIST_ENTRY *entry = all.Flink, *next = entry->Flink; entry != &all; entry = next, next = next->Flink) {
    struct parked *parked = CONTAINING_RECORD(entry, struct parked, link);
    if (matches(parked, object, wait) && take(parked)) InsertTailList(taken_out, &parked->link);
  }
}

void vdisk_park_end(struct vdisk_object *object, enum vdisk_wait wait, NTSTATUS status) {
  LIST_ENTRY taken;
  take_matching(object, wait, &taken);
  while (!IsListEmpty(&taken))
    end(CONTAINING_RECORD(RemoveHeadList(&taken), struct parked, link), status);
}

void vdisk_park_resume(enum vdisk_wait wait) {
  LIST_ENTRY taken;
  take_matching(NULL, wait, &taken);
  while (!IsListEmpty(&taken))
    serve(CONTAINING_RECORD(RemoveHeadList(&taken), struct parked, link));
}
