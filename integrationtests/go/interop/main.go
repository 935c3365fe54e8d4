// SPDX-License-Identifier: Apache-2.0

// interop calls every RPC of every version of every group through the published Go client of the original
// csi-proxy, with good and bad input, and prints what each answered. It runs on the node of the service, whose
// kubelet path must be the default. Disks, volumes, shares, targets and services are those of the testbed; a
// real one is never touched.
package main

import (
	"errors"
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
	s := &suite{Report: r, caller: caller{v, client}, bed: bed, dir: dir}
	for _, rpc := range s.rpcs() {
		calls.Publish(v.group, v.name, rpc)
	}
	cases(s)
	s.noMessages()
}

// needs says what of the testbed a group is tested on.
type needs int

const (
	nothing needs = iota
	disks         // the driver
	network       // shares, targets and services as well
)

// missing returns why a group cannot be tested here.
func (n needs) missing(bed *testbed.Bed, bedErr error) error {
	switch {
	case n == nothing:
		return nil
	case bedErr != nil:
		return bedErr
	case n == network && *original:
		return errors.New("the original uses classes of WMI that this system does not have")
	case n == network && !bed.HasNetwork():
		return testbed.ErrNoNetwork
	}
	return nil
}

// groups has all API groups.
var groups = []struct {
	name     string
	versions []version
	needs    needs
	cases    func(*suite)
}{
	{"filesystem", filesystemVersions, nothing, (*suite).filesystem},
	{"disk", diskVersions, disks, (*suite).disk},
	{"volume", volumeVersions, disks, (*suite).volume},
	{"smb", smbVersions, network, (*suite).smb},
	{"iscsi", iscsiVersions, network, (*suite).iscsi},
	{"system", systemVersions, network, (*suite).system},
}

// publishedRPCs is how many there are in all versions of all groups.
const publishedRPCs = 139

// printCalls prints which RPCs were called, and whether each was with good and bad input. All have to be when
// everything was tested that this release of the client has.
func printCalls(r *report.Report, everything bool) {
	calls.PrintTables()
	both, all, rest := calls.Complete()
	fmt.Printf("\n%d of %d RPC entries called with good and bad input", both, publishedRPCs)
	if all != publishedRPCs {
		fmt.Printf("; %d could be, with this client and here", all)
	}
	fmt.Println()
	if !everything {
		return
	}
	r.Part, r.Column, r.Row = "all", "all", "calls"
	var err error
	if len(rest) > 0 {
		err = fmt.Errorf("not so: %s", strings.Join(rest, ", "))
	}
	r.Check("every RPC was called with good and bad input", err)
}

func main() {
	flag.Parse()
	r := &report.Report{}
	fmt.Printf("client %s, gRPC %s\n", moduleVersion("github.com/kubernetes-csi/csi-proxy/client"),
		moduleVersion("google.golang.org/grpc"))
	bed, bedErr := testbed.Open()
	everything := !*noLinks && *onlyGroup == "" && *only == ""
	for _, g := range groups {
		if *onlyGroup != "" && *onlyGroup != g.name {
			continue
		}
		if len(g.versions) == 0 {
			r.Part, r.Column, r.Row = g.name, "none", "all"
			r.Skip("every call", "this release of the client does not have the group")
		}
		for _, v := range g.versions {
			missing := g.needs.missing(bed, bedErr)
			switch {
			case *only != "" && !strings.EqualFold(*only, v.name):
			case missing != nil:
				r.Part, r.Column, r.Row = v.group, v.name, "all"
				r.Skip("every call", missing.Error())
				everything = false
			default:
				testVersion(r, bed, v, g.cases)
			}
		}
	}
	r.PrintTables()
	printCalls(r, everything)
	if !r.PrintTotals() {
		os.Exit(1)
	}
}
