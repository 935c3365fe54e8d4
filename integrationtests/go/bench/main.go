// SPDX-License-Identifier: Apache-2.0

// bench measures the service through the published Go client of the original csi-proxy. It prints one figure
// a line: name, tab, value.
//
//	bench sequential CALLS            latency of one caller
//	bench callers CALLERS CALLS       calls per second of many callers, CALLS each
//	bench hold CONNECTIONS            makes a call on each connection, says so, keeps them until its input ends
//	bench storage DISKS...            disk and volume groups with so many disks of the testbed
//	bench mounts                      mounting; needs the executable with emulated links
package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"sync"
	"time"

	"github.com/Microsoft/go-winio"
	"github.com/kubernetes-csi/csi-proxy/client"
	pb "github.com/kubernetes-csi/csi-proxy/client/api/filesystem/v1"
	"github.com/kubernetes-csi/csi-proxy/client/groups/filesystem/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

const (
	benchDir    = `C:\var\lib\kubelet\plugins\bench.csi`
	warmUpCalls = 200
)

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func printFigure(name string, value float64) { fmt.Printf("%s\t%.1f\n", name, value) }

func exists(c pb.FilesystemClient, path string) error {
	_, err := c.PathExists(context.Background(), &pb.PathExistsRequest{Path: path})
	return err
}

func mkdir(c pb.FilesystemClient, path string) error {
	_, err := c.Mkdir(context.Background(), &pb.MkdirRequest{Path: path})
	return err
}

func rmdir(c pb.FilesystemClient, path string) error {
	_, err := c.Rmdir(context.Background(), &pb.RmdirRequest{Path: path})
	return err
}

type latencies []time.Duration

func (l *latencies) time(call func() error) {
	start := time.Now()
	fail(call())
	*l = append(*l, time.Since(start))
}

func (l latencies) print(name string) {
	sort.Slice(l, func(i, j int) bool { return l[i] < l[j] })
	microseconds := func(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
	printFigure(name+".p50_us", microseconds(l[len(l)/2]))
	printFigure(name+".p99_us", microseconds(l[len(l)*99/100]))
}

func sequential(calls int) {
	c, err := v1.NewClient()
	fail(err)
	defer c.Close()
	fail(mkdir(c, benchDir))
	for i := 0; i < warmUpCalls; i++ {
		fail(exists(c, benchDir))
	}
	var found, made, removed latencies
	for i := 0; i < calls; i++ {
		found.time(func() error { return exists(c, benchDir) })
	}
	path := filepath.Join(benchDir, "go-sequential")
	for i := 0; i < calls/4; i++ {
		made.time(func() error { return mkdir(c, path) })
		removed.time(func() error { return rmdir(c, path) })
	}
	found.print("go.path_exists")
	made.print("go.mkdir")
	removed.print("go.rmdir")
}

// throughput has every caller make its calls on the connection it is given.
func throughput(name string, callers, calls int, connection func(caller int) pb.FilesystemClient) {
	var wait sync.WaitGroup
	start := time.Now()
	for i := 0; i < callers; i++ {
		wait.Add(1)
		go func(c pb.FilesystemClient) {
			defer wait.Done()
			for j := 0; j < calls; j++ {
				fail(exists(c, benchDir))
			}
		}(connection(i))
	}
	wait.Wait()
	printFigure(name+".calls_per_s", float64(callers*calls)/time.Since(start).Seconds())
}

func callers(count, calls int) {
	own := make([]pb.FilesystemClient, count)
	for i := range own {
		c, err := v1.NewClient()
		fail(err)
		defer c.Close()
		fail(mkdir(c, benchDir))
		own[i] = c
	}
	throughput("go.shared", count, calls, func(int) pb.FilesystemClient { return own[0] })
	throughput("go.own", count, calls, func(i int) pb.FilesystemClient { return own[i] })
}

// hold connects without the probe connection that the client's constructor leaves behind.
func hold(count int) {
	path := client.PipePath(v1.GroupName, v1.Version)
	dial := grpc.WithContextDialer(func(ctx context.Context, path string) (net.Conn, error) {
		return winio.DialPipeContext(ctx, path)
	})
	for i := 0; i < count; i++ {
		connection, err := grpc.NewClient("passthrough:///"+path, dial, grpc.WithTransportCredentials(insecure.NewCredentials()))
		fail(err)
		if err := exists(pb.NewFilesystemClient(connection), benchDir); err != nil {
			fail(fmt.Errorf("connection %d of %d: %w", i+1, count, err))
		}
	}
	printFigure("held", float64(count))
	_, err := io.Copy(io.Discard, os.Stdin)
	fail(err)
}

func number(text string) int {
	n, err := strconv.Atoi(text)
	if err == nil && n < 1 {
		err = fmt.Errorf("%q is not a positive number", text)
	}
	fail(err)
	return n
}

func main() {
	arguments := os.Args[1:]
	switch {
	case len(arguments) == 2 && arguments[0] == "sequential":
		sequential(number(arguments[1]))
	case len(arguments) == 3 && arguments[0] == "callers":
		callers(number(arguments[1]), number(arguments[2]))
	case len(arguments) == 2 && arguments[0] == "hold":
		hold(number(arguments[1]))
	case len(arguments) >= 2 && arguments[0] == "storage":
		var counts []int
		for _, text := range arguments[1:] {
			counts = append(counts, number(text))
		}
		measureStorage(counts)
	case len(arguments) == 1 && arguments[0] == "mounts":
		measureMounts()
	default:
		fmt.Fprintln(os.Stderr, "usage: bench sequential CALLS | callers CALLERS CALLS | hold CONNECTIONS |"+
			" storage DISKS... | mounts")
		os.Exit(2)
	}
}
