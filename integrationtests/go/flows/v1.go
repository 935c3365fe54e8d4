// SPDX-License-Identifier: Apache-2.0

package main

import (
	diskapi "github.com/kubernetes-csi/csi-proxy/client/api/disk/v1"
	fsapi "github.com/kubernetes-csi/csi-proxy/client/api/filesystem/v1"
	volumeapi "github.com/kubernetes-csi/csi-proxy/client/api/volume/v1"
	diskv1 "github.com/kubernetes-csi/csi-proxy/client/groups/disk/v1"
	fsv1 "github.com/kubernetes-csi/csi-proxy/client/groups/filesystem/v1"
	volumev1 "github.com/kubernetes-csi/csi-proxy/client/groups/volume/v1"
)

// v1 has the calls that drivers on the v1 APIs make, each as the drivers spell it.
type v1 struct {
	clients
	*node
	disks   *diskv1.Client
	files   *fsv1.Client
	volumes *volumev1.Client
}

func openV1(n *node) (v1, error) {
	d := v1{node: n}
	err := first(open(&d.clients, diskv1.NewClient, &d.disks), open(&d.clients, fsv1.NewClient, &d.files),
		open(&d.clients, volumev1.NewClient, &d.volumes))
	return d, err
}

func (d v1) rescan() error {
	_, err := call(d.node, d.disks.Rescan, &diskapi.RescanRequest{})
	return err
}

func (d v1) listDiskIDs() (map[uint32]*diskapi.DiskIDs, error) {
	got, err := call(d.node, d.disks.ListDiskIDs, &diskapi.ListDiskIDsRequest{})
	return got.GetDiskIDs(), err
}

func (d v1) partition(disk uint32) error {
	_, err := call(d.node, d.disks.PartitionDisk, &diskapi.PartitionDiskRequest{DiskNumber: disk})
	return err
}

func (d v1) setOnline(disk uint32, online bool) error {
	_, err := call(d.node, d.disks.SetDiskState, &diskapi.SetDiskStateRequest{DiskNumber: disk, IsOnline: online})
	return err
}

func (d v1) diskBytes(disk uint32) (int64, error) {
	got, err := call(d.node, d.disks.GetDiskStats, &diskapi.GetDiskStatsRequest{DiskNumber: disk})
	return got.GetTotalBytes(), err
}

func (d v1) exists(path string) (bool, error) {
	got, err := call(d.node, d.files.PathExists, &fsapi.PathExistsRequest{Path: path})
	return got.GetExists(), err
}

func (d v1) isSymlink(path string) (bool, error) {
	got, err := call(d.node, d.files.IsSymlink, &fsapi.IsSymlinkRequest{Path: path})
	return got.GetIsSymlink(), err
}

func (d v1) mkdir(path string) error {
	_, err := call(d.node, d.files.Mkdir, &fsapi.MkdirRequest{Path: path})
	return err
}

func (d v1) rmdir(path string, force bool) error {
	_, err := call(d.node, d.files.Rmdir, &fsapi.RmdirRequest{Path: path, Force: force})
	return err
}

func (d v1) symlink(source, target string) error {
	_, err := call(d.node, d.files.CreateSymlink, &fsapi.CreateSymlinkRequest{SourcePath: source, TargetPath: target})
	return err
}

func (d v1) volumesOn(disk uint32) ([]string, error) {
	got, err := call(d.node, d.volumes.ListVolumesOnDisk, &volumeapi.ListVolumesOnDiskRequest{DiskNumber: disk})
	return got.GetVolumeIds(), err
}

func (d v1) isFormatted(id string) (bool, error) {
	got, err := call(d.node, d.volumes.IsVolumeFormatted, &volumeapi.IsVolumeFormattedRequest{VolumeId: id})
	return got.GetFormatted(), err
}

func (d v1) format(id string) error {
	_, err := call(d.node, d.volumes.FormatVolume, &volumeapi.FormatVolumeRequest{VolumeId: id})
	return err
}

func (d v1) mount(id, path string) error {
	_, err := call(d.node, d.volumes.MountVolume, &volumeapi.MountVolumeRequest{VolumeId: id, TargetPath: path})
	return err
}

func (d v1) unmount(id, path string) error {
	_, err := call(d.node, d.volumes.UnmountVolume, &volumeapi.UnmountVolumeRequest{VolumeId: id, TargetPath: path})
	return err
}

func (d v1) flush(id string) error {
	_, err := call(d.node, d.volumes.WriteVolumeCache, &volumeapi.WriteVolumeCacheRequest{VolumeId: id})
	return err
}

func (d v1) volumeAt(path string) (string, error) {
	got, err := call(d.node, d.volumes.GetVolumeIDFromTargetPath, &volumeapi.GetVolumeIDFromTargetPathRequest{TargetPath: path})
	return got.GetVolumeId(), err
}

func (d v1) diskOf(id string) (uint32, error) {
	got, err := call(d.node, d.volumes.GetDiskNumberFromVolumeID, &volumeapi.GetDiskNumberFromVolumeIDRequest{VolumeId: id})
	return got.GetDiskNumber(), err
}

func (d v1) volumeBytes(id string) (int64, error) {
	got, err := call(d.node, d.volumes.GetVolumeStats, &volumeapi.GetVolumeStatsRequest{VolumeId: id})
	return got.GetTotalBytes(), err
}

func (d v1) resize(id string, bytes int64) error {
	_, err := call(d.node, d.volumes.ResizeVolume, &volumeapi.ResizeVolumeRequest{VolumeId: id, SizeBytes: bytes})
	return err
}

// formatOnce formats the volume unless it is formatted, as all drivers do.
func (d v1) formatOnce(id string) error {
	formatted, err := d.isFormatted(id)
	if err == nil && !formatted {
		err = d.format(id)
	}
	return err
}

// link makes the target directory of a pod a link to the staging path.
func (d v1) link(v volume) error {
	return d.symlink(normalized(v.staging), normalized(v.target))
}

// pathStats looks the volume up by a path and returns its size.
func (d v1) pathStats(path string) (int64, error) {
	id, err := d.volumeAt(path)
	if err != nil {
		return 0, err
	}
	return d.volumeBytes(id)
}
