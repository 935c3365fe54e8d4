// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	diskapi "github.com/kubernetes-csi/csi-proxy/client/api/disk/v1beta2"
	fsapi "github.com/kubernetes-csi/csi-proxy/client/api/filesystem/v1beta1"
	volumeapi "github.com/kubernetes-csi/csi-proxy/client/api/volume/v1beta1"
	diskv1beta2 "github.com/kubernetes-csi/csi-proxy/client/groups/disk/v1beta2"
	fsv1beta1 "github.com/kubernetes-csi/csi-proxy/client/groups/filesystem/v1beta1"
	volumev1beta1 "github.com/kubernetes-csi/csi-proxy/client/groups/volume/v1beta1"
)

// gceBeta is the same driver where only the beta APIs are there.
type gceBeta struct {
	clients
	*node
	disks   *diskv1beta2.Client
	files   *fsv1beta1.Client
	volumes *volumev1beta1.Client
}

func openGCEBeta(n *node) (driver, error) {
	d := gceBeta{node: n}
	err := first(open(&d.clients, diskv1beta2.NewClient, &d.disks), open(&d.clients, fsv1beta1.NewClient, &d.files),
		open(&d.clients, volumev1beta1.NewClient, &d.volumes))
	return d, err
}

func (d gceBeta) leavesOffline() bool { return true }

// inResponse is the error that the first versions have a field for.
func inResponse(err error, text string) error {
	if err == nil && text != "" {
		err = errors.New(text)
	}
	return err
}

// findDisk looks for a key of NVMe disks that the service has never had, and then for the page 83 identifier.
func (d gceBeta) findDisk(v volume) (string, error) {
	got, err := call(d.node, d.disks.ListDiskIDs, &diskapi.ListDiskIDsRequest{})
	if err != nil {
		return "", err
	}
	for _, disk := range got.GetDiskIDs() {
		if _, found := disk.GetIdentifiers()["SerialNumber"]; found {
			return "", errors.New("a key SerialNumber, which no release has had")
		}
	}
	for number, disk := range got.GetDiskIDs() {
		id, found := disk.GetIdentifiers()["page83"]
		if !found || id == "" {
			continue
		}
		words := strings.Fields(id)
		if words[len(words)-1] == gceName(v) {
			return number, nil
		}
	}
	return "", fmt.Errorf("no disk for %q", gceName(v))
}

func (d gceBeta) exists(path string, context fsapi.PathContext) (bool, error) {
	got, err := call(d.node, d.files.PathExists, &fsapi.PathExistsRequest{Path: path, Context: context})
	return got.GetExists(), inResponse(err, got.GetError())
}

func (d gceBeta) isMountPoint(path string, context fsapi.PathContext) (bool, error) {
	exists, err := d.exists(normalized(path), context)
	if err != nil || !exists {
		return false, err
	}
	got, err := call(d.node, d.files.IsMountPoint, &fsapi.IsMountPointRequest{Path: path})
	return got.GetIsMountPoint(), inResponse(err, got.GetError())
}

func (d gceBeta) rmdir(path string, context fsapi.PathContext) error {
	got, err := call(d.node, d.files.Rmdir, &fsapi.RmdirRequest{Path: path, Context: context, Force: true})
	return inResponse(err, got.GetError())
}

func (d gceBeta) setOnline(disk string, online bool) error {
	_, err := call(d.node, d.disks.SetAttachState, &diskapi.SetAttachStateRequest{DiskID: disk, IsOnline: online})
	return err
}

func (d gceBeta) volumeAt(path string) (string, error) {
	got, err := call(d.node, d.volumes.GetVolumeIDFromMount, &volumeapi.VolumeIDFromMountRequest{Mount: path})
	return got.GetVolumeId(), err
}

