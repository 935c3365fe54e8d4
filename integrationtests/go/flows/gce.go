// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// gce is gcp-compute-persistent-disk-csi-driver on the v1 APIs.
type gce struct{ v1 }

func openGCE(n *node) (driver, error) {
	d, err := openV1(n)
	return gce{d}, err
}

func (d gce) leavesOffline() bool { return true }

// page83Text is the ASCII identifier that the disk was plugged in with; empty when it has none.
func page83Text(v volume) string {
	spec, _, _ := strings.Cut(v.disk["page83"], "@")
	text, _ := strings.CutPrefix(spec, "ascii:")
	if text == spec {
		return ""
	}
	return text
}

// gceName is the device name that the cloud has for a SCSI disk: the last word of its identifier. Empty for
// an NVMe disk.
func gceName(v volume) string {
	words := strings.Fields(page83Text(v))
	if len(words) == 0 || strings.HasPrefix(words[0], "eui.") {
		return ""
	}
	return words[len(words)-1]
}

// gceNamespace is the namespace id that the instance's metadata have for an NVMe disk: the first half of its
// EUI.
func gceNamespace(v volume) (uint64, error) {
	digits, found := strings.CutPrefix(page83Text(v), "eui.")
	if !found {
		digits = strings.ReplaceAll(v.disk["serial"], "_", "")
	}
	if len(digits) < 16 {
		return 0, fmt.Errorf("disk %s of the profile is no NVMe disk", v.disk["number"])
	}
	return strconv.ParseUint(digits[:16], 16, 64)
}

// eui reads what Windows shows of an NVMe disk, as the driver does; empty when it is another disk.
func eui(page83, serial string) string {
	if strings.HasPrefix(page83, "eui.") && len(page83) >= len("eui.")+16 {
		return page83[len("eui."):][:16]
	}
	digits := strings.ReplaceAll(strings.TrimSuffix(serial, "."), "_", "")
	if len(digits) != 32 {
		return ""
	}
	return digits[:16]
}

func (d gce) findDisk(v volume) (uint32, error) {
	ids, err := d.listDiskIDs()
	if err != nil {
		return 0, err
	}
	name := gceName(v)
	if name == "" {
		namespace, err := gceNamespace(v)
		if err != nil {
			return 0, err
		}
		for number, id := range ids {
			if seen, err := strconv.ParseUint(eui(id.GetPage83(), id.GetSerialNumber()), 16, 64); err == nil && seen == namespace {
				return number, nil
			}
		}
	}
	for number, id := range ids {
		if id.GetPage83() == "" {
			continue
		}
		words := strings.Fields(id.GetPage83())
		if words[len(words)-1] == name { // panics when there are blanks only, as in the driver
			return number, nil
		}
	}
	return 0, fmt.Errorf("no disk for %q", name)
}

// isMountPoint asks about the path as the kubelet gave it.
func (d gce) isMountPoint(path string) (bool, error) {
	exists, err := d.exists(normalized(path))
	if err != nil || !exists {
		return false, err
	}
	return d.isSymlink(path)
}

func (d gce) stage(v volume) error {
	disk, err := d.findDisk(v)
	if err != nil {
		return err
	}
	if mounted, err := d.isMountPoint(v.staging); err != nil || mounted {
		return err
	}
	return d.formatAndMount(disk, v.staging)
}

// formatAndMount mounts on the path as the kubelet gave it.
func (d v1) formatAndMount(disk uint32, path string) error {
	if err := then(d.partition(disk), func() error { return d.setOnline(disk, true) }); err != nil {
		return err
	}
	ids, err := d.volumesOn(disk)
	if err != nil {
		return err
	}
	if len(ids) == 0 {
		return errors.New("ListVolumesOnDisk does not return any volumes")
	}
	return then(d.formatOnce(ids[0]), func() error { return d.mount(ids[0], path) })
}

func (d gce) publish(v volume) error {
	if mounted, err := d.isMountPoint(v.target); err != nil || mounted {
		return err
	}
	return then(d.rmdir(normalized(v.target), true), func() error { return d.link(v) })
}

func (d gce) stats(v volume) (int64, error) { return d.pathStats(v.target) }

func (d gce) expand(v volume) error {
	id, err := d.volumeAt(normalized(v.staging))
	if err != nil {
		return err
	}
	if err := d.resize(id, 0); err != nil {
		return err
	}
	disk, err := d.findDisk(v)
	if err != nil {
		return err
	}
	bytes, err := d.diskBytes(disk)
	if err == nil && bytes < v.bytes {
		err = fmt.Errorf("resize failed: the device has %d bytes, %d are wanted", bytes, v.bytes)
	}
	return err
}

func (d gce) unpublish(v volume) error { return d.rmdir(normalized(v.target), true) }

func (d gce) unstage(v volume) error { return d.unmountDevice(normalized(v.staging)) }

// unmountDevice has no way on from an error: a folder that is there but mounted no more stops it for good.
func (d v1) unmountDevice(path string) error {
	if exists, err := d.exists(path); err != nil || !exists {
		return err
	}
	id, err := d.volumeAt(path)
	if err != nil {
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
