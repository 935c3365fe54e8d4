/* SPDX-License-Identifier: Apache-2.0
 *
 * What the fakes of shares and of iSCSI targets have in common: every step of their hosts is counted under
 * the name of its Win32 call, and can be told to fail, to take long or to hang. What is counted and due is
 * kept and ruled by the testbed's network (../testbed/network), in memory.
 *
 *   bool add(void *self, struct csi_ctx *ctx, ...) {
 *     struct csi_fake_shares *shares = self;
 *     if (!csi_fake_network_step(shares->network, ctx, "WNetAddConnection4W", CSI_SPACE_WIN32, root)) return
 * false;
 *     ... lock, change, unlock ...
 *
 * Every function may be called from any thread.
 */
#ifndef CSI_FAKENODE_NETWORK_FAULTS_H
#define CSI_FAKENODE_NETWORK_FAULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/ctx.h"
#include "network/state.h"

enum {
  CSI_FAKE_NETWORK_CALL_BYTES = 96, /* longest name of a call, NUL included */
};

struct csi_fake_network;

struct csi_fake_network *csi_fake_network_new(void);
void csi_fake_network_free(struct csi_fake_network *network);

/* ---- For fakes. ---- */

/* What comes before every step: the hook, the count, the faults. False: the step has failed, with a fault's
 * error in this space, or since nobody waits any more. Holds no lock while it waits; the fake must hold none
 * either. call: a literal. object: what the step works on, for the error text. */
bool csi_fake_network_step(struct csi_fake_network *network, struct csi_ctx *ctx, const char *call,
                           enum csi_error_space space, const char *object);

/* The records that fakes keep in the testbed's form; locked until it is given back. Nothing else of this
 * header may be called meanwhile. */
struct network_state *csi_fake_network_open(struct csi_fake_network *network);
void csi_fake_network_close(struct csi_fake_network *network);

/* reset() is called by csi_fake_network_reset(): the fake forgets what is not in records. At most 4. */
void csi_fake_network_on_reset(struct csi_fake_network *network, void (*reset)(void *fake), void *fake);

/* ---- Faults. ---- */

struct csi_fake_network_fault {
  const char *call;  /* copied; NULL = every call */
  unsigned nth;      /* 1 = the next that matches; 0 is the same */
  unsigned count;    /* how many in a row; 0 = for ever */
  uint32_t error;    /* the step fails with it; 0 = it does not */
  uint32_t delay_ms; /* before it goes on; the call's deadline ends that */
  bool hang;         /* until the faults are cleared, the call's deadline, or its cancellation */
};
void csi_fake_network_add_fault(struct csi_fake_network *network, const struct csi_fake_network_fault *fault);
/* Ends what hangs or is delayed as well; these steps then go on. */
void csi_fake_network_clear_faults(struct csi_fake_network *network);
/* How often a fault has struck since the last clearing. */
size_t csi_fake_network_struck(struct csi_fake_network *network);

/* Calls hook before every step, with no lock held, so that it may change the scene. NULL removes it. */
typedef void csi_fake_network_hook(struct csi_fake_network *network, const char *call, void *data);
void csi_fake_network_set_hook(struct csi_fake_network *network, csi_fake_network_hook *hook, void *data);

/* ---- What happened. ---- */

/* How many steps there have been of this call; NULL = all. */
size_t csi_fake_network_count(struct csi_fake_network *network, const char *call);
void csi_fake_network_reset_counts(struct csi_fake_network *network);

/* No faults, no counts, and nothing in the fakes. */
void csi_fake_network_reset(struct csi_fake_network *network);

#endif
