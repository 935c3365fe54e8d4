// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"regexp"
	"strings"

	diskv1 "github.com/kubernetes-csi/csi-proxy/client/groups/disk/v1"
)

// ebs is aws-ebs-csi-driver, which drivers of other clouds have copied.
type ebs struct{ v1 }

func openEBS(n *node) (driver, error) {
	d, err := openV1(n)
	return ebs{d}, err
}

func (d ebs) leavesOffline() bool { return true }

// notMounted is how the driver tells from an error's text that nothing is mounted.
var notMounted = regexp.MustCompile(`(Get-Item -Path \S+).Target, output: , error: <nil>|because it does not exist`)

// cloudID is what the cloud calls the disk: vol-0123456789abcdef0.
func (d ebs) cloudID(v volume) string {
	serial, _, _ := strings.Cut(v.disk["serial"], "_")
	return "vol-" + strings.TrimPrefix(serial, "vol")
}

// findDisk connects anew each time.
func (d ebs) findDisk(cloudID string) (uint32, error) {
	disks, err := diskv1.NewClient()
	if err != nil {
		return 0, err
	}
	defer disks.Close()
	own := d.v1
	own.disks = disks
	ids, err := own.listDiskIDs()
	if err != nil {
		return 0, err
	}
	for number, id := range ids {
		if strings.Contains(id.GetSerialNumber(), strings.ReplaceAll(cloudID, "-", "")) {
			return number, nil
		}
	}
	return 0, fmt.Errorf("no disk has %s in its serial number", cloudID)
}

// mountedDisk returns the disk that is mounted at a path, if any. The driver reads the text of either error.
func (d ebs) mountedDisk(path string) (disk uint32, id string, mounted bool, err error) {
	if id, err = d.volumeAt(path); err == nil {
		disk, err = d.diskOf(id)
	}
	if err != nil && notMounted.MatchString(err.Error()) {
		return 0, "", false, nil
	}
	return disk, id, err == nil, err
}

func (d ebs) stage(v volume) error {
	disk, err := d.findDisk(d.cloudID(v))
	if err != nil {
		return err
	}
	path := normalized(v.staging)
	exists, err := d.exists(path)
	if err == nil && !exists {
		err = d.mkdir(path)
	}
	if err != nil {
		return err
	}
	mounted, _, is, err := d.mountedDisk(path)
	if err != nil || is && mounted == disk {
		return err
	}
	if err := d.formatAndMount(disk, path); err != nil {
		return err
	}
	return d.growAtStage(disk, path)
}

func (d ebs) formatAndMount(disk uint32, path string) error {
	if err := then(d.partition(disk), func() error { return d.setOnline(disk, true) }); err != nil {
		return err
	}
	ids, err := d.volumesOn(disk)
	if err != nil {
		return err
	}
	id := ids[0]
	return then(d.formatOnce(id), func() error { return d.mount(id, path) })
}

// growAtStage resizes when the device is not larger than the file system: that is how the driver has it.
func (d ebs) growAtStage(disk uint32, path string) error {
	_ = d.rescan() // only logged
	device, err := d.diskBytes(disk)
	if err != nil {
		return err
	}
	id, err := d.volumeAt(path)
	if err != nil {
		return err
	}
	bytes, err := d.volumeBytes(id)
	if err != nil || device > bytes+4096 {
		return err
	}
	return d.grow(id)
}

func (d ebs) grow(id string) error {
	_ = d.rescan() // only logged
	return d.resize(id, 0)
}

func (d ebs) publish(v volume) error {
	target := normalized(v.target)
	exists, err := d.exists(target)
	if err == nil && exists {
		err = d.rmdir(target, true)
	}
	if err != nil {
		return err
	}
	return d.link(v)
}

// stats: the driver itself asks Windows in its own process; other drivers that copied it ask the service.
func (d ebs) stats(v volume) (int64, error) { return d.pathStats(normalized(v.target)) }

func (d ebs) expand(v volume) error {
	disk, err := d.findDisk(d.cloudID(v))
	if err != nil {
		return err
	}
	id, err := d.volumeAt(normalized(v.staging))
	if err != nil {
		return err
	}
	if err := d.grow(id); err != nil {
		return err
	}
	bytes, err := d.diskBytes(disk)
	if err == nil && bytes < v.bytes {
		err = fmt.Errorf("the device has %d bytes, %d are wanted", bytes, v.bytes)
	}
	return err
}

func (d ebs) unpublish(v volume) error { return d.rmdir(normalized(v.target), true) }

func (d ebs) unstage(v volume) error {
	path := normalized(v.staging)
	_, id, mounted, err := d.mountedDisk(path)
	if err != nil || !mounted {
		return err
	}
	if err := then(d.unmount(id, path), func() error { return d.rmdir(path, true) }); err != nil {
		return err
	}
	disk, err := d.diskOf(id)
	if err != nil {
		return err
	}
	return d.setOnline(disk, false)
}
