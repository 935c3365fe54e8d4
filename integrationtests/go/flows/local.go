// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"

	fsapi "github.com/kubernetes-csi/csi-proxy/client/api/filesystem/v2alpha1"
	volumeapi "github.com/kubernetes-csi/csi-proxy/client/api/volume/v2alpha1"
	fsv2alpha1 "github.com/kubernetes-csi/csi-proxy/client/groups/filesystem/v2alpha1"
	volumev2alpha1 "github.com/kubernetes-csi/csi-proxy/client/groups/volume/v2alpha1"
)

// local is sig-storage-local-static-provisioner. It finds volumes that an administrator mounted, as links in
// a discovery directory, and empties them when they are released.
type local struct {
	clients
	*node
	files    *fsv2alpha1.Client
	volumes  *volumev2alpha1.Client
	admin    v1     // the administrator's calls, which nobody counts
	mount    string // where the administrator mounted the volume
	hostPath string // the link to it in the discovery directory
}

func openLocal(n *node) (*local, error) {
	d := &local{
		node:     n,
		mount:    `C:` + kubelet + `plugins\local\volumes\disk-1`,
		hostPath: `C:` + kubelet + `plugins\local\discovery\disk-1`,
	}
	err := first(open(&d.clients, fsv2alpha1.NewClient, &d.files), open(&d.clients, volumev2alpha1.NewClient, &d.volumes))
	if err == nil {
		d.admin, err = openV1(&node{})
		d.clients = append(d.clients, d.admin.clients...)
	}
	return d, err
}

// prepare is what the administrator does.
func (d *local) prepare(disk uint32) error {
	err := then(d.admin.mkdir(d.mount), func() error { return d.admin.mkdir(parent(d.hostPath)) },
		func() error { return d.admin.partition(disk) })
	if err != nil {
		return err
	}
	ids, err := d.admin.volumesOn(disk)
	if err != nil {
		return err
	}
	return then(d.admin.formatOnce(ids[0]), func() error { return d.admin.mount(ids[0], d.mount) },
		func() error { return d.admin.symlink(d.mount, d.hostPath) })
}

// remove is how the administrator takes it away again.
func (d *local) remove() error {
	id, err := d.admin.volumeAt(d.mount)
	if err != nil {
		return err
	}
	return then(d.admin.rmdir(d.hostPath, true), func() error { return d.admin.unmount(id, d.mount) },
		func() error { return d.admin.rmdir(d.mount, false) })
}

// discover returns the capacity of what the link leads to.
func (d *local) discover() (int64, error) {
	linked, err := call(d.node, d.files.IsSymlink, &fsapi.IsSymlinkRequest{Path: d.hostPath})
	if err != nil {
		return 0, err
	}
	if !linked.GetIsSymlink() {
		return 0, fmt.Errorf("%q is not a symlink", d.hostPath)
	}
	closest, err := call(d.node, d.volumes.GetClosestVolumeIDFromTargetPath,
		&volumeapi.GetClosestVolumeIDFromTargetPathRequest{TargetPath: d.hostPath})
	if err != nil {
		return 0, err
	}
	mounted, err := call(d.node, d.volumes.GetVolumeIDFromTargetPath,
		&volumeapi.GetVolumeIDFromTargetPathRequest{TargetPath: d.hostPath})
	if err == nil && mounted.GetVolumeId() != closest.GetVolumeId() {
		err = fmt.Errorf("the link leads to %s, and the closest volume is %s", mounted.GetVolumeId(), closest.GetVolumeId())
	}
	if err != nil {
		return 0, err
	}
	got, err := call(d.node, d.volumes.GetVolumeStats, &volumeapi.GetVolumeStatsRequest{VolumeId: closest.GetVolumeId()})
	return got.GetTotalBytes(), err
}

// release empties the volume.
func (d *local) release(path string) error {
	_, err := call(d.node, d.files.RmdirContents, &fsapi.RmdirContentsRequest{Path: path})
	return err
}

// localPhases are the provisioner's two phases.
func (r *runner) localPhases(d *local) []phase {
	capacityIsRight := func() error {
		got, err := d.discover()
		if err != nil {
			return err
		}
		volume, err := r.scene.only()
		if length := volume.Number("length"); err == nil && (got > length || got < length-1<<20) {
			err = fmt.Errorf("a capacity of %d bytes was discovered, the volume has %d", got, length)
		}
		return err
	}
	return []phase{
		{name: "discover", before: nothing, do: func() error { _, err := d.discover(); return err },
			after: func() error { return r.whole(capacityIsRight) }},
		{name: "release", before: r.scene.mark, do: func() error { return d.release(d.mount) }, after: func() error {
			if _, err := os.Lstat(d.mount); err != nil {
				return err
			}
			return first(r.scene.emptied(), r.whole(capacityIsRight))
		}, empties: true},
	}
}