func (d gceBeta) stage(v volume) error {
	disk, err := d.findDisk(v)
	if err != nil {
		return err
	}
	if mounted, err := d.isMountPoint(v.staging, fsapi.PathContext_PLUGIN); err != nil || mounted {
		return err
	}
	if _, err := call(d.node, d.disks.PartitionDisk, &diskapi.PartitionDiskRequest{DiskID: disk}); err != nil {
		return err
	}
	if err := d.setOnline(disk, true); err != nil {
		return err
	}
	volumes, err := call(d.node, d.volumes.ListVolumesOnDisk, &volumeapi.ListVolumesOnDiskRequest{DiskId: disk})
	if err != nil {
		return err
	}
	if len(volumes.GetVolumeIds()) == 0 {
		return errors.New("ListVolumesOnDisk does not return any volumes")
	}
	id := volumes.GetVolumeIds()[0]
	formatted, err := call(d.node, d.volumes.IsVolumeFormatted, &volumeapi.IsVolumeFormattedRequest{VolumeId: id})
	if err != nil {
		return err
	}
	if !formatted.GetFormatted() {
		if _, err := call(d.node, d.volumes.FormatVolume, &volumeapi.FormatVolumeRequest{VolumeId: id}); err != nil {
			return err
		}
	}
	_, err = call(d.node, d.volumes.MountVolume, &volumeapi.MountVolumeRequest{VolumeId: id, Path: v.staging})
	return err
}

func (d gceBeta) publish(v volume) error {
	if mounted, err := d.isMountPoint(v.target, fsapi.PathContext_POD); err != nil || mounted {
		return err
	}
	if err := d.rmdir(normalized(v.target), fsapi.PathContext_POD); err != nil {
		return err
	}
	got, err := call(d.node, d.files.LinkPath,
		&fsapi.LinkPathRequest{SourcePath: normalized(v.staging), TargetPath: normalized(v.target)})
	return inResponse(err, got.GetError())
}

func (d gceBeta) stats(v volume) (int64, error) {
	id, err := d.volumeAt(v.target)
	if err != nil {
		return 0, err
	}
	got, err := call(d.node, d.volumes.VolumeStats, &volumeapi.VolumeStatsRequest{VolumeId: id})
	return got.GetVolumeSize(), err
}

func (d gceBeta) expand(v volume) error {
	id, err := d.volumeAt(normalized(v.staging))
	if err != nil {
		return err
	}
	if _, err := call(d.node, d.volumes.ResizeVolume, &volumeapi.ResizeVolumeRequest{VolumeId: id, Size: 0}); err != nil {
		return err
	}
	disk, err := d.findDisk(v)
	if err != nil {
		return err
	}
	got, err := call(d.node, d.disks.DiskStats, &diskapi.DiskStatsRequest{DiskID: disk})
	if err == nil && got.GetDiskSize() < v.bytes {
		err = fmt.Errorf("resize failed: the device has %d bytes, %d are wanted", got.GetDiskSize(), v.bytes)
	}
	return err
}

func (d gceBeta) unpublish(v volume) error {
	return d.rmdir(normalized(v.target), fsapi.PathContext_POD)
}

func (d gceBeta) unstage(v volume) error {
	path := normalized(v.staging)
	if exists, err := d.exists(path, fsapi.PathContext_PLUGIN); err != nil || !exists {
		return err
	}
	id, err := d.volumeAt(path)
	if err != nil {
		return err
	}
	_, err = call(d.node, d.volumes.DismountVolume, &volumeapi.DismountVolumeRequest{VolumeId: id, Path: path})
	if err != nil {
		return err
	}
	if err := d.rmdir(path, fsapi.PathContext_PLUGIN); err != nil {
		return err
	}
	got, err := call(d.node, d.volumes.GetVolumeDiskNumber, &volumeapi.VolumeDiskNumberRequest{VolumeId: id})
	if err != nil {
		return err
	}
	return d.setOnline(strconv.FormatInt(got.GetDiskNumber(), 10), false)
}
