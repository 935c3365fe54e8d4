/* SPDX-License-Identifier: Apache-2.0
 *
 * Counters and faults of the calls that stand-in DLLs serve, as records of the state. Portable.
 */
#ifndef CSI_TESTBED_NETWORK_FAULTS_H
#define CSI_TESTBED_NETWORK_FAULTS_H

#include "driver/text.h"
#include "driver/words.h"
#include "state.h"

/* What a call is to do, in this order. Zeroed: nothing but its work. */
struct network_fault {
  uint32_t delay_ms;
  bool hangs;     /* until faults are cleared */
  uint32_t error; /* what it fails with; 0 = it does not */
};

/* Counts a call, and says which fault is due for it. */
struct network_fault network_faults_take(struct network_state *state, const char *call);

/* How often faults have been cleared: who hangs waits until it is another number. */
uint64_t network_faults_clearings(const struct network_state *state);

/* `network` and its words behind that: fault add, fault clear, counters, reset (all records, of whatever
 * kind). False with what was wrong, and nothing done. */
bool network_command(struct network_state *state, struct vdisk_words *words, struct vdisk_text *reply,
                     const char **problem_out);

#endif
