// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	diskapi "github.com/kubernetes-csi/csi-proxy/client/api/disk/v1"
	volumeapi "github.com/kubernetes-csi/csi-proxy/client/api/volume/v1"
	diskv1 "github.com/kubernetes-csi/csi-proxy/client/groups/disk/v1"
	volumev1 "github.com/kubernetes-csi/csi-proxy/client/groups/volume/v1"

	"csi-proxy/integrationtests/testbed"
)

const (
	storageCalls = 200 // of an RPC that is quick
	costlyCalls  = 10  // of one that is not
	firstDisk    = 100
	partitioners = 8
	storageMount = `C:\var\lib\kubelet\plugins\bench.csi\mount`
	grownBy      = int64(1) << 30
)

// storage measures the disk and volume groups on the testbed.
type storage struct {
	bed     *testbed.Bed
	disks   *diskv1.Client
	volumes *volumev1.Client
	count   int // how many disks there are
	id      string
	size    int64
}

func newStorage() *storage {
	bed, err := testbed.Open()
	fail(err)
	s := &storage{bed: bed}
	s.disks, err = diskv1.NewClient()
	fail(err)
	s.volumes, err = volumev1.NewClient()
	fail(err)
	return s
}

// measure makes calls and prints their median, and the device calls and opened devices of each. between
// brings back what a call has changed, and is not counted; it may be nil.
func (s *storage) measure(name string, calls int, call, between func() error) {
	if between == nil {
		between = func() error { return nil }
	}
	fail(between())
	fail(call())
	var took latencies
	var deviceCalls, opens int64
	for i := 0; i < calls; i++ {
		fail(between())
		_, err := s.bed.Do("counters reset")
		fail(err)
		took.time(call)
		if i == calls-1 {
			deviceCalls, opens = s.counted()
		}
	}
	name = fmt.Sprintf("storage.%s.%d", name, s.count)
	took.print(name)
	printFigure(name+".device_calls", float64(deviceCalls))
	printFigure(name+".opens", float64(opens))
}

func (s *storage) counted() (calls, opens int64) {
	counters, err := s.bed.Records("counters")
	fail(err)
	for _, counter := range counters {
		switch counter["call"] {
		case "OPEN":
			opens += counter.Number("count")
		case "CLOSE", "":
		default:
			calls += counter.Number("count")
		}
	}
	return calls, opens
}

// plug puts so many disks in, with a volume each.
func (s *storage) plug(count int) {
	fail(s.bed.Reset())
	for i := 0; i < count; i++ {
		fail(s.bed.AddDisk(uint32(firstDisk+i), "4G", fmt.Sprintf(
			"address=2.0.%d.%d page83=hex:6000C29A98D05E384A43F0EF1800%04X@0/3 serial=vol%017x_00000001.", i/64, i%64, i, i)))
	}
	var wait sync.WaitGroup
	for p := 0; p < partitioners; p++ {
		wait.Add(1)
		go func(p int) {
			defer wait.Done()
			for i := p; i < count; i += partitioners {
				fail(s.partition(uint32(firstDisk + i)))
			}
		}(p)
	}
	wait.Wait()
	s.count, s.size = count, 4<<30
	volumes, err := s.bed.Volumes(firstDisk)
	fail(err)
	s.id = testbed.VolumeID(volumes[0])
}

func (s *storage) partition(disk uint32) error {
	_, err := s.disks.PartitionDisk(context.Background(), &diskapi.PartitionDiskRequest{DiskNumber: disk})
	return err
}

func (s *storage) setOnline(online bool) error {
	_, err := s.disks.SetDiskState(context.Background(), &diskapi.SetDiskStateRequest{DiskNumber: firstDisk, IsOnline: online})
	return err
}

func (s *storage) list() error {
	got, err := s.volumes.ListVolumesOnDisk(context.Background(), &volumeapi.ListVolumesOnDiskRequest{DiskNumber: firstDisk})
	if err == nil && len(got.VolumeIds) != 1 {
		err = fmt.Errorf("%d volumes", len(got.VolumeIds))
	}
	return err
}

func (s *storage) format() error {
	_, err := s.volumes.FormatVolume(context.Background(), &volumeapi.FormatVolumeRequest{VolumeId: s.id})
	return err
}

func (s *storage) resize() error {
	_, err := s.volumes.ResizeVolume(context.Background(), &volumeapi.ResizeVolumeRequest{VolumeId: s.id})
	return err
}

// replug brings an empty disk in place of the first one.
func (s *storage) replug() error {
	if err := s.bed.RemoveDisk(firstDisk); err != nil {
		return err
	}
	return s.bed.AddDisk(firstDisk, "4G", "")
}

func (s *storage) grow() error {
	s.size += grownBy
	return s.bed.GrowDisk(firstDisk, s.size)
}

