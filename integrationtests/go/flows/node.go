// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"time"

	"google.golang.org/grpc"
)

const callLimit = 60 * time.Second

// node counts the calls that a driver makes, and has the driver crash after one of them.
type node struct {
	calls      []string // the RPCs of the phase under way
	crashAfter int      // 0: never
}

// crash is how a driver dies: it gets no answer to the call, and does nothing any more.
type crash struct{}

// call makes one RPC of a driver.
func call[Q, A any](n *node, rpc func(context.Context, Q, ...grpc.CallOption) (A, error), in Q) (A, error) {
	ctx, cancel := context.WithTimeout(context.Background(), callLimit)
	defer cancel()
	out, err := rpc(ctx, in)
	name := strings.TrimSuffix(reflect.TypeOf(in).Elem().Name(), "Request")
	n.calls = append(n.calls, name)
	if len(n.calls) == n.crashAfter {
		panic(crash{})
	}
	return out, err
}

// run has a driver work off one phase. A panic of the driver's own is its error.
func (n *node) run(phase func() error, crashAfter int) (crashed bool, err error) {
	n.calls, n.crashAfter = nil, crashAfter
	defer func() {
		switch cause := recover().(type) {
		case nil:
		case crash:
			crashed = true
		case runtime.Error:
			err = fmt.Errorf("the driver panicked: %w", cause)
		default:
			panic(cause)
		}
	}()
	return false, phase()
}
