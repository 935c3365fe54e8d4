// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"

	"google.golang.org/grpc/codes"
)

// The services of the tests.
const (
	baseService   = "csi-go-base"
	middleService = "csi-go-middle" // depends on base
	besideService = "csi-go-beside" // depends on base as well
	topService    = "csi-go-top"    // depends on both of these
	pausedService = "csi-go-paused" // depends on beside, and is paused
	offService    = "csi-go-off"    // disabled
	brokenService = "csi-go-broken" // cannot be started
	aloneService  = "csi-go-alone"
	deafService   = "csi-go-deaf" // refuses to stop
	guarded       = "kubelet"     // nobody stops it
	noService     = "csi-go-nothing"
)

// States and start types, as Windows numbers them.
const (
	stopped = 1
	running = 4
	paused  = 7

	automatic = 2
	manual    = 3
	disabled  = 4
)

type systemSuite struct{ *suite }

func (s *suite) system() {
	s.Row = "connect"
	y := &systemSuite{s}
	err := y.prepare()
	s.Check("the testbed has services", err)
	if err != nil {
		return
	}
	y.getBIOSSerialNumber()
	y.getService()
	y.startService()
	y.stopService()
	y.stopDependents()
	s.otherServices(systemVersions, "GetBIOSSerialNumber", nil)
	s.Row = "any call"
	s.Check("the testbed puts its services away", y.clear())
}

func (y *systemSuite) clear() error {
	_, err := y.bed.Do("service remove name=all")
	return err
}

func (y *systemSuite) prepare() error {
	err := first(y.bed.Reset(), y.clear())
	for _, words := range []string{
		baseService + " display=The%20base start=manual",
		middleService + " depends=" + baseService,
		besideService + " depends=" + baseService,
		topService + " start=auto depends=" + middleService + "," + besideService,
		offService + " start=disabled",
		brokenService + " fail-start=1067",
		aloneService + " state=running",
		deafService + " state=running refuse-stop",
		guarded + " state=running",
	} {
		if err == nil {
			_, err = y.bed.Do("service add name=%s", words)
		}
	}
	return err
}

// states checks what the service manager says: "NAME=STATE" each.
func (y *systemSuite) states(want ...string) error {
	all, err := y.bed.Records("service list")
	have := map[string]string{}
	for _, service := range all {
		have[strings.ToLower(service["name"])] = service["state"]
	}
	for _, each := range want {
		name, state, _ := strings.Cut(each, "=")
		err = first(err, wantText(name+"="+have[name], name+"="+state))
	}
	return err
}

func in(name string, state int) string { return fmt.Sprintf("%s=%d", name, state) }

func (y *systemSuite) getBIOSSerialNumber() {
	y.Row = "GetBIOSSerialNumber"
	got, err := y.got("GetBIOSSerialNumber", nil)
	y.Check("answers", err)
	if err != nil {
		return
	}
	again, err := y.got("GetBIOSSerialNumber", nil)
	y.Check("the same each time", first(err, wantText(again.text("SerialNumber"), got.text("SerialNumber"))))
}

func (y *systemSuite) getService() {
	y.Row = "GetService"
	service := func(name, display string, start, state int) error {
		got, err := y.got("GetService", y.fieldsOf(name))
		if err != nil {
			return err
		}
		return first(wantText(got.text("DisplayName"), display), wantNumber(got.number("StartType"), int64(start)),
			wantNumber(got.number("Status"), int64(state)))
	}
	y.Check("stopped, manual", service(baseService, "The base", manual, stopped))
	y.Check("in capital letters", service(strings.ToUpper(baseService), "The base", manual, stopped))
	y.Check("running", service(deafService, deafService, manual, running))
	y.Check("disabled", service(offService, offService, disabled, stopped))
	y.Check("automatic", service(topService, topService, automatic, stopped))
	y.badServices("GetService", "failed to get service ")
}

func (y *systemSuite) fieldsOf(name string) fields { return fields{"Name": name} }

// badServices checks what a call refuses as the name of a service.
func (y *systemSuite) badServices(rpc, text string) {
	call := func(name string) error { return y.told(rpc, y.fieldsOf(name)) }
	y.Check("unknown service", refused(call(noService), text+noService))
	for _, bad := range []struct{ name, service string }{
		{"no name", ""},
		{"name for people", "The base"},
		{"quote", "' OR '1'='1"},
		{"wildcard", "csi-go-*"},
		{"path", `csi-go\base`},
		{"slash", "csi-go/base"},
		{"name of 300 bytes", strings.Repeat("n", 300)},
	} {
		y.Check("no service: "+bad.name, refused(call(bad.service), text))
	}
	y.Check("NUL", refused(call(baseService+"\x00"), "NUL"))
	y.Check("2 KiB", refused(call(strings.Repeat("n", 2<<10)), "longer than"))
}

