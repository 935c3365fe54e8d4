// SPDX-License-Identifier: Apache-2.0

// interop calls every RPC of every version of the filesystem, disk and volume groups through the published
// Go client of the original csi-proxy, with good and bad input, and prints what each answered. It runs on the
// node of the service, whose kubelet path must be the default. The disks and volumes are those of the testbed;
// a real disk is never touched.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"csi-proxy/integrationtests/report"
	"csi-proxy/integrationtests/testbed"
)

var (
	pipeFormat = flag.String("pipe-format", "", `pipe name with two %s, group and version; empty = the client's own fixed name`)
	onlyGroup  = flag.String("group", "", "test this API group only")
	only       = flag.String("version", "", "test this version only")
	workDir    = flag.String("work-dir", `C:\var\lib\kubelet\plugins\interop.csi`, "directory to work in; its contents are removed")
	noLinks    = flag.Bool("no-links", false, "this system cannot make links (Wine): a link must then be refused honestly")
	emulated   = flag.Bool("emulated-links", false, "links are known to the service only (csi-proxy-testbed.exe): this program sees plain directories")
	original   = flag.Bool("original", false, "the service is the original csi-proxy: skip what it is known to do differently")
)

const defaultPipeFormat = `\\.\pipe\csi-proxy-%s-%s`

func (v version) dial() (closer, error) {
	if *pipeFormat == "" {
		return v.connect()
	}
	return v.dialPipeOf(v)
}

// dialPipeOf connects to the pipe of another version.
func (v version) dialPipeOf(other version) (closer, error) {
	if v.connectAt == nil {
		return nil, fmt.Errorf("this release of the client knows the fixed pipe names only")
	}
	format := *pipeFormat
	if format == "" {
		format = defaultPipeFormat
	}
	return v.connectAt(fmt.Sprintf(format, other.group, other.name))
}

// dialPatiently waits for a service that is just starting.
func (v version) dialPatiently(limit time.Duration) (closer, error) {
	deadline := time.Now().Add(limit)
	for {
		client, err := v.dial()
		if err == nil || time.Now().After(deadline) {
			return client, err
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func moduleVersion(path string) string {
	info, ok := debug.ReadBuildInfo()
	if ok {
		for _, dep := range info.Deps {
			if dep.Path == path {
				return dep.Version
			}
		}
	}
	return "unknown"
}

func testVersion(r *report.Report, bed *testbed.Bed, v version, cases func(*suite)) {
	r.Part, r.Column, r.Row = v.group, v.name, "connect"
	client, err := v.dialPatiently(10 * time.Second)
	r.Check("the client constructor finds the pipe", err)
	if err != nil {
		return
	}
	defer client.Close()

	dir := filepath.Join(*workDir, v.name)
	if err := first(testbed.RemoveTree(dir), os.MkdirAll(dir, 0o755)); err != nil {
		r.Check("the tests can make their own directory", err)
		return
	}
	cases(&suite{Report: r, caller: caller{v, client}, bed: bed, dir: dir})
}

// groups has all API groups that are tested; storage says that the testbed is needed.
var groups = []struct {
	versions []version
	storage  bool
	cases    func(*suite)
}{
	{filesystemVersions, false, (*suite).filesystem},
	{diskVersions, true, (*suite).disk},
	{volumeVersions, true, (*suite).volume},
}

func main() {
	flag.Parse()
	r := &report.Report{}
	fmt.Printf("client %s, gRPC %s\n", moduleVersion("github.com/kubernetes-csi/csi-proxy/client"),
		moduleVersion("google.golang.org/grpc"))
	bed, bedErr := testbed.Open()
	for _, g := range groups {
		for _, v := range g.versions {
			switch {
			case *onlyGroup != "" && *onlyGroup != v.group, *only != "" && !strings.EqualFold(*only, v.name):
			case g.storage && bedErr != nil:
				r.Part, r.Column, r.Row = v.group, v.name, "all"
				r.Skip("every call", bedErr.Error())
			default:
				testVersion(r, bed, v, g.cases)
			}
		}
	}
	r.PrintTables()
	if !r.PrintTotals() {
		os.Exit(1)
	}
}
