// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"csi-proxy/integrationtests/report"
	"csi-proxy/integrationtests/testbed"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// How a phase is interrupted; columns of the table.
const (
	plain         = "plain"   // not at all
	driverCrashes = "driver"  // the driver dies after a call, and a new one begins the phase again
	serviceDies   = "service" // the service dies after a call, and the driver begins the phase again
)

// phase is one call of the kubelet to a driver.
type phase struct {
	name   string
	before func() error // brings about what the phase starts from, from whatever was before
	do     func() error
	after  func() error // checks how things must be afterwards
	// afterPlain checks, before after, what holds only when nothing was interrupted; may be nil.
	afterPlain func() error
	// empties: the phase is there to remove what is on the volume.
	empties bool
	// deadEnd tells why the driver cannot go on from this error, when that is its own doing; may be nil.
	// byHand is what a person does then.
	deadEnd func(err error) string
	byHand  func() error
}

// place is what a flow plays on, with a user's data.
type place interface {
	// holdsData tells whether there is anything that a user can have data on.
	holdsData() bool
	mark() error
	marked() error
}

// runner works off the phases of one flow.
type runner struct {
	*report.Report
	*node
	bed     *testbed.Bed
	flow    flow
	place   place
	scene   *scene      // the same, where volumes are disks
	shares  *shareScene // the same, where they are shares
	service *service    // nil: the service is not ours to restart
	driver  driver
}

// disks is the driver of a flow whose volumes are disks.
func (r *runner) disks() diskDriver { return r.driver.(diskDriver) }

// wineCannotStart is Wine 8 failing to start the process that formats, once in some hundred times; the Win32
// error is ERROR_INTERNAL_ERROR.
const wineCannotStart = "Win32 error 1359 in CreateProcessW"

// whole runs a phase to its end. After the service was restarted the first call may still meet the old
// connection; the kubelet simply calls again.
func (r *runner) whole(do func() error) error {
	var err error
	for try := 0; try < 20; try++ {
		if _, err = r.node.run(do, 0); err == nil {
			break
		}
		switch {
		case strings.Contains(err.Error(), wineCannotStart):
			fmt.Println("# once more:", err)
		case status.Code(err) != codes.Unavailable:
			return err
		}
		time.Sleep(50 * time.Millisecond)
	}
	return err
}

// changes has the calls that change something. After any other a service that dies leaves what it leaves after
// the last of these.
var changes = map[string]bool{
	"PartitionDisk": true, "SetDiskState": true, "SetAttachState": true, "FormatVolume": true, "MountVolume": true,
	"UnmountVolume": true, "DismountVolume": true, "ResizeVolume": true, "Mkdir": true, "Rmdir": true,
	"RmdirContents": true, "CreateSymlink": true, "LinkPath": true, "NewSmbGlobalMapping": true,
	"RemoveSmbGlobalMapping": true, "AddTargetPortal": true, "RemoveTargetPortal": true, "ConnectTarget": true,
	"DisconnectTarget": true,
}

// phases runs each phase plainly and then interrupted after each of its calls.
func (r *runner) phases(all []phase) {
	for _, p := range all {
		calls, ok := r.plain(p)
		if !ok {
			return // what follows would fail for the same reason
		}
		for k, call := range calls {
			r.Row = fmt.Sprintf("%s %2d %s", p.name, k+1, call)
			r.interrupted(p, driverCrashes, k+1)
			if r.flow.restarts && changes[call] {
				r.interrupted(p, serviceDies, k+1)
			}
		}
	}
}

func (r *runner) plain(p phase) (calls []string, ok bool) {
	r.Column, r.Row = plain, p.name
	err := p.before()
	if err == nil {
		err = r.whole(p.do)
		calls = append(calls, r.calls...)
	}
	if err == nil && p.afterPlain != nil {
		err = p.afterPlain()
	}
	if err == nil {
		err = p.after()
	}
	if err != nil {
		err = fmt.Errorf("after %s: %w", strings.Join(r.calls, ", "), err)
	}
	r.Check("ends well", err)
	return calls, err == nil
}

func (r *runner) interrupted(p phase, how string, after int) {
	r.Column = how
	if how == serviceDies && r.service == nil {
		r.Skip("ends well", "the service was not started by this program")
		return
	}
	if err := p.before(); err != nil {
		r.Check("can begin", err)
		return
	}
	crashed, err := r.node.run(p.do, after)
	if !crashed {
		r.Check("makes the same calls", fmt.Errorf("only %s: %v", strings.Join(r.calls, ", "), err))
		return
	}
	marked := r.place.holdsData() && !p.empties
	if marked {
		err = r.place.mark()
	}
	if err == nil && how == serviceDies {
		err = r.service.restart()
	}
	if err != nil {
		r.Check("can be interrupted", err)
		return
	}
	err = r.again(p)
	if err == nil && marked {
		err = r.place.marked()
	}
	r.Check("ends well", err)
}

