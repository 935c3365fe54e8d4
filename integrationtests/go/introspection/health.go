// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"slices"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
)

type serving = grpc_health_v1.HealthCheckResponse_ServingStatus

const (
	isServing    = grpc_health_v1.HealthCheckResponse_SERVING
	isNotServing = grpc_health_v1.HealthCheckResponse_NOT_SERVING
	isUnknown    = grpc_health_v1.HealthCheckResponse_SERVICE_UNKNOWN
)

// What stands on the admin pipe serves in any case; the rest when the node has what it stands on.
var (
	always = []string{"v1.Admin", "admin", "grpc.health.v1.Health"}
	groups = []string{"", "filesystem", "v1.Filesystem", "v1alpha1.Filesystem", "disk", "v1.Disk", "v2alpha1.Volume",
		"smb", "system", "v1alpha2.Iscsi"}
)

func (s *suite) health() {
	client := grpc_health_v1.NewHealthClient(s.conn)
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	for _, name := range always {
		_, err := s.checkOnce(ctx, name, isServing)
		s.check(fmt.Sprintf("Check %q serves", name), err)
	}
	for _, name := range groups {
		possible := []serving{isServing}
		if !s.isComplete {
			possible = append(possible, isNotServing)
		}
		answer, err := s.checkOnce(ctx, name, possible...)
		s.check(fmt.Sprintf("Check %q", name), err)
		s.check(fmt.Sprintf("Watch %q agrees", name), s.watchOnce(name, answer))
	}
	for _, name := range []string{"v1", "v1.disk", "v9.Disk", "nothing"} {
		_, err := client.Check(ctx, &grpc_health_v1.HealthCheckRequest{Service: name})
		s.check(fmt.Sprintf("Check %q is not found", name), expectCode(err, codes.NotFound))
	}
	long := make([]byte, 257)
	for i := range long {
		long[i] = 'x'
	}
	_, err := client.Check(ctx, &grpc_health_v1.HealthCheckRequest{Service: string(long)})
	s.check("Check of a long name is refused", expectCode(err, codes.InvalidArgument))
	s.check("Watch of an unknown service", s.watchOnce("nothing", isUnknown))
	s.check("the pipe has no other service",
		expectCode(s.conn.Invoke(ctx, "/v1.Disk/ListDiskIDs", &grpc_health_v1.HealthCheckRequest{},
			&grpc_health_v1.HealthCheckResponse{}), codes.Unimplemented))
}

func (s *suite) checkOnce(ctx context.Context, name string, possible ...serving) (serving, error) {
	response, err := grpc_health_v1.NewHealthClient(s.conn).Check(ctx, &grpc_health_v1.HealthCheckRequest{Service: name})
	if err == nil && !slices.Contains(possible, response.GetStatus()) {
		err = fmt.Errorf("%v", response.GetStatus())
	}
	return response.GetStatus(), err
}

func expectCode(err error, code codes.Code) error {
	if status.Code(err) == code {
		return nil
	}
	return fmt.Errorf("%v, and not %v", err, code)
}

func expectNext(watch grpc_health_v1.Health_WatchClient, expected serving) error {
	response, err := watch.Recv()
	if err == nil && response.GetStatus() != expected {
		err = fmt.Errorf("%v, and not %v", response.GetStatus(), expected)
	}
	return err
}

func (s *suite) watchOnce(name string, expected serving) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	watch, err := grpc_health_v1.NewHealthClient(s.conn).Watch(ctx, &grpc_health_v1.HealthCheckRequest{Service: name})
	if err != nil {
		return err
	}
	return expectNext(watch, expected)
}

// What a Watch is told while the node changes, and when the program stops.
func (s *suite) changes(node *daemon) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	client := grpc_health_v1.NewHealthClient(s.conn)
	watch := func(name string) grpc_health_v1.Health_WatchClient {
		stream, err := client.Watch(ctx, &grpc_health_v1.HealthCheckRequest{Service: name})
		if err == nil {
			err = expectNext(stream, isServing)
		}
		s.check(fmt.Sprintf("Watch %q begins", name), err)
		return stream
	}
	iscsi, whole := watch("v1alpha2.Iscsi"), watch("")
	s.check("a part is taken away", node.control("part set name=MSiSCSI state=missing"))
	s.check("Watch tells that iSCSI does not serve", expectNext(iscsi, isNotServing))
	s.check("the part is back", node.control("part reset"))
	s.check("Watch tells that iSCSI serves", expectNext(iscsi, isServing))
	s.check("stop", node.stop())
	s.check("Watch tells of the stop", expectNext(whole, isNotServing))
	_, err := whole.Recv()
	s.check("the stop ends the Watch", expectCode(err, codes.Unavailable))
	s.check("the program ends", node.wait())
}
