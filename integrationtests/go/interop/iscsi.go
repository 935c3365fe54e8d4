// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"csi-proxy/integrationtests/testbed"
)

// The targets of the tests. Addresses are those that RFC 5737 has set aside; secrets stand in no error.
const (
	iscsiAddress  = "192.0.2.10"
	otherAddress  = "192.0.2.20"
	nobodyAddress = "198.51.100.1"
	iscsiPort     = 3260
	otherPort     = 3261

	plainTarget  = "iqn.2025-01.test.storage:plain"
	chapTarget   = "iqn.2025-01.test.storage:chap"
	mutualTarget = "iqn.2025-01.test.storage:mutual" // at the other portal
	noTarget     = "iqn.2025-01.test.storage:nothing"

	chapUser     = "initiator-1"
	chapSecret   = "s3cr3t-s3cr3t"
	mutualSecret = "mutual-s3cr3t"
	wrongSecret  = "wr0ng-wr0ng-w"

	plainLUN  = uint32(81)
	chapLUN   = uint32(82)
	mutualLUN = uint32(83)
)

const (
	authNone = iota
	authOneWay
	authMutual
)

type iscsiSuite struct{ *suite }

func (s *suite) iscsi() {
	s.Row = "connect"
	i := &iscsiSuite{s}
	err := i.prepare()
	s.Check("the testbed has targets", err)
	if err != nil {
		return
	}
	i.portals()
	i.badPortals()
	i.connect()
	i.chap()
	if s.has("SetMutualChapSecret") {
		i.mutualChap()
	}
	i.targetDisks()
	i.disconnect()
	i.badTargets()
	i.removePortal()
	i.withoutInitiator()
	s.otherServices(iscsiVersions, "ListTargetPortals", nil)
	s.Row = "any call"
	s.Check("the testbed puts its targets away", s.bed.Reset())
}

func (i *iscsiSuite) prepare() error {
	do := func(format string, arguments ...interface{}) error {
		_, err := i.bed.Do(format, arguments...)
		return err
	}
	lun := func(iqn string, number uint32) error {
		file, err := i.bed.NewFile(number)
		return first(err, do("target lun iqn=%s number=%d size=64M bus=iscsi file=%s", iqn, number, testbed.Escape(file)))
	}
	return first(
		do("target add iqn=%s portal=%s:%d", plainTarget, iscsiAddress, iscsiPort), lun(plainTarget, plainLUN),
		do("target add iqn=%s portal=%s:%d chap-user=%s chap-secret=%s", chapTarget, iscsiAddress, iscsiPort, chapUser,
			chapSecret), lun(chapTarget, chapLUN),
		do("target add iqn=%s portal=%s:%d chap-user=%s chap-secret=%s mutual-secret=%s", mutualTarget, otherAddress,
			otherPort, chapUser, chapSecret, mutualSecret), lun(mutualTarget, mutualLUN))
}

func portal(address string, port int) fields {
	return fields{"TargetAddress": address, "TargetPort": uint32(port)}
}

var (
	iscsiPortal  = portal(iscsiAddress, iscsiPort)
	otherPortal  = portal(otherAddress, otherPort)
	nobodyPortal = portal(nobodyAddress, iscsiPort)
)

// at makes an RPC about a portal.
func (i *iscsiSuite) at(rpc string, portal fields) error {
	return i.told(rpc, fields{"TargetPortal": portal})
}

// on makes an RPC about a target.
func (i *iscsiSuite) on(rpc string, portal fields, iqn string) error {
	return i.told(rpc, fields{"TargetPortal": portal, "Iqn": iqn})
}

func (i *iscsiSuite) login(portal fields, iqn string, auth int, user, secret string) error {
	return i.told("ConnectTarget", fields{"TargetPortal": portal, "Iqn": iqn, "AuthType": auth, "ChapUsername": user,
		"ChapSecret": secret})
}

// said is how an error names a portal.
func said(address string, port int) string { return fmt.Sprintf("(%s:%d)", address, port) }

func (i *iscsiSuite) listed(want ...string) error {
	got, err := i.got("ListTargetPortals", nil)
	if err != nil {
		return err
	}
	var listed []string
	for _, portal := range got.list("TargetPortals") {
		listed = append(listed, fmt.Sprintf("%s:%d", portal.text("TargetAddress"), portal.number("TargetPort")))
	}
	return wantText(strings.Join(listed, " "), strings.Join(want, " "))
}

func (i *iscsiSuite) discovered(portal fields, want ...string) error {
	got, err := i.got("DiscoverTargetPortal", fields{"TargetPortal": portal})
	if err != nil {
		return err
	}
	return wantText(strings.Join(got.texts("Iqns"), " "), strings.Join(want, " "))
}