// lists measures what depends on the number of disks.
func (s *storage) lists() {
	calls := storageCalls
	if s.count > 100 {
		calls = costlyCalls
	}
	ctx := context.Background()
	s.measure("ListDiskLocations", calls, func() error {
		got, err := s.disks.ListDiskLocations(ctx, &diskapi.ListDiskLocationsRequest{})
		if err == nil && len(got.DiskLocations) != s.count {
			err = fmt.Errorf("%d of %d disks", len(got.DiskLocations), s.count)
		}
		return err
	}, nil)
	s.measure("ListDiskIDs", calls, func() error {
		got, err := s.disks.ListDiskIDs(ctx, &diskapi.ListDiskIDsRequest{})
		if err == nil && len(got.DiskIDs) != s.count {
			err = fmt.Errorf("%d of %d disks", len(got.DiskIDs), s.count)
		}
		return err
	}, nil)
	s.measure("ListVolumesOnDisk", calls, s.list, nil)
}

// single measures what is about one disk or volume.
func (s *storage) single() {
	ctx := context.Background()
	s.measure("GetDiskStats", storageCalls, func() error {
		_, err := s.disks.GetDiskStats(ctx, &diskapi.GetDiskStatsRequest{DiskNumber: firstDisk})
		return err
	}, nil)
	s.measure("GetDiskState", storageCalls, func() error {
		_, err := s.disks.GetDiskState(ctx, &diskapi.GetDiskStateRequest{DiskNumber: firstDisk})
		return err
	}, nil)
	s.measure("SetDiskState, as it is", storageCalls, func() error { return s.setOnline(true) }, nil)
	s.measure("PartitionDisk, done already", storageCalls, func() error { return s.partition(firstDisk) }, nil)
	s.measure("Rescan", costlyCalls, func() error {
		_, err := s.disks.Rescan(ctx, &diskapi.RescanRequest{})
		return err
	}, nil)
	s.measure("IsVolumeFormatted, not", storageCalls, func() error {
		got, err := s.volumes.IsVolumeFormatted(ctx, &volumeapi.IsVolumeFormattedRequest{VolumeId: s.id})
		if err == nil && got.Formatted {
			err = fmt.Errorf("formatted already")
		}
		return err
	}, nil)
	s.measure("FormatVolume", costlyCalls, s.format, nil)
	s.measure("IsVolumeFormatted", storageCalls, func() error {
		got, err := s.volumes.IsVolumeFormatted(ctx, &volumeapi.IsVolumeFormattedRequest{VolumeId: s.id})
		if err == nil && !got.Formatted {
			err = fmt.Errorf("not formatted")
		}
		return err
	}, nil)
	s.measure("GetVolumeStats", storageCalls, func() error {
		_, err := s.volumes.GetVolumeStats(ctx, &volumeapi.GetVolumeStatsRequest{VolumeId: s.id})
		return err
	}, nil)
	s.measure("GetDiskNumberFromVolumeID", storageCalls, func() error {
		_, err := s.volumes.GetDiskNumberFromVolumeID(ctx, &volumeapi.GetDiskNumberFromVolumeIDRequest{VolumeId: s.id})
		return err
	}, nil)
	s.measure("WriteVolumeCache", storageCalls, func() error {
		_, err := s.volumes.WriteVolumeCache(ctx, &volumeapi.WriteVolumeCacheRequest{VolumeId: s.id})
		return err
	}, nil)
	s.measure("ResizeVolume, nothing to gain", storageCalls, s.resize, nil)
	s.measure("ResizeVolume, 1 GiB more", costlyCalls, s.resize, s.grow)
	s.measure("SetDiskState, offline", costlyCalls, func() error { return s.setOnline(false) },
		func() error { return s.setOnline(true) })
	s.measure("PartitionDisk, raw disk", costlyCalls, func() error { return s.partition(firstDisk) }, s.replug)
}

// mounts measures what needs mounted folders.
func (s *storage) mounts() {
	ctx := context.Background()
	fail(os.MkdirAll(filepath.Clean(storageMount), 0o755))
	fail(s.format())
	mount := func() error {
		_, err := s.volumes.MountVolume(ctx, &volumeapi.MountVolumeRequest{VolumeId: s.id, TargetPath: storageMount})
		return err
	}
	unmount := func() error {
		_, err := s.volumes.UnmountVolume(ctx, &volumeapi.UnmountVolumeRequest{VolumeId: s.id, TargetPath: storageMount})
		return err
	}
	s.measure("MountVolume", costlyCalls, mount, unmount)
	s.measure("MountVolume, done already", costlyCalls, mount, nil)
	s.measure("GetVolumeIDFromTargetPath", storageCalls, func() error {
		_, err := s.volumes.GetVolumeIDFromTargetPath(ctx, &volumeapi.GetVolumeIDFromTargetPathRequest{TargetPath: storageMount})
		return err
	}, nil)
	s.measure("UnmountVolume", costlyCalls, unmount, mount)
}

// measureStorage plugs in the numbers of disks one after the other, and measures lists on each, single
// calls on the first.
func measureStorage(counts []int) {
	s := newStorage()
	for i, count := range counts {
		s.plug(count)
		s.lists()
		if i == 0 {
			s.single()
		}
	}
	fail(s.bed.Reset())
}

func measureMounts() {
	s := newStorage()
	s.plug(1)
	s.mounts()
	fail(s.bed.Reset())
}
