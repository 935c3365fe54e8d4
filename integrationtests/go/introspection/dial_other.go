// SPDX-License-Identifier: Apache-2.0

//go:build !windows

package main

import (
	"context"
	"net"
)

const defaultEndpoint = ""

func dial(ctx context.Context, endpoint string) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, "unix", endpoint)
}
