// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"net"

	"github.com/Microsoft/go-winio"
)

const defaultEndpoint = `\\.\pipe\csi-proxy-admin-v1`

func dial(ctx context.Context, endpoint string) (net.Conn, error) {
	return winio.DialPipeContext(ctx, endpoint)
}
