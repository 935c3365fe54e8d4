// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strconv"

	iscsiapi "github.com/kubernetes-csi/csi-proxy/client/api/iscsi/v1alpha2"
	volumeapi "github.com/kubernetes-csi/csi-proxy/client/api/volume/v2alpha1"
	iscsiv1alpha2 "github.com/kubernetes-csi/csi-proxy/client/groups/iscsi/v1alpha2"
	volumev2alpha1 "github.com/kubernetes-csi/csi-proxy/client/groups/volume/v2alpha1"
)

// longhorn is Longhorn's driver for Windows, whose disks are behind iSCSI.
type longhorn struct {
	v1
	volumes *volumev2alpha1.Client
	iscsi   *iscsiv1alpha2.Client
}

func openLonghorn(n *node) (driver, error) {
	d := longhorn{}
	var err error
	if d.v1, err = openV1(n); err == nil {
		err = first(open(&d.clients, volumev2alpha1.NewClient, &d.volumes), open(&d.clients, iscsiv1alpha2.NewClient, &d.iscsi))
	}
	return d, err
}

func (d longhorn) leavesOffline() bool { return true }

func portalOf(at lun) *iscsiapi.TargetPortal {
	return &iscsiapi.TargetPortal{TargetAddress: at.address, TargetPort: at.port}
}

func (d longhorn) targets(at lun) ([]string, error) {
	got, err := call(d.node, d.iscsi.DiscoverTargetPortal, &iscsiapi.DiscoverTargetPortalRequest{TargetPortal: portalOf(at)})
	return got.GetIqns(), err
}

// discover registers the portal when it cannot be asked, and wants the target to be there.
func (d longhorn) discover(at lun) error {
	iqns, err := d.targets(at)
	if err != nil {
		if _, err := call(d.node, d.iscsi.AddTargetPortal, &iscsiapi.AddTargetPortalRequest{TargetPortal: portalOf(at)}); err != nil {
			return err
		}
		if iqns, err = d.targets(at); err != nil {
			return err
		}
	}
	for _, iqn := range iqns {
		if iqn == at.iqn {
			return nil
		}
	}
	return fmt.Errorf("the portal has no target %s", at.iqn)
}

func (d longhorn) targetDisks(at lun) ([]string, error) {
	got, err := call(d.node, d.iscsi.GetTargetDisks, &iscsiapi.GetTargetDisksRequest{TargetPortal: portalOf(at), Iqn: at.iqn})
	return got.GetDiskIDs(), err
}

// connect returns the number of the target's disk, which must be the only one.
func (d longhorn) connect(at lun) (uint32, error) {
	_, err := call(d.node, d.iscsi.ConnectTarget, &iscsiapi.ConnectTargetRequest{TargetPortal: portalOf(at), Iqn: at.iqn,
		AuthType: iscsiapi.AuthenticationType_ONE_WAY_CHAP, ChapUsername: at.user, ChapSecret: at.secret})
	if err != nil {
		return 0, err
	}
	disks, err := d.targetDisks(at)
	if err != nil {
		return 0, err
	}
	if len(disks) != 1 {
		return 0, fmt.Errorf("expected exactly one disk, got %d", len(disks))
	}
	number, err := strconv.ParseUint(disks[0], 10, 32)
	return uint32(number), err
}

// disconnect takes the disks of the target offline, logs out, and forgets the portal.
func (d longhorn) disconnect(at lun) error {
	portals, err := call(d.node, d.iscsi.ListTargetPortals, &iscsiapi.ListTargetPortalsRequest{})
	if err != nil {
		return err
	}
	registered := false
	for _, portal := range portals.GetTargetPortals() {
		registered = registered || portal.GetTargetAddress() == at.address && portal.GetTargetPort() == at.port
	}
	if !registered {
		return nil
	}
	disks, err := d.targetDisks(at)
	if err != nil {
		return err
	}
	for _, text := range disks {
		number, err := strconv.ParseUint(text, 10, 32)
		if err == nil {
			err = d.setOnline(uint32(number), false)
		}
		if err != nil {
			return err
		}
	}
	_, err = call(d.node, d.iscsi.DisconnectTarget, &iscsiapi.DisconnectTargetRequest{TargetPortal: portalOf(at), Iqn: at.iqn})
	if err == nil {
		_, err = call(d.node, d.iscsi.RemoveTargetPortal, &iscsiapi.RemoveTargetPortalRequest{TargetPortal: portalOf(at)})
	}
	return err
}

func (d longhorn) stage(v volume) error {
	if err := d.discover(v.lun); err != nil {
		return err
	}
	disk, err := d.connect(v.lun)
	if err != nil {
		return err
	}
	path := normalized(v.staging)
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
	return d.disconnect(v.lun)
}