// sessions returns how many a target has.
func (i *iscsiSuite) sessions(iqn string, want int) error {
	all, err := i.bed.Records("session list")
	count := 0
	for _, session := range all {
		if strings.EqualFold(session["iqn"], iqn) {
			count++
		}
	}
	return first(err, wantNumber(int64(count), int64(want)))
}

func (i *iscsiSuite) authenticated(iqn, how string) error {
	all, err := i.bed.Records("session list")
	for _, session := range all {
		if strings.EqualFold(session["iqn"], iqn) {
			return wantText(session["auth"], how)
		}
	}
	return first(err, fmt.Errorf("there is no session with %s", iqn))
}

func (i *iscsiSuite) portals() {
	at := fmt.Sprintf("%s:%d", iscsiAddress, iscsiPort)
	other := fmt.Sprintf("%s:%d", otherAddress, otherPort)
	i.Row = "ListTargetPortals"
	i.Check("none", i.listed())
	i.Row = "DiscoverTargetPortal"
	i.Check("a portal that is not registered, as Longhorn asks for it", refused(i.discovered(iscsiPortal),
		"error list targets by target portal at "+said(iscsiAddress, iscsiPort)+". err: "))
	i.Row = "AddTargetPortal"
	i.Check("without a port it is 3260", i.at("AddTargetPortal", portal(iscsiAddress, 0)))
	i.Check("again", i.at("AddTargetPortal", iscsiPortal))
	i.Check("another", i.at("AddTargetPortal", otherPortal))
	i.Row = "ListTargetPortals"
	i.Check("two", i.listed(at, other))
	i.Row = "DiscoverTargetPortal"
	i.Check("its targets", i.discovered(iscsiPortal, plainTarget, chapTarget))
	i.Check("without a port it is 3260", i.discovered(portal(iscsiAddress, 0), plainTarget, chapTarget))
	i.Check("the other's", i.discovered(otherPortal, mutualTarget))
	i.Row = "AddTargetPortal"
	i.Check("nobody is there", first(refused(i.at("AddTargetPortal", nobodyPortal),
		"error adding target portal at "+said(nobodyAddress, iscsiPort)+". err: "), i.listed(at, other)))
}

// badPortals checks what all calls about a portal refuse.
func (i *iscsiSuite) badPortals() {
	for _, rpc := range []string{"AddTargetPortal", "DiscoverTargetPortal", "RemoveTargetPortal", "ConnectTarget",
		"DisconnectTarget", "GetTargetDisks"} {
		call := func(in fields) error {
			if rpc != "AddTargetPortal" && rpc != "DiscoverTargetPortal" && rpc != "RemoveTargetPortal" {
				in["Iqn"] = plainTarget
			}
			return i.told(rpc, in)
		}
		i.Row = rpc
		i.Check("no portal, which ends the original", refused(call(fields{}), "portal"))
		i.Check("no address", refused(call(fields{"TargetPortal": portal("", iscsiPort)}), ""))
		i.Check("port 65536", refused(call(fields{"TargetPortal": portal(iscsiAddress, 65536)}), "65536"))
		i.Check("port of the right one and 65536", refused(call(fields{"TargetPortal": portal(iscsiAddress, 65536+iscsiPort)}),
			strconv.Itoa(65536+iscsiPort)))
		i.Check("largest port", refused(call(fields{"TargetPortal": fields{"TargetAddress": iscsiAddress,
			"TargetPort": uint32(math.MaxUint32)}}), "4294967295"))
		i.Check("NUL", refused(call(fields{"TargetPortal": portal(iscsiAddress+"\x00", iscsiPort)}), "NUL"))
		i.Check("address of 1 KiB", refused(call(fields{"TargetPortal": portal(strings.Repeat("a", 1<<10), iscsiPort)}),
			"longer than"))
		i.Check("quote", refusedUnless(rpc == "RemoveTargetPortal", call(fields{"TargetPortal": portal("a' OR '1'='1", iscsiPort)})))
	}
	i.Row = "ListTargetPortals"
	i.Check("none of these has changed anything", i.listed(fmt.Sprintf("%s:%d", iscsiAddress, iscsiPort),
		fmt.Sprintf("%s:%d", otherAddress, otherPort)))
}

// refusedUnless wants an error, except where it does not matter.
func refusedUnless(either bool, err error) error {
	if either && err == nil {
		return nil
	}
	return refused(err, "")
}

