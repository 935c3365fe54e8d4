// SPDX-License-Identifier: Apache-2.0

// flows plays the CSI drivers that use csi-proxy: it makes the calls that each makes for a volume, in their
// order, with the unmodified Go client, and reads the answers and error texts as the driver does. Each phase
// of a volume's life is then repeated with the driver, and with the service, dying after each of its calls:
// the same phase from the beginning must end well. What drivers do in their own process is left out: listing
// folders and asking for free space need mounted file systems, which Wine does not have. Links are read where
// the executable with emulated links keeps them.
//
// It runs on the testbed (integrationtests/testbed), on the profile of each driver's platform.
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"csi-proxy/integrationtests/report"
	"csi-proxy/integrationtests/testbed"
)

var (
	serviceExe = flag.String("service", "", "csi-proxy, to be started and made to crash; empty = it is running already")
	profiles   = flag.String("profiles", "", "directory with the profiles of the testbed")
	only       = flag.String("flow", "", "only the flows whose name contains this")
)

// layer is where system calls go to.
type layer int

const (
	neither layer = iota
	devices       // the driver of the testbed: those that change something
	network       // the DLLs of the network testbed: all
)

// flow is one driver on one platform.
type flow struct {
	name    string
	profile string
	disk    uint32   // which disk of the profile
	words   []string // how it is plugged in, besides what the profile says
	// restarts: the service dies as well; not in all flows, because it takes long.
	restarts bool
	// inside: it also dies in the middle of these calls; in the flows that make most of them.
	inside layer
	open   func(*node) (driver, error)
	// overISCSI: the disk is the LUN of a target, and there while somebody is connected to that.
	overISCSI bool
}

func (f flow) folder() string { return strings.ReplaceAll(f.name, " ", "-") }

var flows = []flow{
	{"azuredisk on SCSI", "azure-scsi", 3, nil, true, neither, openAzureDisk, false},
	{"azuredisk on NVMe, slow volumes", "azure-nvme", 2, []string{"volume-delay=100"}, false, neither, openAzureDisk, false},
	{"azuredisk, offline read-only disk", "azure-scsi", 4, []string{"offline", "readonly"}, false, neither, openAzureDisk, false},
	{"EBS on Nitro", "ebs-nvme", 2, nil, true, devices, openEBS, false},
	{"EBS on Xen, read-only disk", "ebs-xen", 1, []string{"readonly"}, false, neither, openEBS, false},
	{"GCE PD on SCSI", "gce-scsi", 1, nil, true, neither, openGCE, false},
	{"GCE PD on NVMe by serial, offline disk", "gce-nvme", 1, []string{"offline", "readonly"}, false, neither, openGCE, false},
	{"GCE PD on NVMe by page 83", "gce-nvme", 2, []string{"volume-delay=100"}, false, neither, openGCE, false},
	{"GCE PD, beta APIs", "gce-scsi", 2, []string{"offline"}, false, neither, openGCEBeta, false},
	{"vSphere", "vsphere", 1, nil, false, neither, openVSphere, false},
	{"Longhorn over iSCSI", "iscsi", 1, []string{"volume-delay=50"}, true, network, openLonghorn, true},
}

// shareFlows have shares as volumes.
var shareFlows = []flow{
	{name: "azurefile", restarts: true, inside: network, open: openAzureFile},
	{name: "csi-driver-smb", restarts: true, inside: network, open: openSMB},
	{name: "Trident", restarts: true, open: openTrident},
}

// inPodsLife plays one flow from attach to detach.
func inPodsLife(r *runner, f flow) error {
	var err error
	if r.driver, err = f.open(r.node); err != nil {
		return err
	}
	defer func() { r.driver.close() }()
	if vsphere, is := r.driver.(vsphere); is {
		r.Column, r.Row = plain, "start"
		r.Check("reads the serial number of the machine", vsphere.sameSerial())
	}
	phases := r.csiPhases()
	r.phases(phases)
	r.replugged()
	if f.inside != neither {
		r.inside(phases)
	}
	return r.scene.detach()
}

// sharesLife plays one flow from the first mount of a share to the last unmount.
func sharesLife(r *runner) error {
	var err error
	if r.driver, err = r.flow.open(r.node); err != nil {
		return err
	}
	defer func() { r.driver.close() }()
	phases := r.sharePhases()
	r.phases(phases)
	if r.flow.inside != neither {
		r.inside(phases)
	}
	return r.shares.clear()
}

func localProvisioner(r *runner) error {
	d, err := openLocal(r.node)
	if err != nil {
		return err
	}
	defer d.close()
	err = then(r.scene.attach(), func() error { return d.prepare(r.scene.disk) })
	if err == nil {
		r.phases(r.localPhases(d))
		r.Column, r.Row = plain, "release by link"
		if err := r.whole(func() error { return d.release(d.hostPath) }); err != nil {
			r.Skip("empties the volume", "this service refuses to empty what a link leads to: "+err.Error())
		} else {
			r.Check("empties the volume", nil)
		}
		r.Column, r.Row = plain, "remove"
		r.Check("ends well", d.remove())
		err = r.scene.detach()
	}
	return err
}

// onDisks and onShares set the scene of a flow.
func onDisks(r *runner) error {
	var err error
	r.scene, err = newScene(r.bed, r.flow, *profiles)
	r.place = r.scene
	return err
}

func onShares(r *runner) error {
	var err error
	r.shares, err = newShareScene(r.bed, r.flow)
	r.place = r.shares
	return err
}

func play(all *report.Report, bed *testbed.Bed, running *service, f flow, set, run func(*runner) error) {
	if !strings.Contains(f.name, *only) {
		return
	}
	all.Part, all.Column, all.Row = f.name, plain, "scene"
	begun := time.Now()
	r := &runner{Report: all, node: &node{}, bed: bed, flow: f, service: running}
	err := set(r)
	if err == nil {
		err = run(r)
	}
	all.Column, all.Row = plain, "scene"
	if err != nil {
		all.Check("can be set up", err)
	}
	fmt.Printf("# %s: %.1f s\n", f.name, time.Since(begun).Seconds())
}

func main() {
	flag.Parse()
	all := &report.Report{}
	bed, err := testbed.Open()
	var running *service
	if err == nil {
		err = testbed.RemoveTree(`C:` + kubelet + `plugins\kubernetes.io\csi`)
	}
	if err == nil && *serviceExe != "" {
		running = &service{exe: *serviceExe}
		err = running.start()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "flows:", err)
		os.Exit(1)
	}
	for _, f := range flows {
		f := f
		play(all, bed, running, f, onDisks, func(r *runner) error { return inPodsLife(r, f) })
	}
	play(all, bed, running, flow{name: "local static provisioner", profile: "hyperv-vhd", disk: 2, restarts: true}, onDisks,
		localProvisioner)
	for _, f := range shareFlows {
		play(all, bed, running, f, onShares, sharesLife)
	}
	if running != nil {
		running.kill()
	}
	fmt.Println("\nplain: not interrupted; driver, service: that one dies after the call, and the phase begins again;" +
		"\nthe service dies after calls that change something, in some flows" +
		"\ninside: it dies in the middle of an RPC, while it makes this device call, or call to a DLL of the network")
	all.PrintTables()
	ok := all.PrintTotals()
	if !ok && running != nil {
		fmt.Printf("the service said at last:\n%s\n", running.log)
	}
	if err := bed.Reset(); err != nil || !ok {
		os.Exit(1)
	}
}
