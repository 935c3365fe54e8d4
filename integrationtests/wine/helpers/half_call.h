/* SPDX-License-Identifier: Apache-2.0
 *
 * A gRPC call held open for as long as a test likes: HTTP/2 written by hand, so that it does not share
 * a bug with the client library.
 */
#ifndef CSI_INTEGRATIONTESTS_HALF_CALL_H
#define CSI_INTEGRATIONTESTS_HALF_CALL_H

#include <wchar.h>

/* Begins a PathExists call on a filesystem v1 pipe, prints "begun" when the server has seen its
 * headers, and then follows stdin: a line sends the request and prints "answered" or "not answered"; the
 * end of stdin drops the connection. Returns an exit code. */
int csi_half_call(const wchar_t *pipe_w);

#endif