// again runs a phase that was interrupted, with a person's help where the driver cannot do without.
func (r *runner) again(p phase) error {
	err := r.whole(p.do)
	if err != nil && p.deadEnd != nil {
		if why := p.deadEnd(err); why != "" {
			r.Skip("ends well by itself", why)
			if err = p.byHand(); err == nil {
				err = r.whole(p.do)
			}
		}
	}
	if err == nil {
		err = p.after()
	}
	return err
}

// csiPhases are the phases of a CSI driver, in the order of a pod's life.
func (r *runner) csiPhases() []phase {
	s, v := r.scene, &r.scene.volume
	return []phase{
		{name: "stage", before: r.fresh, do: r.stage, after: s.staged, deadEnd: halfFormatted, byHand: r.fresh},
		{name: "publish", before: func() error { return then(r.whole(r.unpublish), s.makeTarget) }, do: r.publish,
			after: func() error { return r.statsAre(s.expectedBytes) }},
		{name: "stats", before: nothing, do: func() error { _, err := r.disks().stats(*v); return err }, after: s.staged},
		{name: "expand", before: s.grow, do: func() error { return r.disks().expand(*v) },
			after: func() error { return then(s.expanded(), func() error { return r.statsAre(s.expectedBytes) }) }},
		{name: "unpublish", before: func() error { return then(r.whole(r.unpublish), s.makeTarget, r.wholly(r.publish)) },
			do: r.unpublish, after: func() error { return then(gone(normalized(v.target)), s.staged) }},
		{name: "unstage", before: func() error { return then(s.renew(), s.makeStaging, r.wholly(r.stage), s.staged) },
			do: r.unstage, afterPlain: func() error { return s.unstagedWhole(r.disks().leavesOffline()) }, after: s.unstaged,
			deadEnd: stuckOnPlainFolder, byHand: s.removeStaging},
	}
}

func (r *runner) stage() error     { return r.driver.stage(r.scene.volume) }
func (r *runner) publish() error   { return r.driver.publish(r.scene.volume) }
func (r *runner) unpublish() error { return r.driver.unpublish(r.scene.volume) }
func (r *runner) unstage() error   { return r.driver.unstage(r.scene.volume) }

// wholly is whole as a step.
func (r *runner) wholly(do func() error) func() error { return func() error { return r.whole(do) } }

// fresh attaches an empty disk in place of the one that was there.
func (r *runner) fresh() error {
	var err error
	if _, absent := r.scene.bed.Disk(r.scene.disk); absent == nil {
		err = then(r.whole(r.unstage), r.scene.detachIfThere)
	}
	return then(err, r.scene.attach, r.scene.makeStaging)
}

// replugged is a disk that vanishes while a pod uses it and comes back, as after a hard reset of the node.
func (r *runner) replugged() {
	s := r.scene
	target := normalized(s.volume.target)
	r.Column, r.Row = plain, "replug"
	r.Check("staged again, with its data, after the disk was away", then(
		s.makeStaging(), r.wholly(r.stage), s.makeTarget, r.wholly(r.publish), s.mark,
		s.detach, r.wholly(r.unpublish), func() error { return gone(target) },
		s.replug, s.makeStaging, r.wholly(r.stage), func() error { return eventually(s.marked) },
		s.makeTarget, r.wholly(r.publish), func() error { return r.statsAre(s.expectedBytes) }))
	r.Check("cleared away", then(r.whole(r.unpublish), r.wholly(r.unstage),
		func() error { return s.unstagedWhole(r.disks().leavesOffline()) }, s.unstaged))
}

func nothing() error { return nil }

// statsAre checks the size that the driver reports to the kubelet.
func (r *runner) statsAre(want func() (int64, error)) error {
	var got int64
	err := r.whole(func() error {
		var err error
		got, err = r.disks().stats(r.scene.volume)
		return err
	})
	if err != nil {
		return fmt.Errorf("stats: %w", err)
	}
	expected, err := want()
	if err == nil && (got > expected || got < expected-1<<20) {
		err = fmt.Errorf("stats: the driver reports %d bytes, the volume has %d", got, expected)
	}
	return err
}

func gone(path string) error {
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("%s is still there", path)
	}
	return nil
}

// halfFormatted: what a format left that died before its end may look like a damaged file system. It is not
// formatted again without a person's word.
func halfFormatted(err error) string {
	if strings.Contains(err.Error(), "formatting would destroy it") {
		return "a format that died in the middle left what looks like a file system; a person has to clear the disk"
	}
	return ""
}

// stuckOnPlainFolder: two drivers give up for good when the staging path is a plain folder, which is so when
// they die between UnmountVolume and Rmdir.
func stuckOnPlainFolder(err error) string {
	if strings.Contains(err.Error(), "not a mounted folder") {
		return "this driver never gets past a staging folder that is mounted no more; the folder is removed by hand"
	}
	return ""
}