func (y *systemSuite) startService() {
	y.Row = "StartService"
	start := func(name string) error { return y.told("StartService", y.fieldsOf(name)) }
	y.Check("a service", first(start(baseService), y.states(in(baseService, running))))
	y.Check("again", first(start(baseService), y.states(in(baseService, running))))
	y.Skip("what it depends on is started first", "Wine's service manager does not do that")
	y.Check("one that depends on others", first(y.startAll(), y.states(in(topService, running), in(baseService, running))))
	y.Check("disabled", first(refused(start(offService), "failed to "), y.states(in(offService, stopped))))
	y.Check("fails to start", first(y.cannotStart(start(brokenService)), y.states(in(brokenService, stopped))))
	y.badServices("StartService", "failed to get service ")
}

// cannotStart wants an error. Wine says of a service that has failed to start that it has not answered in time.
func (y *systemSuite) cannotStart(err error) error {
	const said = "failed to wait for service " + brokenService + " state change"
	if failed(err, codes.DeadlineExceeded, said) == nil {
		return nil
	}
	return refused(err, said)
}

// startAll starts the services that depend on one another, in their order, as Windows would by itself.
func (y *systemSuite) startAll() error {
	var err error
	for _, name := range []string{baseService, middleService, besideService, topService} {
		err = first(err, y.told("StartService", y.fieldsOf(name)))
	}
	return err
}

// withDependents is a check of services that depend on another. Wine's service manager does not list them; the
// executable with emulated links does.
func (y *systemSuite) withDependents(name string, test func() error) {
	if *noLinks {
		y.Skip(name, "Wine's service manager lists no services that depend on another")
		return
	}
	y.Check(name, test())
}

func (y *systemSuite) stop(name string, force bool) error {
	return y.told("StopService", fields{"Name": name, "Force": force})
}

func (y *systemSuite) stopService() {
	y.Row = "StopService"
	y.withDependents("others depend on it", func() error {
		return first(refused(y.stop(middleService, false), "failed to stop service "+middleService),
			y.states(in(middleService, running), in(topService, running)))
	})
	y.Check("a service", first(y.stop(aloneService, false), y.states(in(aloneService, stopped), in(baseService, running))))
	y.Check("again", first(y.stop(aloneService, false), y.states(in(aloneService, stopped))))
	y.Check("a stopped one, by force", first(y.stop(offService, true), y.states(in(offService, stopped))))
	y.Check("refuses to stop", first(refused(y.stop(deafService, false), "failed to stop service "+deafService),
		y.states(in(deafService, running))))
	for _, force := range []bool{false, true} {
		y.Check(fmt.Sprintf("one that the node needs, force %v", force), first(
			refused(y.stop(guarded, force), guarded), refused(y.stop(strings.ToUpper(guarded), force), ""),
			y.states(in(guarded, running))))
	}
	y.badServices("StopService", "failed to get service ")
}

func (y *systemSuite) pausedDependent() error {
	_, err := y.bed.Do("service add name=%s depends=%s state=paused", pausedService, besideService)
	return err
}

// stopDependents: top depends on middle and beside, both of these on base, and paused on beside. None is started
// once more: Wine's service manager is not always ready for that at once.
func (y *systemSuite) stopDependents() {
	y.Row = "StopService"
	y.withDependents("by force, where one of them refuses", func() error {
		_, err := y.bed.Do("service add name=csi-go-stubborn depends=%s state=running refuse-stop", middleService)
		err = first(err, refused(y.stop(middleService, true), "failed to stop service "+middleService),
			y.states(in(middleService, running)))
		_, removed := y.bed.Do("service remove name=csi-go-stubborn")
		return first(err, removed)
	})
	y.withDependents("by force, with all that depend on it", func() error {
		return first(y.pausedDependent(), y.states(in(pausedService, paused)), y.stop(baseService, true),
			y.states(in(baseService, stopped), in(middleService, stopped), in(besideService, stopped),
				in(topService, stopped), in(pausedService, stopped)))
	})
	y.Check("one that nobody depends on, by force", first(y.stop(topService, true), y.states(in(topService, stopped))))
}
