/* SPDX-License-Identifier: Apache-2.0
 *
 * Target paths: where volumes are mounted. Unlike those of the filesystem group they may be anywhere on a
 * local drive. The walk to one begins at the working directory that holds it, else at the drive, and follows
 * no link from there on: who may plant one must not choose where a volume goes.
 */
#ifndef CSI_VOLUME_TARGET_PATH_H
#define CSI_VOLUME_TARGET_PATH_H

#include <stdbool.h>

#include "filesystem/walk.h"
#include "volume/reach.h"

/* A path and how to get there. Refers to itself: not to be copied. */
struct csi_target_path {
  struct csi_confined_path path;
  struct csi_walk walk;
};

/* Reads the path of a request: with either separator, with or without a drive, with `\\?\` before the drive
 * or not, as long as one likes. verb: how error texts of the walk begin. Fails with INVALID_ARGUMENT for
 * another machine, a device, a relative or malformed path. */
bool csi_target_path_init(struct csi_target_path *target, struct csi_volume *group, struct csi_ctx *ctx,
                          const char *verb, const char *path) CSI_MUST_CHECK;

/* What is at the end of a path. */
enum csi_folder_state {
  CSI_FOLDER_MISSING,
  CSI_FOLDER_PLAIN,   /* a directory */
  CSI_FOLDER_MOUNTED, /* a directory that a volume is mounted on */
  CSI_FOLDER_LINK,    /* another reparse point */
  CSI_FOLDER_FILE,
};

/* A folder to mount on, held: nobody else of this service changes it meanwhile. */
struct csi_folder {
  struct csi_node node;
  struct csi_held_lock lock;
  enum csi_folder_state state;
  struct csi_guid mounted; /* CSI_FOLDER_MOUNTED */
};
void csi_folder_release(struct csi_folder *folder);
#define CSI_SCOPED_FOLDER __attribute__((cleanup(csi_folder_release))) struct csi_folder

/* Opens the folder with CSI_ACCESS_REMOVE and takes its lock. *folder_out must be all zero. holder: name of
 * the RPC, a literal. The root of a drive and a working directory are refused (FAILED_PRECONDITION). */
bool csi_folder_hold(struct csi_volume *group, const struct csi_target_path *target, const char *holder,
                     struct csi_folder *folder_out) CSI_MUST_CHECK;

/* Looks again at what the held folder is. */
bool csi_folder_look(const struct csi_target_path *target, struct csi_folder *folder) CSI_MUST_CHECK;

#endif
