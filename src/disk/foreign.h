/* SPDX-License-Identifier: Apache-2.0
 *
 * Raw is what Windows calls every disk whose partition table it does not know: also one that another system
 * has made one whole file system of, and one whose table it has not read yet, or cannot, since it was made
 * with sectors of another size. Such a disk is refused. What is nameless, a table that is torn, and one
 * without partitions are no reason: these are what earlier users, and a crash while the table was written,
 * leave behind.
 */
#ifndef CSI_DISK_FOREIGN_H
#define CSI_DISK_FOREIGN_H

#include "disk/target.h"

/* Looks at the beginning and the end of the open raw disk. FAILED_PRECONDITION when they hold a file system
 * or volume that is not Windows' own partition; UNAVAILABLE when they hold a partition table. */
bool csi_disk_refuse_foreign(struct csi_target *target,
                             const struct csi_disk_geometry *geometry) CSI_MUST_CHECK;

#endif
