/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CSI_BASE_PEER_H
#define CSI_BASE_PEER_H

#include <stdint.h>

#define CSI_NO_SESSION_ID UINT32_MAX

/* The process at the other end of a connection, as it was when the connection was made. A process that ends
 * is not asked again, and its number may since be another's. */
struct csi_peer {
  uint32_t process_id;    /* 0 when the transport does not know it */
  uint32_t session_id;    /* of Windows (0: services); CSI_NO_SESSION_ID when not known */
  const char *image_path; /* UTF-8; "" when the transport does not know it */
  const char
      *account; /* SID of the process's user, "S-1-5-18"; "" when not known. Unix sockets: "uid 1000" */
  const char *container; /* id of the container the process runs in; "" when in none, or not known */
};

/* Of whom nothing is known. */
#define CSI_PEER_UNKNOWN                                                                                     \
  ((struct csi_peer){.session_id = CSI_NO_SESSION_ID, .image_path = "", .account = "", .container = ""})

#endif
