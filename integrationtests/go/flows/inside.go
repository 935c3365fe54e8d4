// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// insideCall is the column of a service that dies in the middle of an RPC, while a system call is under way.
const insideCall = "inside"

// changing has the device calls that change something. Each is held up before it has an effect, and then the
// service is killed: so it dies between any two changes. Of calls to the network there are few: it dies in all.
var changing = map[string]bool{
	"DISK_SET_DISK_ATTRIBUTES": true, "DISK_CREATE_DISK": true, "DISK_SET_DRIVE_LAYOUT_EX": true,
	"DISK_UPDATE_PROPERTIES": true, "DISK_ARE_VOLUMES_READY": true, "DISK_GROW_PARTITION": true, "WRITE": true,
	"FLUSH": true, "VOLUME_ONLINE": true, "FSCTL_EXTEND_VOLUME": true, "FSCTL_DISMOUNT_VOLUME": true,
	"MOUNTMGR_VOLUME_MOUNT_POINT_CREATED": true, "MOUNTMGR_VOLUME_MOUNT_POINT_DELETED": true,
}

// systemCall is the nth of its name in a phase.
type systemCall struct {
	name string
	nth  int64
	to   layer
}

// prefix is what the testbed's commands about a layer begin with.
func (l layer) prefix() string {
	if l == network {
		return "network "
	}
	return ""
}

// counts is how often each system call was made, with their names in an order that is always the same.
type counts struct {
	names []string
	of    map[string]int64
}

func (r *runner) counts(of layer) (counts, error) {
	records, err := r.bed.Records(of.prefix() + "counters")
	all := counts{of: map[string]int64{}}
	for _, record := range records {
		name := record["call"]
		if _, known := all.of[name]; !known {
			all.names = append(all.names, name)
		}
		all.of[name] += record.Number("count")
	}
	return all, err
}

// callsOf runs a phase plainly and returns the system calls that it makes in the flow's layer; of many of one
// name the first and the last two.
func (r *runner) callsOf(p phase) ([]systemCall, error) {
	if err := p.before(); err != nil {
		return nil, err
	}
	to := r.flow.inside
	if to == devices { // which take their counts with them when they go
		if _, err := r.bed.Do("counters reset"); err != nil {
			return nil, err
		}
	}
	before, err := r.counts(to)
	if err = then(err, r.wholly(p.do)); err != nil {
		return nil, err
	}
	after, err := r.counts(to)
	var calls []systemCall
	for _, name := range after.names {
		if to == devices && !changing[name] {
			continue
		}
		total := after.of[name] - before.of[name]
		for nth := int64(1); nth <= total; nth++ {
			if nth == 1 || nth > total-2 {
				calls = append(calls, systemCall{name, nth, to})
			}
		}
	}
	return calls, err
}

// inside kills the service in the middle of a phase, once at each of these calls.
func (r *runner) inside(all []phase) {
	for _, p := range all {
		r.Column, r.Row = insideCall, p.name
		if r.service == nil {
			r.Skip("ends well", "the service was not started by this program")
			continue
		}
		calls, err := r.callsOf(p)
		if err != nil {
			r.Check("can be counted", err)
			return
		}
		for _, call := range calls {
			r.Row = fmt.Sprintf("%s: %s %d", p.name, call.name, call.nth)
			switch err := r.killedAt(p, call); {
			case errors.Is(err, errNotMade):
				r.Skip("ends well", err.Error())
			default:
				r.Check("ends well", err)
			}
		}
		r.Row = p.name
		r.Check("begins anew for the next phase", then(p.before(), r.wholly(p.do), p.after))
	}
}

// errNotMade: how often a call is made depends on how fast disks and volumes come.
var errNotMade = errors.New("the call was made fewer times than before")

// killedAt kills the service while it makes a call, and has the driver begin the phase again.
func (r *runner) killedAt(p phase, call systemCall) error {
	if err := p.before(); err != nil {
		return fmt.Errorf("before: %w", err)
	}
	marked := r.place.holdsData()
	if marked {
		if err := r.place.mark(); err != nil {
			return err
		}
	}
	err := r.hangAndKill(p.do, call)
	if err == nil {
		err = r.again(r.untold(p, call))
	}
	if err == nil && marked {
		err = r.place.marked()
	}
	return err
}

// hangAndKill begins a phase, kills the service when it makes the call, and starts it again.
func (r *runner) hangAndKill(do func() error, call systemCall) error {
	begun, err := r.counts(call.to)
	if err == nil {
		_, err = r.bed.Do("%sfault add call=%s nth=%d hang", call.to.prefix(), call.name, call.nth)
	}
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() {
		_, err := r.node.run(do, 0)
		ended <- err
	}()
	hit, err := r.waitForHang(ended, call, begun.of[call.name]+call.nth)
	if hit {
		r.service.kill()
		err = <-ended
	}
	if _, clearErr := r.bed.Do(call.to.prefix() + "fault clear"); clearErr != nil {
		return clearErr
	}
	switch {
	case !hit && err == nil:
		return errNotMade
	case !hit:
		return err
	case status.Code(err) != codes.Unavailable:
		err = fmt.Errorf("the phase was not interrupted, but ended with %v", err)
	default:
		err = nil
	}
	return first(r.service.start(), r.reopen(), err)
}

// hangs tells whether the fault has been taken: that of a device is listed no more, and a call to the network
// has been counted for the last time.
func (r *runner) hangs(call systemCall, count int64) (bool, error) {
	if call.to == network {
		now, err := r.counts(network)
		return now.of[call.name] >= count, err
	}
	faults, err := r.bed.Do("fault list")
	return strings.TrimSpace(faults) == "", err
}

// waitForHang returns whether the call hangs, or the phase has ended without making it.
func (r *runner) waitForHang(ended <-chan error, call systemCall, count int64) (bool, error) {
	for deadline := time.Now().Add(callLimit); ; {
		select {
		case err := <-ended:
			return false, err
		case <-time.After(5 * time.Millisecond):
		}
		if hangs, err := r.hangs(call, count); err != nil || hangs {
			return true, err
		}
		if time.Now().After(deadline) {
			return false, errors.New("neither does the phase end, nor is the call made")
		}
	}
}

// untold leaves out the check of what the mount manager knows, when it was not told: the folder is mounted, or
// is not, all the same, and the driver, which sees that, asks for nothing more.
func (r *runner) untold(p phase, call systemCall) phase {
	switch call.name {
	case "MOUNTMGR_VOLUME_MOUNT_POINT_CREATED":
		p.after = nothing
	case "MOUNTMGR_VOLUME_MOUNT_POINT_DELETED":
		p.after = r.scene.removeStaging
	}
	return p
}

// reopen connects the driver anew, as a new driver does: gRPC by itself would wait for a second.
func (r *runner) reopen() error {
	r.driver.close()
	var err error
	r.driver, err = r.flow.open(r.node)
	return err
}
