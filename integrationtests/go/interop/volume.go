// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"csi-proxy/integrationtests/testbed"
)

// The disks of the tests.
const (
	volumeDisk = uint32(71)
	otherDisk  = uint32(72)
	rawDisk    = uint32(73) // never partitioned
)

const noVolume = `\\?\Volume{00000000-0000-4000-8000-00000badbad0}\`

// ebsNotMounted is what the EBS driver looks for in errors of GetVolumeIDFromTargetPath.
var ebsNotMounted = regexp.MustCompile(`(Get-Item -Path \S+).Target, output: , error: <nil>|because it does not exist`)

// volumeSuite has the volumes of the tests.
type volumeSuite struct {
	*suite
	id, otherID string
	mount       string // where the volume gets mounted
}

func (s *suite) volume() {
	s.Row = "connect"
	v := &volumeSuite{suite: s}
	err := v.prepare()
	s.Check("the testbed has volumes", err)
	if err != nil {
		return
	}
	v.listVolumesOnDisk()
	v.isVolumeFormatted("formatted not yet", false)
	v.formatVolume()
	v.isVolumeFormatted("formatted", true)
	if s.has("GetVolumeStats") {
		v.getVolumeStats()
		v.getDiskNumberFromVolumeID()
	}
	v.mountVolume()
	if s.has("GetVolumeIDFromTargetPath") {
		v.getVolumeIDFromTargetPath()
	}
	if s.has("GetClosestVolumeIDFromTargetPath") {
		v.getClosestVolumeIDFromTargetPath()
	}
	v.resizeVolume()
	if s.has("WriteVolumeCache") {
		v.writeVolumeCache()
	}
	v.unmountVolume()
	v.vanishedDevice()
	s.otherServices(volumeVersions, "ListVolumesOnDisk", fields{"DiskNumber": volumeDisk})
	s.Row = "any call"
	s.Check("the testbed puts its disks away", s.bed.Reset())
}

// prepare makes disks with a volume each, by the newest disk version that this client has.
func (v *volumeSuite) prepare() error {
	err := first(v.bed.Reset(),
		v.bed.AddDisk(volumeDisk, "1G", ""), v.bed.AddDisk(otherDisk, "64M", ""), v.bed.AddDisk(rawDisk, "64M", ""))
	if err != nil {
		return err
	}
	newest := diskVersions[len(diskVersions)-1]
	client, err := newest.dialPatiently(10 * time.Second)
	if err != nil {
		return err
	}
	defer client.Close()
	disks := &suite{caller: caller{newest, client}}
	for number, id := range map[uint32]*string{volumeDisk: &v.id, otherDisk: &v.otherID} {
		if err := disks.onDiskNumber("PartitionDisk", number); err != nil {
			return err
		}
		volumes, err := v.bed.Volumes(number)
		if err != nil || len(volumes) != 1 {
			return first(err, fmt.Errorf("disk %d has %d volumes", number, len(volumes)))
		}
		*id = testbed.VolumeID(volumes[0])
	}
	v.mount = v.scratch()
	return nil
}

// on makes an RPC about one volume.
func (v *volumeSuite) on(rpc, id string) error { return v.told(rpc, fields{"VolumeId": id}) }

// forwarded is the prefix of errors of RPCs under their former names.
func (v *volumeSuite) forwarded(rpc string) string {
	if v.named(rpc) == rpc {
		return ""
	}
	return "Forward to " + rpc + " failed, err="
}

// badVolumes checks what a call refuses as a volume id.
func (v *volumeSuite) badVolumes(rpc string, call func(id string) error) {
	prefix := v.forwarded(rpc)
	v.Check("unknown volume", refused(call(noVolume), prefix))
	v.Check("unknown volume, not found", refused(call(noVolume), "not found"))
	for _, bad := range []struct{ name, id string }{
		{"disk number", fmt.Sprint(volumeDisk)},
		{"drive", `C:\`},
		{"GUID only", strings.Trim(strings.TrimPrefix(v.id, `\\?\Volume`), `\`)},
		{"text behind", v.id + `x`},
		{"parent behind", v.id + `..\`},
		{"braces missing", `\\?\Volume00000000-0000-4000-8000-00000badbad0\`},
		{"bad digit", strings.Replace(v.id, "-", "g", 1)},
		{"quote", `\\?\Volume{' OR 1=1}\`},
		{"name of a disk", fmt.Sprintf(`\\.\PhysicalDrive%d`, volumeDisk)},
		{"path on a volume", v.id + `dir`},
		{"other device name", `\\?\GLOBALROOT\Device\Harddisk0\Partition1`},
	} {
		v.Check("no volume id: "+bad.name, refused(call(bad.id), prefix))
	}
	v.better("NUL in the volume id", "takes it", func() error { return refused(call(v.id+"\x00"), "NUL") })
	v.better("volume id of 2 KiB", "looks for it", func() error {
		return refused(call(`\\?\Volume{`+strings.Repeat("0", 2048)+`}\`), "longer than")
	})
}

func (v *volumeSuite) emptyVolume(rpc string) {
	v.Check("empty volume id", refused(v.on(rpc, ""), v.forwarded(rpc)+"volume id empty"))
}

func (v *volumeSuite) listVolumesOnDisk() {
	v.Row = "ListVolumesOnDisk"
	list := func(in fields, want ...string) error {
		got, err := v.got("ListVolumesOnDisk", in)
		if err != nil {
			return err
		}
		return wantText(strings.Join(got.texts("VolumeIds"), " "), strings.Join(want, " "))
	}
	v.Check("the volume, and not the reserved partition", list(fields{"DiskNumber": volumeDisk}, v.id))
	v.Check("a disk without partitions", list(fields{"DiskNumber": rawDisk}))
	v.badNumbers("ListVolumesOnDisk", "Failed to parse diskId: err=", nil)
	if v.textNumbers() {
		return
	}
	volumes, err := v.bed.Volumes(volumeDisk)
	partition := uint32(0)
	if err == nil {
		partition = uint32(volumes[0].Number("partition"))
	}
	v.Check("by the partition's number", first(err, list(fields{"DiskNumber": volumeDisk, "PartitionNumber": partition}, v.id)))
	v.better("unknown partition", "lists nothing", func() error {
		return refused(list(fields{"DiskNumber": volumeDisk, "PartitionNumber": uint32(77)}), "partition 77: not found")
	})
}

func (v *volumeSuite) formatted(id string, want bool) error {
	got, err := v.got("IsVolumeFormatted", fields{"VolumeId": id})
	if err == nil && got.flag("Formatted") != want {
		err = fmt.Errorf("formatted: %v, want %v", !want, want)
	}
	return err
}

func (v *volumeSuite) isVolumeFormatted(name string, want bool) {
	v.Row = "IsVolumeFormatted"
	v.Check(name, v.formatted(v.id, want))
	if want {
		return
	}
	without := strings.TrimSuffix(v.id, `\`)
	for _, spelling := range []string{without, strings.ToUpper(v.id), `\\.\` + strings.TrimPrefix(without, `\\?\`)} {
		v.Check("another spelling of the id", v.formatted(spelling, want))
	}
	v.emptyVolume("IsVolumeFormatted")
	v.badVolumes("IsVolumeFormatted", func(id string) error { return v.on("IsVolumeFormatted", id) })
}

func (v *volumeSuite) formatVolume() {
	v.Row = "FormatVolume"
	v.Check("NTFS", func() error {
		if err := v.on("FormatVolume", v.id); err != nil {
			return err
		}
		volumes, err := v.bed.Volumes(volumeDisk)
		return first(err, wantText(volumes[0]["fs"], "ntfs"))
	}())
	v.Check("other volumes are as they were", v.formatted(v.otherID, false))
	v.Check("again", v.on("FormatVolume", v.id))
	v.emptyVolume("FormatVolume")
	v.badVolumes("FormatVolume", func(id string) error { return v.on("FormatVolume", id) })
	v.Check("the second volume", v.on("FormatVolume", v.otherID))
}

func (v *volumeSuite) size() (total, used int64, err error) {
	got, err := v.got("GetVolumeStats", fields{"VolumeId": v.id})
	if err != nil {
		return 0, 0, err
	}
	return got.number("TotalBytes"), got.number("UsedBytes"), nil
}

func (v *volumeSuite) getVolumeStats() {
	v.Row = v.named("GetVolumeStats")
	total, used, err := v.size()
	v.Check("total", first(err, within(total, gib-20<<20, gib)))
	v.Check("used", first(err, within(used, 0, total)))
	v.Check("used grows", func() error {
		const more = 100 << 20
		_, err := v.bed.Do("volume set guid=%s used=%d", strings.Trim(strings.TrimPrefix(v.id, `\\?\Volume`), `\`), more)
		if err != nil {
			return err
		}
		_, used, err = v.size()
		return first(err, within(used, more, more+1<<20))
	}())
	v.emptyVolume("GetVolumeStats")
	v.badVolumes("GetVolumeStats", func(id string) error { return v.on("GetVolumeStats", id) })
}

func within(got, least, most int64) error {
	if got < least || got > most {
		return fmt.Errorf("got %d, want %d to %d", got, least, most)
	}
	return nil
}

func (v *volumeSuite) getDiskNumberFromVolumeID() {
	v.Row = v.named("GetDiskNumberFromVolumeID")
	v.Check("without any access path", func() error {
		got, err := v.got("GetDiskNumberFromVolumeID", fields{"VolumeId": v.id})
		if err != nil {
			return err
		}
		return wantNumber(got.number("DiskNumber"), int64(volumeDisk))
	}())
	v.emptyVolume("GetDiskNumberFromVolumeID")
	v.badVolumes("GetDiskNumberFromVolumeID", func(id string) error { return v.on("GetDiskNumberFromVolumeID", id) })
}

func (v *volumeSuite) mountAt(id, path string) error {
	return v.told("MountVolume", fields{"VolumeId": id, "TargetPath": path})
}

func (v *volumeSuite) mountVolume() {
	v.Row = "MountVolume"
	v.withLinks("on an empty directory", func() error { return v.mountAt(v.id, v.mount) })
	v.withLinks("again", func() error { return v.mountAt(v.id, v.mount) })
	v.withLinks("again, the path in lower case with a backslash behind", func() error {
		return v.mountAt(v.id, strings.ToLower(v.mount)+`\`)
	})
	v.withLinks("another volume in its place", func() error {
		return refused(v.mountAt(v.otherID, v.mount), "error mount volume (")
	})
	dir := v.scratch()
	missing := filepath.Join(dir, "missing")
	v.Check("missing directory", first(refused(v.mountAt(v.id, missing), "error mount volume ("), wantOnDisk(missing, false)))
	full := mustMkdir(filepath.Join(dir, "full"))
	mustWrite(filepath.Join(full, "file"))
	v.Check("directory with contents", first(refused(v.mountAt(v.id, full), "error mount volume ("),
		wantOnDisk(filepath.Join(full, "file"), true)))
	file := mustWrite(filepath.Join(dir, "file"))
	v.Check("file", refused(v.mountAt(v.id, file), "error mount volume ("))
	v.Check("empty volume id", refused(v.mountAt("", v.mount), "MountVolumeRequest.VolumeId is empty"))
	v.Check("empty path", refused(v.mountAt(v.id, ""), "MountVolumeRequest.TargetPath is empty"))
	v.badVolumes("MountVolume", func(id string) error { return v.mountAt(id, mustMkdir(filepath.Join(dir, "empty"))) })
}

// raw is a path as the kubelet has it: without a drive, and with slashes.
func raw(path string) string { return strings.TrimPrefix(filepath.ToSlash(path), "C:") }

func (v *volumeSuite) mountedAt(rpc, path, want string) error {
	got, err := v.got(rpc, fields{"TargetPath": path})
	if err == nil && !strings.EqualFold(got.text("VolumeId"), want) {
		err = wantText(got.text("VolumeId"), want)
	}
	return err
}

func (v *volumeSuite) getVolumeIDFromTargetPath() {
	const rpc = "GetVolumeIDFromTargetPath"
	v.Row = v.named(rpc)
	v.withLinks("mounted folder", func() error { return v.mountedAt(rpc, v.mount, v.id) })
	v.withLinks("path without a drive, with slashes", func() error { return v.mountedAt(rpc, raw(v.mount), v.id) })
	v.withLinks("path with a backslash behind", func() error { return v.mountedAt(rpc, v.mount+`\`, v.id) })
	dir := v.scratch()
	prefix := v.forwarded(rpc)
	notMounted := func(path string) error {
		err := v.mountedAt(rpc, path, "")
		if e := refused(err, prefix); e != nil {
			return e
		}
		if !ebsNotMounted.MatchString(err.Error()) {
			return fmt.Errorf("the EBS driver would not understand %q", err.Error())
		}
		return nil
	}
	v.Check("plain directory, as the EBS driver reads it", notMounted(dir))
	v.Check("missing, as the EBS driver reads it", notMounted(filepath.Join(dir, "missing")))
	v.Check("missing parent, as the EBS driver reads it", notMounted(filepath.Join(dir, "missing", "below")))
	v.Check("plain directory says so", refused(v.mountedAt(rpc, dir, ""), "not a mounted folder"))
	v.Check("empty path", refused(v.mountedAt(rpc, "", ""), prefix+"target path is empty"))
	v.Check("drive", refused(v.mountedAt(rpc, `C:\`, ""), prefix))
	v.Check("network path", refused(v.mountedAt(rpc, `\\server\share\x`, ""), prefix))
	v.Check("100 KiB", refused(v.mountedAt(rpc, `C:\`+strings.Repeat("x", 100<<10), ""), ""))
}

func (v *volumeSuite) getClosestVolumeIDFromTargetPath() {
	const rpc = "GetClosestVolumeIDFromTargetPath"
	v.Row = rpc
	v.withLinks("mounted folder", func() error { return v.mountedAt(rpc, v.mount, v.id) })
	v.Check("a drive, and what is below it, have the same volume", func() error {
		drive, err := v.got(rpc, fields{"TargetPath": `C:\`})
		if err != nil {
			return err
		}
		if !strings.HasPrefix(drive.text("VolumeId"), `\\?\Volume{`) {
			return fmt.Errorf("%q is no volume id", drive.text("VolumeId"))
		}
		return first(v.mountedAt(rpc, v.scratch(), drive.text("VolumeId")),
			v.mountedAt(rpc, raw(v.scratch()), drive.text("VolumeId")))
	}())
	missing := filepath.Join(v.scratch(), "missing")
	prefix := "error getting the closest volume for the path=" + missing + ", err="
	v.Check("missing", refused(v.mountedAt(rpc, missing, ""), prefix))
	v.Check("empty path", refused(v.mountedAt(rpc, "", ""), "target path is empty"))
	v.Check("network path", refused(v.mountedAt(rpc, `\\server\share\x`, ""), "error getting the closest volume for the path="))
}

func (v *volumeSuite) resizeVolume() {
	v.Row = "ResizeVolume"
	resize := func(id string, bytes int64) error {
		return v.told("ResizeVolume", fields{"VolumeId": id, "SizeBytes": bytes})
	}
	length := func() int64 {
		volumes, err := v.bed.Volumes(volumeDisk)
		if err != nil || len(volumes) != 1 {
			return -1
		}
		return volumes[0].Number("length")
	}
	whole := length()
	v.Check("smaller changes nothing", first(resize(v.id, 512<<20), wantNumber(length(), whole)))
	v.Check("the same size changes nothing", first(resize(v.id, whole), wantNumber(length(), whole)))
	v.Check("largest size, nothing to gain", first(resize(v.id, 0), wantNumber(length(), whole)))
	v.Check("negative size", refused(resize(v.id, -1), "invalid negative size -1 for volume ("+v.id+")"))
	v.Check("larger than the disk", first(refused(resize(v.id, 2*gib), ""), wantNumber(length(), whole)))
	v.Check("largest number", first(refused(resize(v.id, math.MaxInt64), ""), wantNumber(length(), whole)))
	v.Check("the storage grew, to a size", func() error {
		err := first(v.bed.GrowDisk(volumeDisk, 3*gib), resize(v.id, 2*gib))
		return first(err, within(length(), 2*gib-1<<20, 2*gib+1<<20))
	}())
	v.Check("the storage grew, to the largest size", first(resize(v.id, 0), func() error {
		return within(length(), 3*gib-20<<20, 3*gib)
	}()))
	v.Check("50 MiB more are not left out", func() error {
		err := first(v.bed.GrowDisk(volumeDisk, 3*gib+50<<20), resize(v.id, 0))
		return first(err, within(length(), 3*gib+30<<20, 3*gib+50<<20))
	}())
	if v.has("GetVolumeStats") {
		v.Check("the file system grew with it", func() error {
			total, _, err := v.size()
			return first(err, within(total, length()-1<<20, length()))
		}())
	}
	v.Check("empty volume id", refused(resize("", 0), "volume id empty"))
	v.badVolumes("ResizeVolume", func(id string) error { return resize(id, 0) })
}

func (v *volumeSuite) writeVolumeCache() {
	v.Row = "WriteVolumeCache"
	v.Check("a volume", v.on("WriteVolumeCache", v.id))
	v.emptyVolume("WriteVolumeCache")
	v.badVolumes("WriteVolumeCache", func(id string) error { return v.on("WriteVolumeCache", id) })
}

func (v *volumeSuite) unmountVolume() {
	v.Row = v.named("UnmountVolume")
	unmount := func(id, path string) error {
		return v.told("UnmountVolume", fields{"VolumeId": id, "TargetPath": path})
	}
	prefix := v.forwarded("UnmountVolume")
	v.withLinks("another volume than what is mounted", func() error { return refused(unmount(v.otherID, v.mount), prefix) })
	v.Check("empty volume id", refused(unmount("", v.mount), prefix+"volume id empty"))
	v.Check("empty path", refused(unmount(v.id, ""), prefix+"target path empty"))
	v.withLinks("a volume", func() error { return first(unmount(v.id, v.mount), wantEmpty(v.mount)) })
	v.withLinks("it is mounted no more", func() error {
		if !v.has("GetVolumeIDFromTargetPath") {
			return v.mountAt(v.otherID, v.mount)
		}
		return first(refused(v.mountedAt("GetVolumeIDFromTargetPath", v.mount, ""), "not a mounted folder"),
			v.mountAt(v.otherID, v.mount))
	})
	v.withLinks("the second volume", func() error { return unmount(v.otherID, v.mount) })
	v.withLinks("again", func() error { return unmount(v.otherID, v.mount) })
}

// vanishedDevice checks that a mount point can be cleared away although its disk was pulled out.
func (v *volumeSuite) vanishedDevice() {
	v.Row = v.named("UnmountVolume")
	v.withLinks("after the disk has vanished", func() error {
		dir := v.scratch()
		return first(v.mountAt(v.id, dir), v.bed.RemoveDisk(volumeDisk),
			v.told("UnmountVolume", fields{"VolumeId": v.id, "TargetPath": dir}), wantEmpty(dir), os.Remove(dir))
	})
}
