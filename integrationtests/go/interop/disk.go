// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
)

// The disks of the tests.
const (
	plainDisk   = uint32(61) // ASCII page 83, an address
	bareDisk    = uint32(62) // binary page 83, neither serial number nor address
	offlineDisk = uint32(63) // offline and read-only, as the SAN policy leaves new disks; no page 83 at all
	oddDisk     = uint32(64) // malformed page 83
	noDisk      = uint32(4711)

	gib = int64(1) << 30
)

func (s *suite) disk() {
	s.Row = "connect"
	err := first(s.bed.Reset(),
		s.bed.AddDisk(plainDisk, "1G", "address=3.0.1.7 page83=ascii:Google%20%20persistent-disk-0@0/1 serial=SN-61_00000001."),
		s.bed.AddDisk(bareDisk, "64M", "address=none page83=hex:6000C29A98D05E384A43F0EF189AAF5A@0/3 serial=none"),
		s.bed.AddDisk(offlineDisk, "2G", "offline readonly page83=unsupported volume-delay=300"),
		s.bed.AddDisk(oddDisk, "1G", "page83=malformed-next"))
	s.Check("the testbed has disks", err)
	if err != nil {
		return
	}
	s.listDiskLocations()
	if s.has("ListDiskIDs") {
		s.listDiskIDs()
	}
	if s.has("GetDiskNumberByName") {
		s.getDiskNumberByName()
	}
	s.rescan()
	if s.has("GetDiskStats") {
		s.getDiskStats()
	}
	s.partitionDisk()
	if s.has("SetDiskState") {
		s.diskState()
	}
	s.otherServices(diskVersions, "ListDiskLocations", nil)
	s.Row = "any call"
	s.Check("the testbed puts its disks away", s.bed.Reset())
}

func (s *suite) onDiskNumber(rpc string, number uint32) error {
	return s.told(rpc, fields{"DiskNumber": number})
}

// badNumbers checks what a call refuses as a disk number. text: what the error says of text that is none.
func (s *suite) badNumbers(rpc, text string, more fields) {
	in := fields{}
	for name, value := range more {
		in[name] = value
	}
	in["DiskNumber"] = noDisk
	s.Check("unknown disk", refused(s.told(rpc, in), "not found"))
	in["DiskNumber"] = uint32(math.MaxUint32)
	s.Check("largest number", refused(s.told(rpc, in), "not found"))
	if !s.textNumbers() {
		return
	}
	for _, bad := range []struct{ text, why string }{
		{"", "invalid syntax"},
		{"x", "invalid syntax"},
		{"-1", "invalid syntax"},
		{" 1", "invalid syntax"},
		{"0x1", "invalid syntax"},
		{"1.0", "invalid syntax"},
		{"99999999999999999999", "value out of range"},
	} {
		in["DiskNumber"] = bad.text
		want := fmt.Sprintf(`%sstrconv.ParseUint: parsing "%s": %s`, text, bad.text, bad.why)
		s.Check(fmt.Sprintf("number %q", bad.text), refused(s.told(rpc, in), want))
	}
}

// textNumbers tells whether this version has disk numbers as text.
func (s *suite) textNumbers() bool {
	switch s.caller.version.name {
	case "v1alpha1", "v1beta1", "v1beta2":
		return true
	}
	return false
}

func (s *suite) listDiskLocations() {
	s.Row = "ListDiskLocations"
	got, err := s.got("ListDiskLocations", nil)
	s.Check("an odd disk fails nothing", err)
	if err != nil {
		return
	}
	locations := got.byDisk("DiskLocations")
	s.Check("adapter, bus, target, LUN", func() error {
		location, found := locations[plainDisk]
		if !found {
			return fmt.Errorf("no location of disk %d", plainDisk)
		}
		var parts []string
		for _, name := range []string{"Adapter", "Bus", "Target", "LUNID"} {
			parts = append(parts, location.Elem().FieldByName(name).String())
		}
		return wantText(strings.Join(parts, "."), "3.0.1.7")
	}())
	s.Check("a disk without an address is left out", func() error {
		if _, found := locations[bareDisk]; found {
			return fmt.Errorf("disk %d has a location", bareDisk)
		}
		return nil
	}())
}

