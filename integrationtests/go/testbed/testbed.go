// SPDX-License-Identifier: Apache-2.0

// Package testbed changes and looks at the scene behind the back of the service: the disks and volumes of the
// driver in integrationtests/testbed, and the shares, targets and services of the network testbed.
package testbed

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

const (
	devicePath   = `\\.\VdiskControl`
	ioctlCommand = 0x222004 // IOCTL_TESTBED_COMMAND in integrationtests/testbed/include/testbed.h
	replyLimit   = 1 << 20
	filesHere    = `C:\testbed-disks` // where nobody says where the disks have their contents
)

// Bed is the connection to the testbed.
type Bed struct {
	mutex  sync.Mutex
	device syscall.Handle // the driver
	reply  []byte
	shell  *shell            // nil until it is needed; see network.go
	files  string            // directory
	file   map[uint32]string // what each disk has its contents in
	added  int
}

// Record is one line of an answer, by its keys.
type Record map[string]string

// Number is the value of a key as a number; -1 when it is none.
func (r Record) Number(key string) int64 {
	number, err := strconv.ParseInt(r[key], 10, 64)
	if err != nil {
		return -1
	}
	return number
}

// ErrAbsent is what Open returns where there is no testbed.
var ErrAbsent = errors.New("the driver of the testbed does not run here")

// Open connects to the driver.
func Open() (*Bed, error) {
	path, err := syscall.UTF16PtrFromString(devicePath)
	if err != nil {
		return nil, err
	}
	device, err := syscall.CreateFile(path, syscall.GENERIC_READ|syscall.GENERIC_WRITE,
		syscall.FILE_SHARE_READ|syscall.FILE_SHARE_WRITE, nil, syscall.OPEN_EXISTING, 0, 0)
	if err != nil {
		return nil, ErrAbsent
	}
	files := os.Getenv("CSI_TESTBED_IMAGES")
	if files == "" {
		files = filesHere
	}
	return &Bed{device: device, reply: make([]byte, replyLimit), files: files, file: map[uint32]string{}},
		os.MkdirAll(files, 0o755)
}

func (b *Bed) send(line string) (string, error) {
	in := []byte(line)
	var length uint32
	err := syscall.DeviceIoControl(b.device, ioctlCommand, &in[0], uint32(len(in)), &b.reply[0],
		uint32(len(b.reply)), &length, nil)
	return string(b.reply[:length]), err
}

// askDriver has the driver carry out a command.
func (b *Bed) askDriver(line string) (string, error) {
	answer, err := b.send(line)
	if err == nil {
		return answer, nil
	}
	why, whyErr := b.send("last-error")
	if whyErr != nil {
		why = ""
	}
	return "", fmt.Errorf("testbed command %q: %v %s", line, err, strings.TrimSpace(why))
}

// Do carries out one command and returns its answer.
func (b *Bed) Do(format string, arguments ...interface{}) (string, error) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	line := fmt.Sprintf(format, arguments...)
	if isOfNetwork(line) {
		return b.askShell(line)
	}
	return b.askDriver(line)
}

// Records carries out a command that answers one record a line.
func (b *Bed) Records(command string) ([]Record, error) {
	answer, err := b.Do("%s", command)
	var records []Record
	for _, line := range strings.Split(strings.TrimSpace(answer), "\n") {
		if record := Parse(line); len(record) > 0 {
			records = append(records, record)
		}
	}
	return records, err
}

// Parse reads `key=value` words; a word without a value is a key with the value 1.
func Parse(line string) Record {
	record := Record{}
	for _, word := range strings.Fields(line) {
		key, value, found := strings.Cut(word, "=")
		if !found {
			value = "1"
		}
		record[key] = unescape(value)
	}
	return record
}

// Escape writes a value as it stands in a command: what a command cannot have as %XX.
func Escape(value string) string {
	const plain = `\:/._-{}@~()`
	var escaped strings.Builder
	for _, code := range []byte(value) {
		switch {
		case code >= '0' && code <= '9', code >= 'A' && code <= 'Z', code >= 'a' && code <= 'z',
			strings.IndexByte(plain, code) >= 0:
			escaped.WriteByte(code)
		default:
			fmt.Fprintf(&escaped, "%%%02X", code)
		}
	}
	return escaped.String()
}

