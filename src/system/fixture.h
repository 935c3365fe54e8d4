/* SPDX-License-Identifier: Apache-2.0
 *
 * For tests: a fake node with the system group on it, and its RPCs as plain calls. Every call checks that a
 * status is set exactly when the call fails, and that no lock is left behind.
 */
#ifndef CSI_SYSTEM_FIXTURE_H
#define CSI_SYSTEM_FIXTURE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "system/group.h"
#include "system/handlers.h"
#include "system_fake.h"

enum {
  FIXTURE_TEXT_BYTES = 1024,
};

struct fixture {
  struct csi_fake_network *network;
  struct csi_fake_system *system;
  struct csi_keyed_locks *locks;
  struct csi_system *group;
  struct csi_status status; /* of the last call */
  uint32_t limit_ms;        /* deadline of the next calls; 0 = none */
  unsigned fail_allocation; /* the nth allocation of the next call fails; 0 = none */
  bool allocation_failed;   /* whether it did */
  atomic_bool cancelled;
};

/* cmocka set-up and tear-down: *state is the fixture; its node has no services, and "kubelet" is protected.
 */
int fixture_set_up(void **state);
int fixture_tear_down(void **state);

/* Makes the group anew. patience_ms 0 = the usual one. */
void use_options(struct fixture *fixture, const char *protected_services, uint32_t patience_ms);

bool call_get_serial(struct fixture *fixture, char text_out[FIXTURE_TEXT_BYTES]);
bool call_start(struct fixture *fixture, const char *name);
bool call_stop(struct fixture *fixture, const char *name, bool force);
struct service_answer {
  char display_name[FIXTURE_TEXT_BYTES];
  int start_type, status;
};
bool call_get(struct fixture *fixture, const char *name, struct service_answer *answer_out);

/* Adds a service; depends: NULL = nothing. */
void add_service(struct fixture *fixture, const char *name, uint32_t state, const char *depends);
void fail_step(struct fixture *fixture, const char *call, unsigned nth, uint32_t error);

void assert_ok(struct fixture *fixture, bool result);
/* The last call failed with this code and with a text that begins so. */
void assert_failed(struct fixture *fixture, bool result, enum csi_code code, const char *text);
/* The text of the last failure has this in it. */
void assert_says(struct fixture *fixture, const char *text);
void assert_state(struct fixture *fixture, const char *name, uint32_t state);
/* The services that took a stop control since the last time, in order: "C,B,A". */
void assert_stops(struct fixture *fixture, const char *names);

#endif
