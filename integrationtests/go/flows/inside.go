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

// insideCall is the column of a service that dies in the middle of an RPC, while a device call is under way.
const insideCall = "inside"

// changing has the device calls that change something. Each is held up before it has an effect, and then the
// service is killed: so it dies between any two changes.
var changing = map[string]bool{
	"DISK_SET_DISK_ATTRIBUTES": true, "DISK_CREATE_DISK": true, "DISK_SET_DRIVE_LAYOUT_EX": true,
	"DISK_UPDATE_PROPERTIES": true, "DISK_ARE_VOLUMES_READY": true, "DISK_GROW_PARTITION": true, "WRITE": true,
	"FLUSH": true, "VOLUME_ONLINE": true, "FSCTL_EXTEND_VOLUME": true, "FSCTL_DISMOUNT_VOLUME": true,
	"MOUNTMGR_VOLUME_MOUNT_POINT_CREATED": true, "MOUNTMGR_VOLUME_MOUNT_POINT_DELETED": true,
}

// deviceCall is the nth of its name in a phase.
type deviceCall struct {
	name string
	nth  int64
}

// changesOf runs a phase plainly and returns the device calls by which it changes something; of many of one
// name the first and the last two.
func (r *runner) changesOf(p phase) ([]deviceCall, error) {
	if err := p.before(); err != nil {
		return nil, err
	}
	if _, err := r.scene.bed.Do("counters reset"); err != nil {
		return nil, err
	}
	if err := r.whole(p.do); err != nil {
		return nil, err
	}
	counters, err := r.scene.bed.Records("counters")
	total := map[string]int64{}
	var names []string
	for _, counter := range counters {
		name := counter["call"]
		if changing[name] && total[name] == 0 {
			names = append(names, name)
		}
		total[name] += counter.Number("count")
	}
	var calls []deviceCall
	for _, name := range names {
		for nth := int64(1); nth <= total[name]; nth++ {
			if nth == 1 || nth > total[name]-2 {
				calls = append(calls, deviceCall{name, nth})
			}
		}
	}
	return calls, err
}

// inside kills the service in the middle of a phase, once at each of its changes.
func (r *runner) inside(all []phase) {
	for _, p := range all {
		r.Column, r.Row = insideCall, p.name
		if r.service == nil {
			r.Skip("ends well", "the service was not started by this program")
			continue
		}
		calls, err := r.changesOf(p)
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

// errNotMade: how often a device call is made depends on how fast volumes come.
var errNotMade = errors.New("the device call was made fewer times than before")

// killedAt kills the service while it makes a device call, and has the driver begin the phase again.
func (r *runner) killedAt(p phase, call deviceCall) error {
	if err := p.before(); err != nil {
		return fmt.Errorf("before: %w", err)
	}
	marked := r.scene.formatted()
	if marked {
		if err := r.scene.mark(); err != nil {
			return err
		}
	}
	err := r.hangAndKill(p.do, call)
	if err == nil {
		err = r.again(r.untold(p, call))
	}
	if err == nil && marked {
		err = r.scene.marked()
	}
	return err
}

// hangAndKill begins a phase, kills the service when it makes the device call, and starts it again.
func (r *runner) hangAndKill(do func() error, call deviceCall) error {
	bed := r.scene.bed
	if _, err := bed.Do("fault add call=%s nth=%d hang", call.name, call.nth); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() {
		_, err := r.node.run(do, 0)
		ended <- err
	}()
	hit, err := r.waitForHang(ended)
	if hit {
		r.service.kill()
		err = <-ended
	}
	if _, clearErr := bed.Do("fault clear"); clearErr != nil {
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

// waitForHang returns whether a device call hangs, or the phase has ended without making it.
func (r *runner) waitForHang(ended <-chan error) (bool, error) {
	for deadline := time.Now().Add(callLimit); ; {
		select {
		case err := <-ended:
			return false, err
		case <-time.After(5 * time.Millisecond):
		}
		faults, err := r.scene.bed.Do("fault list")
		if err != nil || strings.TrimSpace(faults) == "" {
			return true, err
		}
		if time.Now().After(deadline) {
			return false, errors.New("neither does the phase end, nor is the device call made")
		}
	}
}

// untold leaves out the check of what the mount manager knows, when it was not told: the folder is mounted, or
// is not, all the same, and the driver, which sees that, asks for nothing more.
func (r *runner) untold(p phase, call deviceCall) phase {
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
	r.driver, err = r.scene.flow.open(r.node)
	return err
}
