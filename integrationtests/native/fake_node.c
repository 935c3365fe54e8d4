/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_node.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "iscsi_command.h"
#include "network_command.h"
#include "storage_command.h"
#include "system_command.h"

enum {
  PROFILE_BYTES = 1 << 16,
  PROBLEM_BYTES = 512,
};

void fake_node_init(struct fake_node *node) {
  node->files = csi_fake_filesystem_new();
  node->storage = csi_fake_storage_new(node->files);
  node->network = csi_fake_network_new();
  node->shares = csi_fake_shares_new(node->network);
  node->targets = csi_fake_iscsi_new(node->network, node->storage);
  node->system = csi_fake_system_new(node->network);
  node->parts = csi_fake_parts_new();
}

void fake_node_free(struct fake_node *node) {
  csi_fake_parts_free(node->parts);
  csi_fake_system_free(node->system);
  csi_fake_iscsi_free(node->targets);
  csi_fake_shares_free(node->shares);
  csi_fake_network_free(node->network);
  csi_fake_storage_free(node->storage);
  csi_fake_filesystem_free(node->files);
}

struct csi_node fake_node_hosts(struct fake_node *node) {
  return (struct csi_node){
      .files = csi_fake_filesystem_host(node->files),
      .disks = csi_fake_disk_host(node->storage),
      .volumes = csi_fake_volume_host(node->storage),
      .shares = csi_fake_smb_host(node->shares),
      .system = csi_fake_system_host(node->system),
      .initiator = csi_fake_iscsi_host(node->targets),
      .parts = csi_fake_parts_host(node->parts),
      .os_version = "node in memory",
  };
}

bool fake_node_command(struct fake_node *node, const char *line, char *reply, size_t reply_bytes) {
  bool done;
  if (csi_fake_network_command(node->network, line, reply, reply_bytes, &done) ||
      csi_fake_smb_command(node->shares, line, reply, reply_bytes, &done) ||
      csi_fake_iscsi_command(node->targets, line, reply, reply_bytes, &done) ||
      csi_fake_system_command(node->system, line, reply, reply_bytes, &done) ||
      csi_fake_parts_command(node->parts, line, reply, reply_bytes, &done))
    return done;
  /* Sessions end before the disks they have brought. */
  if (strcmp(line, "reset") == 0) {
    csi_fake_network_reset(node->network);
    csi_fake_parts_reset(node->parts);
  }
  return csi_fake_storage_command(node->storage, line, reply, reply_bytes);
}

bool fake_node_load(struct fake_node *node, const char *path) {
  static char text[PROFILE_BYTES];
  char problem[PROBLEM_BYTES];
  FILE *file = fopen(path, "r");
  if (file == NULL) {
    fprintf(stderr, "%s: %s\n", path, strerror(errno));
    return false;
  }
  text[fread(text, 1, sizeof text - 1, file)] = '\0';
  fclose(file);
  bool done = csi_fake_storage_profile(node->storage, text, problem, sizeof problem);
  if (!done) fprintf(stderr, "%s: %s\n", path, problem);
  return done;
}
