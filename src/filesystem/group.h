/* SPDX-License-Identifier: Apache-2.0
 *
 * The filesystem group: what its RPCs do, whatever version they are spoken in. The prototypes of the
 * handlers themselves are generated (filesystem/handlers.h in the build tree).
 */
#ifndef CSI_FILESYSTEM_GROUP_H
#define CSI_FILESYSTEM_GROUP_H

#include <stddef.h>

#include "base/status.h"
#include "filesystem/host.h"

/* The group's state: its configuration. Handlers may run in any number of threads. */
struct csi_filesystem;

struct csi_filesystem_options {
  const char *const *working_dirs; /* absolute local paths; copied */
  size_t working_dir_count;        /* 1 or more */
  size_t max_path_bytes;           /* longest path of a request; 0 = CSI_PATH_BYTES_DEFAULT */
};

/* Makes the group. host must outlive it. NULL with INVALID_ARGUMENT when a working directory cannot be
 * used; whether it exists is not asked. */
struct csi_filesystem *csi_filesystem_new(const struct csi_filesystem_options *options,
                                          const struct csi_filesystem_host *host,
                                          struct csi_status *status) CSI_MUST_CHECK;

/* Frees the group. No handler may be running. NULL is accepted. */
void csi_filesystem_free(struct csi_filesystem *group);

#endif
