/* SPDX-License-Identifier: Apache-2.0
 *
 * A listening TCP socket.
 */
#ifndef CSI_METRICS_LISTEN_H
#define CSI_METRICS_LISTEN_H

#include <stdbool.h>

#include "metrics/address.h"
#include "metrics/sockets.h"

enum {
  CSI_LISTEN_TEXT_BYTES = 80,
};

/* Binds and listens, on one address as Go does: of a name the first IPv4 address, or else the first; without
 * a host, and for 0.0.0.0 and ::, all of the machine, IPv4 and IPv6. To be called between csi_sockets_begin()
 * and csi_sockets_end(). A name is looked up, which may take as long as the system lets it.
 *
 * text_out: what is listened on, "127.0.0.1:8888". Close the socket with csi_sockets_close().
 * False when there is no such host, or the port is taken: the status says by whom, if that can be known. */
bool csi_listen(const struct csi_address *address, csi_socket *socket_out,
                char text_out[CSI_LISTEN_TEXT_BYTES], struct csi_status *status) CSI_MUST_CHECK;

#endif
