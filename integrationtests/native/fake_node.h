/* SPDX-License-Identifier: Apache-2.0
 *
 * The whole node in memory: the fakes behind all groups, and the testbed's commands for them.
 */
#ifndef CSI_NATIVE_FAKE_NODE_H
#define CSI_NATIVE_FAKE_NODE_H

#include <stdbool.h>
#include <stddef.h>

#include "filesystem_fake.h"
#include "iscsi_fake.h"
#include "network_faults.h"
#include "parts_fake.h"
#include "service/groups.h"
#include "smb_fake.h"
#include "storage_fake.h"
#include "system_fake.h"

struct fake_node {
  struct csi_fake_filesystem *files;
  struct csi_fake_storage *storage;
  struct csi_fake_network *network;
  struct csi_fake_shares *shares;
  struct csi_fake_iscsi *targets;
  struct csi_fake_system *system;
  struct csi_fake_parts *parts;
};

void fake_node_init(struct fake_node *node);
void fake_node_free(struct fake_node *node);

/* The node as the groups see it. */
struct csi_node fake_node_hosts(struct fake_node *node);

/* Does what a line of the testbed's commands says, whichever fake it is for. reply: lines that end in \n, or
 * what was wrong; NUL-terminated. May be called from any thread. */
bool fake_node_command(struct fake_node *node, const char *line, char *reply, size_t reply_bytes);

/* Does all the lines of the profile in a file. False: stderr says why. */
bool fake_node_load(struct fake_node *node, const char *path);

#endif
