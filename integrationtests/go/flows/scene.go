// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"csi-proxy/integrationtests/testbed"
)

const (
	kubelet    = `\var\lib\kubelet\`
	growBy     = int64(1) << 30
	arriveIn   = 5 * time.Second
	markerAt   = 32 << 10 // within what a quick format overwrites
	markerSize = 4096
)

// scene is a platform with its disks, and what the controller and the kubelet do around a driver.
type scene struct {
	bed    *testbed.Bed
	flow   flow
	words  string // how the flow's disk is plugged in
	volume volume
	disk   uint32
	marks  int64  // where on the disk mark wrote
	file   string // and the file on the volume
}

// newScene plugs in all disks of a platform but the one of the flow.
func newScene(bed *testbed.Bed, f flow, profiles string) (*scene, error) {
	s := &scene{bed: bed, flow: f, disk: f.disk}
	text, err := os.ReadFile(filepath.Join(profiles, f.profile+".profile"))
	if err != nil {
		return nil, err
	}
	if err := bed.Reset(); err != nil {
		return nil, err
	}
	if f.overISCSI {
		s.volume.lun = lunOf(f)
	}
	for _, line := range strings.Split(string(text), "\n") {
		words := strings.Fields(line)
		if len(words) < 2 || words[0] != "disk" || words[1] != "add" {
			continue
		}
		disk := testbed.Parse(line)
		var rest []string
		for _, word := range words[2:] {
			switch key, _, _ := strings.Cut(word, "="); key {
			case "number", "size", "file":
			default:
				rest = append(rest, word)
			}
		}
		number := uint32(disk.Number("number"))
		if number != f.disk {
			if err := bed.AddDisk(number, disk["size"], strings.Join(rest, " ")); err != nil {
				return nil, err
			}
			continue
		}
		s.words, s.volume.disk = strings.Join(exchanged(rest, f.words), " "), disk
	}
	if s.volume.disk == nil {
		return nil, fmt.Errorf("the profile %s has no disk %d", f.profile, f.disk)
	}
	s.volume.staging = kubelet + `plugins\kubernetes.io\csi\` + f.folder() + `\globalmount`
	s.volume.target = strings.ReplaceAll(kubelet+`pods\7c2f3d1e\volumes\kubernetes.io~csi\`+f.folder()+`\mount`, `\`, `/`)
	return s, nil
}

// exchanged puts words in the place of those with the same key.
func exchanged(list, words []string) []string {
	keyOf := func(word string) string {
		key, _, _ := strings.Cut(word, "=")
		return key
	}
	result := append([]string(nil), words...)
	for _, have := range list {
		taken := false
		for _, word := range words {
			taken = taken || keyOf(word) == keyOf(have)
		}
		if !taken {
			result = append(result, have)
		}
	}
	return result
}

// attach plugs in the flow's disk, empty; or makes the target that has it.
func (s *scene) attach() error {
	if s.flow.overISCSI {
		return s.offer()
	}
	if _, err := s.bed.Disk(s.disk); err == nil {
		if err := s.detach(); err != nil {
			return err
		}
	}
	if err := s.bed.AddDisk(s.disk, s.volume.disk["size"], s.words); err != nil {
		return err
	}
	disk, err := s.bed.Disk(s.disk)
	s.volume.bytes = disk.Number("size")
	return err
}

func (s *scene) detach() error {
	if s.flow.overISCSI {
		return s.withdraw()
	}
	return s.bed.RemoveDisk(s.disk)
}

// detachIfThere is detach, unless the driver has put the disk away itself.
func (s *scene) detachIfThere() error {
	if _, absent := s.bed.Disk(s.disk); absent != nil {
		return nil
	}
	return s.detach()
}

// replug plugs the disk in again, with its contents.
func (s *scene) replug() error {
	if s.flow.overISCSI {
		return s.offerAgain()
	}
	return s.bed.PlugDisk(s.disk, strconv.FormatInt(s.volume.bytes, 10), s.words)
}

// grow makes the disk larger behind Windows' back, and the volume's wanted size with it.
func (s *scene) grow() error {
	s.volume.bytes += growBy
	return s.bed.GrowDisk(s.disk, s.volume.bytes)
}

// kubelet's own directories, as it makes them before it calls a driver.
func (s *scene) makeStaging() error { return os.MkdirAll(`C:`+s.volume.staging, 0o755) }
func (s *scene) makeTarget() error  { return os.MkdirAll(normalized(s.volume.target), 0o755) }

// only returns the one volume of the disk.
func (s *scene) only() (testbed.Record, error) {
	volumes, err := s.bed.Volumes(s.disk)
	if err == nil && len(volumes) != 1 {
		err = fmt.Errorf("the disk has %d volumes, want 1", len(volumes))
	}
	if err != nil {
		return nil, err
	}
	return volumes[0], nil
}

// mounted tells whether the mount manager has the disk's volume at the staging path.
func (s *scene) mounted() (bool, error) {
	mounts, err := s.bed.Records("mount list")
	if err != nil {
		return false, err
	}
	volumes, err := s.bed.Volumes(s.disk)
	for _, mount := range mounts {
		for _, volume := range volumes {
			if strings.EqualFold(mount["volume"], volume["guid"]) && sameFolder(mount["folder"], s.volume.staging) {
				return true, nil
			}
		}
	}
	return false, err
}

// sameFolder compares paths that begin with a drive, a device, or neither.
func sameFolder(path, below string) bool {
	return strings.HasSuffix(strings.ToLower(strings.TrimSuffix(path, `\`)), strings.ToLower(below))
}

// staged is how things must be after NodeStage.
func (s *scene) staged() error {
	disk, err := s.bed.Disk(s.disk)
	if err != nil {
		return err
	}
	volume, err := s.only()
	if err != nil {
		return err
	}
	mounted, err := s.mounted()
	switch {
	case err != nil:
		return err
	case disk["offline"] != "0" || disk["readonly"] != "0":
		return fmt.Errorf("the disk is not online and writable: %v", disk)
	case volume["fs"] != "ntfs":
		return fmt.Errorf("the volume has the file system %q", volume["fs"])
	case !mounted:
		return errors.New("the volume is not mounted on the staging path")
	}
	return nil
}

// unstaged is how things must be after NodeUnstage. The kubelet removes the folder if the driver has not.
func (s *scene) unstaged() error {
	mounted, err := s.mounted()
	if err == nil && mounted {
		err = errors.New("the volume is still mounted on the staging path")
	}
	return then(err, s.removeStaging)
}

// removeStaging is the kubelet's last step.
func (s *scene) removeStaging() error {
	if err := os.Remove(`C:` + s.volume.staging); err != nil && !os.IsNotExist(err) {
		return fmt.Errorf("the kubelet cannot remove the staging path: %w", err)
	}
	return nil
}

// unstagedWhole is how things must be when nothing was interrupted: the driver itself has put all away.
func (s *scene) unstagedWhole(offline bool) error {
	if _, err := os.Lstat(`C:` + s.volume.staging); err == nil {
		return errors.New("the staging path is still there")
	}
	if s.flow.overISCSI {
		return s.loggedOut()
	}
	disk, err := s.bed.Disk(s.disk)
	if err == nil && offline && disk["offline"] != "1" {
		err = errors.New("the disk is not offline")
	}
	return err
}

// holdsData tells whether the disk has a volume with a file system.
func (s *scene) holdsData() bool {
	volume, err := s.only()
	return err == nil && volume["fs"] == "ntfs"
}

// expanded checks that the file system fills the disk.
func (s *scene) expanded() error {
	volume, err := s.only()
	if err == nil && volume.Number("length") < s.volume.bytes-20<<20 {
		err = fmt.Errorf("the volume has %d bytes of a disk of %d", volume.Number("length"), s.volume.bytes)
	}
	return err
}

func (s *scene) marker() []byte {
	return bytes.Repeat([]byte("this is a user's data. " + s.flow.name + "          ")[:32], markerSize/32)
}

// access hands the disk to transfer, with the place on it where the marker is. It goes around os.File, which
// asks for a file pointer that disks do not have.
func (s *scene) access(transfer func(disk syscall.Handle, at *syscall.Overlapped) error) error {
	path, err := syscall.UTF16PtrFromString(fmt.Sprintf(`\\.\PhysicalDrive%d`, s.disk))
	if err != nil {
		return err
	}
	disk, err := syscall.CreateFile(path, syscall.GENERIC_READ|syscall.GENERIC_WRITE,
		syscall.FILE_SHARE_READ|syscall.FILE_SHARE_WRITE, nil, syscall.OPEN_EXISTING, 0, 0)
	if err != nil {
		return err
	}
	defer syscall.CloseHandle(disk)
	return transfer(disk, &syscall.Overlapped{Offset: uint32(s.marks), OffsetHigh: uint32(s.marks >> 32)})
}

// filesOf is where the executable with emulated links has the files of a volume: a call that follows a mounted
// folder by mistake destroys them there.
func filesOf(volume testbed.Record) string {
	return `C:\testbed\volumes\` + strings.ToLower(volume["guid"])
}

// mark writes data onto the volume that a format would destroy, and a file that a removal would.
func (s *scene) mark() error {
	volume, err := s.only()
	if err != nil {
		return err
	}
	s.file = filepath.Join(filesOf(volume), "user", "data")
	if err := first(os.MkdirAll(filepath.Dir(s.file), 0o755), os.WriteFile(s.file, s.marker(), 0o644)); err != nil {
		return err
	}
	s.marks = volume.Number("offset") + markerAt
	return s.access(func(disk syscall.Handle, at *syscall.Overlapped) error {
		var written uint32
		return syscall.WriteFile(disk, s.marker(), &written, at)
	})
}

// marked checks that the data are there still.
func (s *scene) marked() error {
	found := make([]byte, markerSize)
	read := func(disk syscall.Handle, at *syscall.Overlapped) error {
		var read uint32
		return syscall.ReadFile(disk, found, &read, at)
	}
	var err error
	if _, absent := s.bed.Disk(s.disk); absent != nil {
		err = s.readImage(found)
	} else {
		err = s.access(read)
	}
	if err == nil && !bytes.Equal(found, s.marker()) {
		err = errors.New("the data on the volume are lost")
	}
	if err == nil {
		_, err = os.Lstat(s.file)
	}
	return err
}

// emptied checks that the volume has no files any more.
func (s *scene) emptied() error {
	volume, err := s.only()
	if err != nil {
		return err
	}
	left, err := os.ReadDir(filesOf(volume))
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("%s is still on the volume", left[0].Name())
	}
	return err
}

// expectedBytes is the size of the volume's file system, as the testbed has it.
func (s *scene) expectedBytes() (int64, error) {
	volume, err := s.only()
	if err != nil {
		return 0, err
	}
	return volume.Number("length"), nil
}

// eventually repeats a test that depends on what comes by itself.
func eventually(test func() error) error {
	deadline := time.Now().Add(arriveIn)
	for {
		err := test()
		if err == nil || time.Now().After(deadline) {
			return err
		}
		time.Sleep(20 * time.Millisecond)
	}
}
