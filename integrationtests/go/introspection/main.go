// SPDX-License-Identifier: Apache-2.0

// Program introspection asks the admin pipe what gRPC's own tools ask: health and reflection, with the clients
// of grpc-go. It ends with "N passed, N failed, N skipped".
//
//	introspection                                    a service that runs, on its default pipe
//	introspection -daemon PROGRAM -profile FILE      starts csi-proxy-native, changes what it stands on, and stops it
package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// Nothing here takes long; a test that waits for something that does not come ends.
const limit = 30 * time.Second

type suite struct {
	conn           *grpc.ClientConn
	isComplete     bool // the node lacks nothing
	passed, failed int
}

func (s *suite) check(name string, err error) bool {
	if err != nil {
		s.failed++
		fmt.Printf("FAIL %s: %v\n", name, err)
		return false
	}
	s.passed++
	fmt.Printf("PASS %s\n", name)
	return true
}

func connect(endpoint string) (*grpc.ClientConn, error) {
	return grpc.NewClient("passthrough:///admin", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return dial(ctx, endpoint) }))
}

func main() {
	endpoint := flag.String("endpoint", defaultEndpoint, "pipe or socket of the admin group")
	program := flag.String("daemon", "", "csi-proxy-native, to be started")
	profile := flag.String("profile", "", "what disks the node of -daemon has")
	flag.Parse()

	var node *daemon
	var err error
	if *program != "" {
		if node, err = startDaemon(*program, *profile); err != nil {
			fmt.Printf("FAIL start: %v\n0 passed, 1 failed, 0 skipped\n", err)
			os.Exit(1)
		}
		defer node.kill()
		*endpoint = node.prefix + "admin-v1"
	}
	s := &suite{isComplete: node != nil}
	if s.conn, err = connect(*endpoint); s.check("connect", err) {
		s.health()
		s.reflection()
		if node != nil {
			s.changes(node)
		}
	}
	skipped := 0
	if node == nil {
		skipped = 1
		fmt.Println("SKIP changes of readiness: only csi-proxy-native can be told to lack a part")
	}
	fmt.Printf("%d passed, %d failed, %d skipped\n", s.passed, s.failed, skipped)
	if s.failed > 0 {
		if node != nil {
			node.kill()
		}
		os.Exit(1)
	}
}