// Bytes reads a size as commands have it: a number, with K, M, G or T behind it or not.
func Bytes(size string) (int64, error) {
	digits := strings.TrimRight(size, "KMGT")
	number, err := strconv.ParseInt(digits, 10, 64)
	if len(digits) < len(size) {
		number <<= 10 * (1 + strings.IndexByte("KMGT", size[len(digits)]))
	}
	return number, err
}

// unescape replaces %XX.
func unescape(text string) string {
	var plain strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '%' && i+2 < len(text) {
			if code, err := strconv.ParseUint(text[i+1:i+3], 16, 8); err == nil {
				plain.WriteByte(byte(code))
				i += 2
				continue
			}
		}
		plain.WriteByte(text[i])
	}
	return plain.String()
}

// Reset takes all disks, shares, targets, faults and counters away.
func (b *Bed) Reset() error {
	if b.HasNetwork() {
		if _, err := b.Do("network reset"); err != nil {
			return err
		}
	}
	_, err := b.Do("reset")
	return err
}

// NewFile names an empty file for the contents of a disk; the one that the number had before is removed.
func (b *Bed) NewFile(number uint32) (string, error) {
	if old := b.file[number]; old != "" {
		_ = os.Remove(old)
	}
	b.added++
	path := filepath.Join(b.files, fmt.Sprintf("go-%d-%d.img", os.Getpid(), b.added))
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		return "", err
	}
	b.file[number] = path
	return path, nil
}

// File is what a disk has its contents in.
func (b *Bed) File(number uint32) string { return b.file[number] }

// AddDisk plugs in a disk without contents: a new file, because the driver closes that of a disk which has gone
// a little later. words: what `disk add` takes besides number, size and file.
func (b *Bed) AddDisk(number uint32, size, words string) error {
	if _, err := b.NewFile(number); err != nil {
		return err
	}
	return b.PlugDisk(number, size, words)
}

// PlugDisk plugs in a disk with the contents it had when it was last unplugged.
func (b *Bed) PlugDisk(number uint32, size, words string) error {
	_, err := b.Do("disk add number=%d size=%s file=%s %s", number, size, Escape(b.file[number]), words)
	return err
}

// RemoveDisk pulls a disk out.
func (b *Bed) RemoveDisk(number uint32) error {
	_, err := b.Do("disk remove number=%d", number)
	return err
}

// GrowDisk makes the storage behind a disk larger; Windows does not look by itself.
func (b *Bed) GrowDisk(number uint32, bytes int64) error {
	_, err := b.Do("disk grow number=%d size=%d", number, bytes)
	return err
}

// Disk describes a disk.
func (b *Bed) Disk(number uint32) (Record, error) {
	disks, err := b.Records("disk list")
	for _, disk := range disks {
		if disk.Number("number") == int64(number) {
			return disk, err
		}
	}
	if err == nil {
		err = fmt.Errorf("the testbed has no disk %d", number)
	}
	return nil, err
}

// Volumes describes the volumes on a disk.
func (b *Bed) Volumes(number uint32) ([]Record, error) {
	all, err := b.Records("volume list")
	var volumes []Record
	for _, volume := range all {
		if volume.Number("disk") == int64(number) {
			volumes = append(volumes, volume)
		}
	}
	return volumes, err
}

// VolumeID is how Windows names a volume of Volumes.
func VolumeID(volume Record) string { return `\\?\Volume` + volume["guid"] + `\` }

// RemoveTree stands for os.RemoveAll, which needs a call that Wine 8 lacks.
func RemoveTree(path string) error {
	var found []string
	err := filepath.Walk(path, func(path string, _ os.FileInfo, err error) error {
		found = append(found, path)
		return err
	})
	if os.IsNotExist(err) {
		return nil
	}
	for i := len(found) - 1; i >= 0 && err == nil; i-- {
		err = os.Remove(found[i])
	}
	return err
}