func (i *iscsiSuite) connect() {
	i.Row = "ConnectTarget"
	i.Check("without authentication", first(i.login(iscsiPortal, plainTarget, authNone, "", ""), i.sessions(plainTarget, 1),
		i.authenticated(plainTarget, "none")))
	i.Check("again", first(i.login(iscsiPortal, plainTarget, authNone, "", ""), i.sessions(plainTarget, 1)))
	i.Check("unknown target", refused(i.login(iscsiPortal, noTarget, authNone, "", ""), "error query target "+noTarget))
	i.Check("a target of another portal", refused(i.login(iscsiPortal, mutualTarget, authNone, "", ""),
		"error query target "+mutualTarget))
	i.Check("a portal that is not registered", refused(i.login(nobodyPortal, chapTarget, authOneWay, chapUser, chapSecret),
		"error query target "+chapTarget))
	for _, auth := range []int{3, -1, math.MaxInt32} {
		i.Check(fmt.Sprintf("authentication type %d", auth), refused(i.login(iscsiPortal, chapTarget, auth, "", ""),
			fmt.Sprintf("invalid authentication type authType=%d", auth)))
	}
}

func (i *iscsiSuite) chap() {
	i.Row = "ConnectTarget"
	const failedAs = "error connecting to target portal. err: "
	login := func(auth int, user, secret string) error { return i.login(iscsiPortal, chapTarget, auth, user, secret) }
	i.Check("CHAP is needed", refused(login(authNone, "", ""), failedAs))
	i.Check("wrong secret", refusedWithout(login(authOneWay, chapUser, wrongSecret), failedAs, wrongSecret))
	i.Check("wrong user", refusedWithout(login(authOneWay, "somebody", chapSecret), failedAs, chapSecret))
	i.Check("secret of 11 bytes", refusedWithout(login(authOneWay, chapUser, "secret-of-1"), "12 to 16", "secret-of-1"))
	i.Check("secret of 17 bytes", refusedWithout(login(authOneWay, chapUser, "secret-of-17-byte"), "12 to 16", "secret-of-17-byte"))
	i.Check("NUL in the secret", refusedWithout(login(authOneWay, chapUser, "secret-of-13\x00"), "NUL", "secret-of-13"))
	i.Check("user of 1 KiB", refused(login(authOneWay, strings.Repeat("u", 1<<10), chapSecret), "longer than"))
	i.Check("none of these has connected", i.sessions(chapTarget, 0))
	i.Check("one-way CHAP", first(login(authOneWay, chapUser, chapSecret), i.sessions(chapTarget, 1),
		i.authenticated(chapTarget, "chap")))
	i.Check("again", first(login(authOneWay, chapUser, chapSecret), i.sessions(chapTarget, 1)))
}

func (i *iscsiSuite) mutualChap() {
	set := func(secret string) error { return i.told("SetMutualChapSecret", fields{"MutualChapSecret": secret}) }
	login := func() error { return i.login(otherPortal, mutualTarget, authMutual, chapUser, chapSecret) }
	i.Row = "SetMutualChapSecret"
	i.Check("a secret", set(wrongSecret))
	i.Row = "ConnectTarget"
	i.Check("mutual CHAP, the target has another secret", first(
		refusedWithout(login(), "error connecting to target portal. err: ", chapSecret), i.sessions(mutualTarget, 0)))
	i.Row = "SetMutualChapSecret"
	i.Check("another", set(mutualSecret))
	i.Check("again", set(mutualSecret))
	const setFailed = "error setting mutual chap secret. err: "
	i.Check("none", refused(set(""), ""))
	i.Check("11 bytes", refusedWithout(set("secret-of-1"), "12 to 16", "secret-of-1"))
	i.Check("17 bytes", refusedWithout(set("secret-of-17-byte"), "12 to 16", "secret-of-17-byte"))
	i.Check("NUL", refusedWithout(set("secret-of-13\x00"), "NUL", "secret-of-13"))
	i.Check("1 KiB", refusedWithout(set(strings.Repeat("secret", 200)), "longer than", "secretsecret"))
	i.Row = "ConnectTarget"
	i.Check("mutual CHAP", first(login(), i.sessions(mutualTarget, 1), i.authenticated(mutualTarget, "mutual")))
}

func (i *iscsiSuite) disks(portal fields, iqn string, want ...uint32) error {
	got, err := i.got("GetTargetDisks", fields{"TargetPortal": portal, "Iqn": iqn})
	if err != nil {
		return err
	}
	var numbers []string
	for _, number := range want {
		numbers = append(numbers, strconv.FormatUint(uint64(number), 10))
	}
	return wantText(strings.Join(got.texts("DiskIDs"), " "), strings.Join(numbers, " "))
}

