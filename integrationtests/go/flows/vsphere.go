// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"strings"
)

// vsphere is vsphere-csi-driver of the releases that use csi-proxy. It also opens the system group when it
// starts, which this service does not have yet.
type vsphere struct{ v1 }

func openVSphere(n *node) (driver, error) {
	d, err := openV1(n)
	return vsphere{d}, err
}

func (d vsphere) leavesOffline() bool { return true }

// diskID is what the controller sends: the binary identifier of the disk itself, not that of its port.
func diskID(v volume) string {
	for _, spec := range strings.Split(v.disk["page83"], ",") {
		id, kind, _ := strings.Cut(spec, "@")
		if digits, hex := strings.CutPrefix(id, "hex:"); hex && strings.HasPrefix(kind, "0") {
			return strings.ToLower(digits)
		}
	}
	return ""
}

// findDisk wants the first identifier of the disk, in lower-case hex, to be the id that the controller sent.
func (d vsphere) findDisk(v volume) (uint32, error) {
	id := diskID(v)
	all, err := d.listDiskIDs()
	if err != nil {
		return 0, err
	}
	for number, seen := range all {
		if seen.GetPage83() != "" && seen.GetPage83() == id {
			return number, nil
		}
	}
	return 0, errors.New("no matching disks found")
}

func (d vsphere) stage(v volume) error {
	disk, err := d.findDisk(v)
	if err != nil {
		return err
	}
	path := normalized(v.staging)
	exists, err := d.exists(path)
	if err != nil {
		return err
	}
	if exists {
		// The driver then reads the folder in its own process, and unmounts it when that fails.
		if mounted, err := d.isSymlink(path); err != nil || mounted {
			return err
		}
	}
	return d.formatAndMount(disk, path)
}

func (d vsphere) publish(v volume) error {
	target := normalized(v.target)
	exists, err := d.exists(target)
	if err == nil && exists {
		err = d.rmdir(target, true)
	}
	if err != nil {
		return err
	}
	return then(d.mkdir(parent(target)), func() error { return d.link(v) })
}

func (d vsphere) stats(v volume) (int64, error) { return d.pathStats(normalized(v.target)) }

func (d vsphere) expand(v volume) error {
	id, err := d.volumeAt(normalized(v.staging))
	if err != nil {
		return err
	}
	if err := d.rescan(); err != nil {
		return err
	}
	disk, err := d.diskOf(id)
	if err != nil {
		return err
	}
	return then(d.setOnline(disk, true), func() error { return d.resize(id, 0) })
}

func (d vsphere) unpublish(v volume) error { return d.rmdir(normalized(v.target), true) }

func (d vsphere) unstage(v volume) error { return d.unmountDevice(normalized(v.staging)) }
