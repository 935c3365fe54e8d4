// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	diskapi "github.com/kubernetes-csi/csi-proxy/client/api/disk/v1"
)

// azureDisk is azuredisk-csi-driver on the v1 APIs.
type azureDisk struct{ v1 }

func openAzureDisk(n *node) (driver, error) {
	d, err := openV1(n)
	return azureDisk{d}, err
}

func (d azureDisk) leavesOffline() bool { return false }

// findDisk looks for the LUN, and for nothing else, until the disk has come.
func (d azureDisk) findDisk(lun string) (uint32, error) {
	const tries = 20
	for try := 0; try < tries; try++ {
		got, err := call(d.node, d.disks.ListDiskLocations, &diskapi.ListDiskLocationsRequest{})
		if err != nil {
			return 0, err
		}
		for number, location := range got.GetDiskLocations() {
			if strings.EqualFold(location.GetLUNID(), lun) {
				return number, nil
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
	return 0, fmt.Errorf("no disk at LUN %s", lun)
}

func (d azureDisk) stage(v volume) error {
	_ = d.rescan() // only logged
	address := strings.Split(v.disk["address"], ".")
	disk, err := d.findDisk(address[len(address)-1])
	if err != nil {
		return err
	}
	exists, err := d.exists(normalized(v.staging))
	if err != nil {
		return err
	}
	staged := false
	if exists {
		if staged, err = d.isSymlink(normalized(v.staging)); err != nil {
			return err
		}
	}
	if !staged {
		if err := d.formatAndMount(disk, normalized(v.staging)); err != nil {
			return err
		}
	}
	// The driver hands over the disk's number where a volume id is due, and lives with the error.
	if err := d.resize(strconv.FormatUint(uint64(disk), 10), 0); err == nil {
		return errors.New("a disk number was taken for a volume id and resized")
	}
	return nil
}

func (d azureDisk) formatAndMount(disk uint32, path string) error {
	if err := d.partition(disk); err != nil {
		return err
	}
	ids, err := d.volumesOn(disk)
	if err != nil {
		return err
	}
	id := ids[0] // without a look at the length, as in the driver
	return then(d.formatOnce(id), func() error { return d.mount(id, path) })
}

func (d azureDisk) publish(v volume) error {
	target := normalized(v.target)
	exists, err := d.exists(target)
	if err != nil {
		return err
	}
	if exists {
		if err := d.rmdir(target, true); err != nil {
			return err
		}
	}
	if exists, err = d.exists(target); err != nil {
		return err
	}
	if exists {
		if linked, err := d.isSymlink(target); err != nil || linked {
			return err
		}
	}
	return d.link(v)
}

func (d azureDisk) stats(v volume) (int64, error) { return d.pathStats(v.target) }

func (d azureDisk) expand(v volume) error {
	id, err := d.volumeAt(v.target)
	if err != nil {
		return err
	}
	if _, err := d.volumeBytes(id); err != nil {
		return err
	}
	if err := d.resize(id, 0); err != nil {
		return err
	}
	bytes, err := d.volumeBytes(id)
	if gib := int64(1) << 30; err == nil && (bytes+gib-1)/gib < v.bytes/gib {
		err = fmt.Errorf("resize requested for %d bytes, but the volume has %d", v.bytes, bytes)
	}
	return err
}

func (d azureDisk) unpublish(v volume) error { return d.rmdir(normalized(v.target), true) }

// unstage leaves it to Rmdir to take the mount point away.
func (d azureDisk) unstage(v volume) error {
	if id, err := d.volumeAt(v.staging); err == nil {
		_ = d.flush(id) // only a warning
	}
	return d.rmdir(normalized(v.staging), true)
}