func (i *iscsiSuite) targetDisks() {
	i.Row = "GetTargetDisks"
	i.Check("its disk", i.disks(iscsiPortal, plainTarget, plainLUN))
	i.Check("that of another target", i.disks(iscsiPortal, chapTarget, chapLUN))
	if i.has("SetMutualChapSecret") {
		i.Check("that of a third", i.disks(otherPortal, mutualTarget, mutualLUN))
	} else {
		i.Check("none of a target that is not connected", i.disks(otherPortal, mutualTarget))
	}
	i.Check("unknown target", refused(i.disks(iscsiPortal, noTarget), noTarget))
	i.Check("a portal that is not registered", refused(i.disks(nobodyPortal, noTarget), said(nobodyAddress, iscsiPort)))
}

func (i *iscsiSuite) disconnect() {
	i.Row = "DisconnectTarget"
	i.Check("a target", first(i.on("DisconnectTarget", iscsiPortal, plainTarget), i.sessions(plainTarget, 0)))
	i.Check("again", i.on("DisconnectTarget", iscsiPortal, plainTarget))
	i.Check("the others stay connected", i.sessions(chapTarget, 1))
	i.Check("all of its sessions, those for ever too", func() error {
		_, err := i.bed.Do("session add iqn=%s", chapTarget)
		if err == nil {
			_, err = i.bed.Do("session add iqn=%s persistent=1", chapTarget)
		}
		return first(err, i.sessions(chapTarget, 3), i.on("DisconnectTarget", iscsiPortal, chapTarget),
			i.sessions(chapTarget, 0))
	}())
	i.Row = "GetTargetDisks"
	i.Check("none when it is not connected", i.disks(iscsiPortal, plainTarget))
	i.Row = "DisconnectTarget"
	i.Check("a target that nobody knows", i.on("DisconnectTarget", iscsiPortal, noTarget))
	i.Check("by a portal that is not registered", first(i.login(iscsiPortal, plainTarget, authNone, "", ""),
		i.on("DisconnectTarget", nobodyPortal, plainTarget), i.sessions(plainTarget, 0)))
	i.Check("no target's name", refusedUnless(true, i.on("DisconnectTarget", iscsiPortal, "*")))
}

// badTargets checks what all calls about a target refuse as its name.
func (i *iscsiSuite) badTargets() {
	for _, rpc := range []string{"ConnectTarget", "DisconnectTarget", "GetTargetDisks"} {
		i.Row = rpc
		i.Check("no name", refused(i.on(rpc, iscsiPortal, ""), ""))
		i.Check("NUL in the name", refused(i.on(rpc, iscsiPortal, plainTarget+"\x00"), "NUL"))
		i.Check("name of 1 KiB", refused(i.on(rpc, iscsiPortal, strings.Repeat("n", 1<<10)), "longer than"))
		if rpc != "DisconnectTarget" { // which has nothing to do then
			i.Check("wildcard", refused(i.on(rpc, iscsiPortal, "*"), ""))
		}
	}
}

func (i *iscsiSuite) removePortal() {
	other := fmt.Sprintf("%s:%d", otherAddress, otherPort)
	i.Row = "RemoveTargetPortal"
	i.Check("a portal", first(i.at("RemoveTargetPortal", portal(iscsiAddress, 0)), i.listed(other)))
	i.Check("again", first(i.at("RemoveTargetPortal", iscsiPortal), i.listed(other)))
	i.Check("one that never was there", first(i.at("RemoveTargetPortal", nobodyPortal), i.listed(other)))
	i.Check("the other", first(i.at("RemoveTargetPortal", otherPortal), i.listed()))
}

// withoutInitiator: the service MSiSCSI does not run.
func (i *iscsiSuite) withoutInitiator() {
	running := func(is int) error {
		_, err := i.bed.Do("initiator set running=%d", is)
		return err
	}
	i.Row = "any call"
	i.Check("the initiator can be stopped", running(0))
	const plainly = "service MSiSCSI is not running"
	for _, call := range []struct {
		rpc string
		in  fields
	}{
		{"AddTargetPortal", fields{"TargetPortal": iscsiPortal}},
		{"DiscoverTargetPortal", fields{"TargetPortal": iscsiPortal}},
		{"ListTargetPortals", nil},
		{"RemoveTargetPortal", fields{"TargetPortal": iscsiPortal}},
		{"ConnectTarget", fields{"TargetPortal": iscsiPortal, "Iqn": plainTarget}},
		{"DisconnectTarget", fields{"TargetPortal": iscsiPortal, "Iqn": plainTarget}},
		{"GetTargetDisks", fields{"TargetPortal": iscsiPortal, "Iqn": plainTarget}},
		{"SetMutualChapSecret", fields{"MutualChapSecret": mutualSecret}},
	} {
		if i.has(call.rpc) {
			i.Row = call.rpc
			i.Check("MSiSCSI does not run", refused(i.told(call.rpc, call.in), plainly))
		}
	}
	i.Row = "any call"
	i.Check("the initiator runs again", first(running(1), i.listed()))
}
