// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"strings"

	systemapi "github.com/kubernetes-csi/csi-proxy/client/api/system/v1alpha1"
	systemv1alpha1 "github.com/kubernetes-csi/csi-proxy/client/groups/system/v1alpha1"
)

// vsphere is vsphere-csi-driver of the releases that use csi-proxy. When it starts it asks who the machine is.
type vsphere struct {
	v1
	serial string
}

func openVSphere(n *node) (driver, error) {
	d := vsphere{}
	var err error
	if d.v1, err = openV1(n); err != nil {
		return d, err
	}
	var system *systemv1alpha1.Client
	if err = open(&d.clients, systemv1alpha1.NewClient, &system); err != nil {
		return d, err
	}
	got, err := call(&node{}, system.GetBIOSSerialNumber, &systemapi.GetBIOSSerialNumberRequest{})
	d.serial = got.GetSerialNumber()
	return d, err
}

// sameSerial checks that the machine is still the one which the driver has started on.
func (d vsphere) sameSerial() error {
	again, err := openVSphere(&node{})
	if err != nil {
		return err
	}
	defer again.close()
	if serial := again.(vsphere).serial; serial != d.serial {
		return fmt.Errorf("the serial number was %q, and is %q", d.serial, serial)
	}
	return nil
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
