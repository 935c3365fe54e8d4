/* SPDX-License-Identifier: Apache-2.0
 *
 * What is known of each call, while it runs and afterwards: the list of running calls, what observers and
 * the log are told, and the totals. Of calls and of streams alike.
 */
#ifndef CSI_RPC_RECORD_H
#define CSI_RPC_RECORD_H

#include <stdatomic.h>
#include <stdint.h>

#include "rpc/dispatch.h"
#include "rpc/observer.h"
#include "rpc/snapshot.h"

struct csi_endpoint;
struct csi_call_environment;

/* Of one method on one endpoint. */
struct csi_method_counters {
  atomic_uint_least64_t started, succeeded, failed, rejected;
  atomic_int_least64_t duration_ns, longest_ns;
};

/* Part of a call or a stream. Who fills it in does so before csi_record_link(). */
struct csi_call_record {
  struct csi_call_record *previous, *next; /* private, as all that has no other comment */
  struct csi_endpoint *endpoint;           /* filled in, and so on */
  const struct csi_binding *binding;       /* NULL: the endpoint has no such method */
  const struct csi_method *method;         /* NULL with binding */
  struct csi_peer peer;
  int64_t arrived_ns;
  int64_t queued_ns; /* filled in before csi_record_running() */
  enum csi_rejection rejection;
  const char *object;
  uint64_t id;
  atomic_int state; /* enum csi_call_state */
  atomic_int_least64_t running_since_ns;
  bool told_started;
};

/* The call is one of those that run. Counts it as running, or as a stream. */
void csi_record_link(struct csi_call_record *record);

/* Nothing of the record is used any more, nor, by this call or stream, of the server: as
 * csi_calls_alive(-1). */
void csi_record_unlink(struct csi_call_record *record);

/* What a call that changes something is about; object is borrowed until csi_record_ended(). */
void csi_record_set_object(struct csi_call_record *record, const char *object);

/* The handler is about to run: observers are told, the first time. */
void csi_record_running(struct csi_call_record *record);

void csi_record_set_state(struct csi_call_record *record, enum csi_call_state state);

/* The outcome is known: observers, log and totals are told. Forgets object and image path. */
void csi_record_ended(struct csi_call_record *record, const struct csi_status *status,
                      enum csi_code wire_code);

/* Logs a warning for each call whose handler has not returned. */
void csi_records_log_hanging(struct csi_call_environment *environment);

#endif
