/* SPDX-License-Identifier: Apache-2.0
 *
 * Any reply of the mount manager: reading stays inside it and ends.
 */
#include <stdint.h>

#include "disk/mount_points.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const uint16_t device_w[] = {'\\', 'D', '\\', 'V', '3'};
  struct csi_guid guid;
  (void)csi_mount_points_find_volume(data, size, device_w, sizeof device_w / sizeof device_w[0], &guid);
  return 0;
}
