/* SPDX-License-Identifier: Apache-2.0
 *
 * One call of a program on one of our devices, and how the parts of the driver answer it.
 */
#ifndef VDISK_CALL_H
#define VDISK_CALL_H

#include "nt.h"
#include "text.h"

struct vdisk_object;

/* Codes of what is not a control request; those are far above. */
enum {
  VDISK_CALL_OPEN = 1,
  VDISK_CALL_CLOSE,
  VDISK_CALL_READ,
  VDISK_CALL_WRITE,
  VDISK_CALL_FLUSH,
  VDISK_CALL_QUERY_VOLUME,
  VDISK_CALL_OTHER,
};

struct vdisk_call {
  IRP *irp;
  struct vdisk_object *object;
  uint32_t code; /* VDISK_CALL_..., IOCTL_..., FSCTL_... */
  void *buffer;  /* of a control request: input and output share it */
  uint32_t input_bytes;
  uint32_t output_bytes;
  uint64_t offset_bytes; /* READ, WRITE */
  uint32_t query_class;  /* QUERY_VOLUME */
  uint32_t information;  /* result: bytes of output, or read or written */
};

/* Understands an IRP for one of our devices. */
void vdisk_call_init(struct vdisk_call *call, DEVICE_OBJECT *device, IRP *irp);

/* Answers a call by its object: the status, with call->information set; STATUS_PENDING when the call was
 * parked. With the lock held. */
NTSTATUS vdisk_call_serve(struct vdisk_call *call);

/* Tells Wine the result. Without the lock. */
void vdisk_call_complete(struct vdisk_call *call, NTSTATUS status);

/* Copies a result of fixed size to the output. STATUS_BUFFER_TOO_SMALL when it does not fit. */
NTSTATUS vdisk_call_reply(struct vdisk_call *call, const void *result, size_t bytes);

/* Copies the input to a structure of fixed size. STATUS_INVALID_PARAMETER when it is shorter. */
NTSTATUS vdisk_call_input(const struct vdisk_call *call, void *input_out, size_t bytes);

/* Adds the name of a code, 0x... when it has none. */
void vdisk_call_describe(uint32_t code, struct vdisk_text *text);

/* The code of a name or of 0x...; false when there is no such name. */
bool vdisk_call_code(const char *name, uint32_t *code_out);

#endif
