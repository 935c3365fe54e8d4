/* SPDX-License-Identifier: Apache-2.0
 *
 * The testbed's commands over a Unix socket: a client writes lines, and gets for each the lines of the reply,
 * then `. ok` or `. error: TEXT`, as from `vdiskctl shell`.
 */
#ifndef CSI_NATIVE_CONTROL_SERVER_H
#define CSI_NATIVE_CONTROL_SERVER_H

#include <stdbool.h>

#include "fake_node.h"

struct control_server;

/* Listens at path, which may have been left by another process. NULL: errno says why. */
struct control_server *control_server_start(struct fake_node *node, const char *path);

/* Ends all connections and frees the server. NULL is accepted. */
void control_server_stop(struct control_server *server);

#endif
