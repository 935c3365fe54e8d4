/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "client/ctl/read_file.h"

FILE *csi_ctl_open_file(const char *path) {
  return path != NULL ? fopen(path, "rb") : stdin;
}
