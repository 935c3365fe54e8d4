// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"unicode/utf16"
)

const (
	linkRecords  = `C:\testbed\links\`
	tagSymlink   = 0xA000000C
	fileIsFolder = syscall.FILE_FLAG_BACKUP_SEMANTICS
)

// readLink stands for os.Readlink, which drivers call in their own process. The executable with emulated links
// keeps what a link holds in a record, named by the number and the time of the entry (testbed/links/record.h);
// it is read as Go reads it from Windows.
func readLink(path string) (string, error) {
	record, err := recordOf(path)
	if err != nil {
		return "", err
	}
	data, err := os.ReadFile(record)
	if os.IsNotExist(err) {
		return "", fmt.Errorf("%s is no link", path)
	}
	if err != nil {
		return "", err
	}
	return linkTarget(data)
}

func recordOf(path string) (string, error) {
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return "", err
	}
	entry, err := syscall.CreateFile(name, syscall.GENERIC_READ, syscall.FILE_SHARE_READ|syscall.FILE_SHARE_WRITE, nil,
		syscall.OPEN_EXISTING, fileIsFolder, 0)
	if err != nil {
		return "", err
	}
	defer syscall.CloseHandle(entry)
	var about syscall.ByHandleFileInformation
	if err := syscall.GetFileInformationByHandle(entry, &about); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s%08x%08x-%08x%08x", linkRecords, about.FileIndexHigh, about.FileIndexLow,
		about.LastWriteTime.HighDateTime, about.LastWriteTime.LowDateTime), nil
}

// linkTarget reads a REPARSE_DATA_BUFFER as Go does: the substitute name, in the form that users know.
func linkTarget(data []byte) (string, error) {
	const header, symlinkNames = 8, 20
	if len(data) < symlinkNames || binary.LittleEndian.Uint32(data) != tagSymlink {
		return "", errors.New("no symbolic link")
	}
	offset := symlinkNames + int(binary.LittleEndian.Uint16(data[header:]))
	length := int(binary.LittleEndian.Uint16(data[header+2:]))
	if offset+length > len(data) {
		return "", errors.New("the name of the link's target is not in its data")
	}
	units := make([]uint16, length/2)
	for i := range units {
		units[i] = binary.LittleEndian.Uint16(data[offset+2*i:])
	}
	target, isNT := strings.CutPrefix(string(utf16.Decode(units)), `\??\`)
	if share, is := strings.CutPrefix(target, `UNC\`); isNT && is {
		target = `\\` + share
	}
	return target, nil
}
