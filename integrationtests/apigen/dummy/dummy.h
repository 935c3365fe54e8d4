/* SPDX-License-Identifier: Apache-2.0
 *
 * What the handlers of the dummy group work on; tests of a whole server bind it to csi_dummy_services.
 */
#ifndef CSI_APIGEN_DUMMY_H
#define CSI_APIGEN_DUMMY_H

#include <stdatomic.h>

struct csi_dummy {
  atomic_uint calls;             /* handlers entered */
  atomic_uint sleeping;          /* Sleep calls under way */
  const char *expected_password; /* Exchange refuses another one with UNAUTHENTICATED; NULL = any */
};

#endif
