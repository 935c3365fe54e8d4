// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strconv"

	volumeapi "github.com/kubernetes-csi/csi-proxy/client/api/volume/v2alpha1"
	volumev2alpha1 "github.com/kubernetes-csi/csi-proxy/client/groups/volume/v2alpha1"
)

// longhorn is Longhorn's driver for Windows, behind its iSCSI calls: those tell it the disk's number.
type longhorn struct {
	v1
	volumes *volumev2alpha1.Client
}

func openLonghorn(n *node) (driver, error) {
	d := longhorn{}
	var err error
	if d.v1, err = openV1(n); err == nil {
		err = open(&d.clients, volumev2alpha1.NewClient, &d.volumes)
	}
	return d, err
}

func (d longhorn) leavesOffline() bool { return true }

func (d longhorn) stage(v volume) error {
	number, err := strconv.ParseUint(v.disk["number"], 10, 32)
	if err != nil {
		return err
	}
	disk, path := uint32(number), normalized(v.staging)
	if id, err := d.volumeAt(path); err == nil {
		if mounted, err := d.diskOf(id); err == nil && mounted == disk {
			return nil
		}
	}
	if err := then(d.setOnline(disk, true), func() error { return d.partition(disk) }); err != nil {
		return err
	}
	volumes, err := call(d.node, d.volumes.ListVolumesOnDisk, &volumeapi.ListVolumesOnDiskRequest{DiskNumber: disk})
	if err != nil {
		return err
	}
	ids := volumes.GetVolumeIds()
	if len(ids) != 1 {
		return fmt.Errorf("expected exactly one volume, got %d", len(ids))
	}
	formatted, err := call(d.node, d.volumes.IsVolumeFormatted, &volumeapi.IsVolumeFormattedRequest{VolumeId: ids[0]})
	if err != nil {
		return err
	}
	if !formatted.GetFormatted() {
		if _, err := call(d.node, d.volumes.FormatVolume, &volumeapi.FormatVolumeRequest{VolumeId: ids[0]}); err != nil {
			return err
		}
	}
	if err := d.mkdir(path); err != nil {
		return err
	}
	_, err = call(d.node, d.volumes.MountVolume, &volumeapi.MountVolumeRequest{VolumeId: ids[0], TargetPath: path})
	return err
}

func (d longhorn) publish(v volume) error {
	target := normalized(v.target)
	if linked, err := d.isSymlink(target); err == nil && linked {
		return nil
	}
	// Without force: contents that somebody left there must stay.
	exists, err := d.exists(target)
	if err == nil && exists {
		err = d.rmdir(target, false)
	}
	if err != nil {
		return err
	}
	return d.link(v)
}

func (d longhorn) stats(v volume) (int64, error) {
	got, err := call(d.node, d.volumes.GetClosestVolumeIDFromTargetPath,
		&volumeapi.GetClosestVolumeIDFromTargetPathRequest{TargetPath: normalized(v.target)})
	if err != nil {
		return 0, err
	}
	return d.volumeBytes(got.GetVolumeId())
}

func (d longhorn) expand(v volume) error {
	if err := d.rescan(); err != nil {
		return err
	}
	id, err := d.volumeAt(normalized(v.staging))
	if err != nil {
		return err
	}
	return d.resize(id, 0)
}

func (d longhorn) unpublish(v volume) error {
	exists, err := d.exists(normalized(v.target))
	if err == nil && exists {
		err = d.rmdir(normalized(v.target), false)
	}
	return err
}

func (d longhorn) unstage(v volume) error {
	path := normalized(v.staging)
	if id, err := d.volumeAt(path); err == nil {
		_ = d.flush(id) // only a warning
		if err := d.unmount(id, path); err != nil {
			return err
		}
	} else if !notMounted.MatchString(err.Error()) {
		return err
	}
	exists, err := d.exists(path)
	if err == nil && exists {
		err = d.rmdir(path, false)
	}
	if err != nil {
		return err
	}
	number, err := strconv.ParseUint(v.disk["number"], 10, 32)
	if err != nil {
		return err
	}
	return d.setOnline(uint32(number), false)
}
