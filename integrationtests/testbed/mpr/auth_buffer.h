/* SPDX-License-Identifier: Apache-2.0
 *
 * What the testbed's credui.dll packs, and its mpr.dll unpacks: a head, and user name and password as UTF-16
 * behind it, without NULs. What Windows packs is opaque too.
 */
#ifndef CSI_TESTBED_MPR_AUTH_BUFFER_H
#define CSI_TESTBED_MPR_AUTH_BUFFER_H

#include <stdint.h>

#define AUTH_BUFFER_MAGIC UINT32_C(0x41495343)

struct auth_buffer {
  uint32_t magic;
  uint32_t user_units;
  uint32_t password_units;
};

#endif
