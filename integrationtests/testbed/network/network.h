/* SPDX-License-Identifier: Apache-2.0
 *
 * The testbed's network, shared by the programs of a Wine prefix: its state stands in a file, and a mutex
 * with a name guards it. A stand-in DLL serves a call like this:
 *
 *   DWORD error = network_begin_call("WNetCancelConnection2W");  // counts; delays, hangs or fails
 *   if (error != 0) return error;
 *   struct network_state *state = network_open();
 *   ... network_find(state, "share", "root", root), network_set(state, ...) ...
 *   network_close(state);
 */
#ifndef CSI_TESTBED_NETWORK_H
#define CSI_TESTBED_NETWORK_H

#include <stdbool.h>
#include <stdint.h>

#include "state.h"

/* Locks the network and reads it. One thread has it at a time; a program that dies with it leaves what it
 * found. Not twice by one thread. NULL, with the last error, when that does not work. */
struct network_state *network_open(void);

/* Writes what has changed, all or nothing, unlocks, and frees the state. False, with the last error, when
 * nothing was written. NULL is accepted. */
bool network_close(struct network_state *state);

/* Counts a call, and does what the fault that is due for it demands. Returns the error the call is to fail
 * with; 0 when it is to be served. May block: nobody may have the network open on this thread. */
uint32_t network_begin_call(const char *name);

/* The same for calls that can be cancelled: a delay and a hang end, with 0, when is_over() says so, which is
 * asked every few milliseconds. */
uint32_t network_begin_call_until(const char *name, bool (*is_over)(void *context), void *context);

#endif
