/* SPDX-License-Identifier: Apache-2.0
 *
 * What of Windows is there, as a test says. Everything is, until it says otherwise. All functions may be
 * called from any thread.
 */
#ifndef CSI_FAKENODE_PARTS_FAKE_H
#define CSI_FAKENODE_PARTS_FAKE_H

#include <stdbool.h>
#include <stddef.h>

#include "admin/parts.h"

struct csi_fake_parts;

enum csi_fake_part {
  CSI_FAKE_PART_PRESENT,
  CSI_FAKE_PART_MISSING,
  CSI_FAKE_PART_STOPPED,  /* a service that is installed and does not run */
  CSI_FAKE_PART_DISABLED, /* the same, and nobody may start it */
  CSI_FAKE_PART_HANGS,    /* does not answer before the deadline */
  CSI_FAKE_PART_STUCK,    /* does not answer before it is set to something else, whatever the deadline */
  CSI_FAKE_PART_NONSENSE, /* a privilege that the system does not know */
};

enum {
  CSI_FAKE_PARTS = 32, /* most that a test says something of */
};

struct csi_fake_parts *csi_fake_parts_new(void);
/* Sets all that is stuck free, and waits for whoever asks. */
void csi_fake_parts_free(struct csi_fake_parts *parts);
const struct csi_parts_host *csi_fake_parts_host(struct csi_fake_parts *parts);

/* False when there is no room for another name. */
bool csi_fake_parts_set(struct csi_fake_parts *parts, const char *name, enum csi_fake_part what);
void csi_fake_parts_reset(struct csi_fake_parts *parts);

/* How many checks there have been. */
size_t csi_fake_parts_checks(struct csi_fake_parts *parts);

/* `part set name=NAME state=present|missing|stopped|disabled|hangs|stuck|nonsense`, and `part reset`;
 * otherwise as csi_fake_command_run(). */
bool csi_fake_parts_command(struct csi_fake_parts *parts, const char *line, char *reply, size_t reply_bytes,
                            bool *done_out);

#endif