// eventually repeats a test that depends on volumes that come by themselves.
func eventually(test func() error) error {
	deadline := time.Now().Add(5 * time.Second)
	for {
		err := test()
		if err == nil || time.Now().After(deadline) {
			return err
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func wantText(got, want string) error {
	if got != want {
		return fmt.Errorf("got %q, want %q", got, want)
	}
	return nil
}

func wantNumber(got, want int64) error {
	if got != want {
		return fmt.Errorf("got %d, want %d", got, want)
	}
	return nil
}

func (s *suite) listDiskIDs() {
	s.Row = "ListDiskIDs"
	got, err := s.got("ListDiskIDs", nil)
	s.Check("an odd disk fails nothing", err)
	if err != nil {
		return
	}
	ids := got.byDisk("DiskIDs")
	read := func(disk uint32) (page83, serial string, err error) {
		id, found := ids[disk]
		if !found {
			return "", "", fmt.Errorf("disk %d is missing", disk)
		}
		if identifiers := id.Elem().FieldByName("Identifiers"); identifiers.IsValid() {
			all := identifiers.Interface().(map[string]string)
			if _, both := all["serialNumber"]; len(all) != 2 || !both {
				return "", "", fmt.Errorf("keys other than page83 and serialNumber: %v", all)
			}
			return all["page83"], all["serialNumber"], nil
		}
		return id.Elem().FieldByName("Page83").String(), id.Elem().FieldByName("SerialNumber").String(), nil
	}
	for _, want := range []struct {
		name           string
		disk           uint32
		page83, serial string
	}{
		{"ASCII identifier as it is, serial number with its end", plainDisk, "Google  persistent-disk-0", "SN-61_00000001."},
		{"binary identifier in lower-case hex, no serial number", bareDisk, "6000c29a98d05e384a43f0ef189aaf5a", ""},
	} {
		page83, serial, err := read(want.disk)
		s.Check(want.name, first(err, wantText(page83, want.page83), wantText(serial, want.serial)))
	}
	page83, _, err := read(offlineDisk)
	s.Check("a disk that cannot tell is listed without identifier", first(err, wantText(page83, "")))
	_, _, err = read(oddDisk)
	s.Check("a disk with a malformed identifier is listed", err)
}

func (s *suite) getDiskNumberByName() {
	s.Row = "GetDiskNumberByName"
	find := func(name string, want uint32) error {
		got, err := s.got("GetDiskNumberByName", fields{"DiskName": name})
		if err != nil {
			return err
		}
		return wantNumber(got.number("DiskNumber"), int64(want))
	}
	s.Check("ASCII identifier", find("Google  persistent-disk-0", plainDisk))
	s.Check("binary identifier", find("6000c29a98d05e384a43f0ef189aaf5a", bareDisk))
	s.Check("another case is another disk",
		refused(find("google  persistent-disk-0", plainDisk), "could not find disk with Page83 ID google  persistent-disk-0"))
	s.Check("unknown", refused(find("nothing of the kind", 0), "could not find disk with Page83 ID nothing of the kind"))
}

func (s *suite) rescan() {
	s.Row = "Rescan"
	s.Check("returns", s.told("Rescan", nil))
	s.Check("finds a new size", func() error {
		if err := first(s.bed.GrowDisk(bareDisk, 128<<20), s.told("Rescan", nil)); err != nil {
			return err
		}
		return s.diskSize(bareDisk, 128<<20)
	}())
}

// diskSize checks what the service, or else the testbed, has as the size of a disk.
func (s *suite) diskSize(number uint32, want int64) error {
	if s.has("GetDiskStats") {
		got, err := s.got("GetDiskStats", fields{"DiskNumber": number})
		if err != nil {
			return err
		}
		return wantNumber(got.number("TotalBytes"), want)
	}
	disk, err := s.bed.Disk(number)
	return first(err, wantNumber(disk.Number("size"), want))
}

func (s *suite) getDiskStats() {
	s.Row = s.named("GetDiskStats")
	s.Check("size of a disk", s.diskSize(plainDisk, gib))
	s.Check("size of an offline disk", s.diskSize(offlineDisk, 2*gib))
	s.badNumbers("GetDiskStats", "Failed to format DiskStatsRequest.DiskID with err: ", nil)
}

// partitioned checks by the testbed that a disk has one usable partition and its volume.
func (s *suite) partitioned(number uint32) error {
	disk, err := s.bed.Disk(number)
	if err != nil {
		return err
	}
	volumes, err := s.bed.Volumes(number)
	if err != nil {
		return err
	}
	if len(volumes) != 1 {
		return fmt.Errorf("%d volumes on disk %d, want 1", len(volumes), number)
	}
	lost := disk.Number("size") - volumes[0].Number("length")
	if offset := volumes[0].Number("offset"); offset%(1<<20) != 0 {
		return fmt.Errorf("the partition is not aligned: it begins at %d", offset)
	}
	if lost < 0 || lost > 20<<20 {
		return fmt.Errorf("%d bytes of the disk are not in the partition", lost)
	}
	return first(wantText(disk["style"], "gpt"), wantText(disk["offline"], "0"), wantText(disk["readonly"], "0"))
}

func (s *suite) partitionDisk() {
	s.Row = "PartitionDisk"
	partition := func(number uint32) error { return s.onDiskNumber("PartitionDisk", number) }
	s.Check("raw disk", first(partition(plainDisk), s.partitioned(plainDisk)))
	before, err := s.bed.Volumes(plainDisk)
	s.Check("again changes nothing", func() error {
		if err := first(err, partition(plainDisk), s.partitioned(plainDisk)); err != nil {
			return err
		}
		after, err := s.bed.Volumes(plainDisk)
		return first(err, wantText(after[0]["guid"], before[0]["guid"]))
	}())
	s.Check("offline, read-only, slow disk", first(partition(offlineDisk), s.partitioned(offlineDisk)))
	s.badNumbers("PartitionDisk",
		"Failed to convert "+s.caller.version.name+".PartitionDiskRequest.DiskID to uint32: ", nil)
}

func (s *suite) diskState() {
	setRow, getRow := s.named("SetDiskState"), s.named("GetDiskState")
	state := func(want bool) error {
		got, err := s.got("GetDiskState", fields{"DiskNumber": plainDisk})
		if err == nil && got.flag("IsOnline") != want {
			err = fmt.Errorf("online: %v, want %v", !want, want)
		}
		return err
	}
	setState := func(online bool) error {
		return s.told("SetDiskState", fields{"DiskNumber": plainDisk, "IsOnline": online})
	}
	inBed := func(key, want string) error {
		disk, err := s.bed.Disk(plainDisk)
		return first(err, wantText(disk[key], want))
	}
	s.Row = setRow
	s.Check("offline", first(setState(false), inBed("offline", "1")))
	s.Check("offline again", first(setState(false), inBed("offline", "1")))
	s.Row = getRow
	s.Check("of an offline disk", state(false))
	s.Row = setRow
	s.Check("online", first(setState(true), inBed("offline", "0"), eventually(func() error { return s.partitioned(plainDisk) })))
	s.Check("online again", first(setState(true), inBed("offline", "0")))
	s.Row = getRow
	s.Check("of an online disk", state(true))
	s.badNumbers("GetDiskState", "Failed to format GetAttachStateRequest.DiskID with err: ", nil)
	s.Row = setRow
	s.badNumbers("SetDiskState", "Failed to format SetAttachStateRequest.DiskID with err: ", fields{"IsOnline": true})
	s.Check("a request that ends at once", failed(func() error {
		ctx, cancel := s.context()
		cancel()
		_, err := s.call(ctx, "SetDiskState", fields{"DiskNumber": plainDisk, "IsOnline": true}, nil)
		return err
	}(), codes.Canceled, ""))
}
