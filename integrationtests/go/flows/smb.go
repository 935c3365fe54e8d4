// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/md5"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// referenceFolder is where csi-driver-smb keeps a file for each volume that uses a share.
const referenceFolder = `C:\csi\smbmounts`

// smb is csi-driver-smb on the v1 APIs: azurefile's calls, and the last volume of a share ends its mapping.
type smb struct{ azureFile }

func openSMB(n *node) (driver, error) {
	d, err := newAzureFile(n)
	return smb{d}, err
}

// references is the folder with the files of the volumes that use a share.
func (d smb) references(remote string) (string, error) {
	parts := strings.FieldsFunc(remote, func(c rune) bool { return c == '\\' })
	if len(parts) < 2 {
		return "", fmt.Errorf("remote path (%s) is invalid", remote)
	}
	folder := filepath.Join(referenceFolder, strings.ToLower(parts[0]), strings.ToLower(parts[1]))
	return folder, os.MkdirAll(folder, 0o755)
}

func reference(folder string, v volume) string {
	return filepath.Join(folder, fmt.Sprintf("%x", md5.Sum([]byte(strings.ToLower(v.share.id)))))
}

func (d smb) stage(v volume) error {
	path := normalized(v.staging)
	mounted, err := d.isMounted(path)
	if err != nil || mounted {
		return err
	}
	if err := then(d.clear(path), func() error { return d.mapShare(v, path) }); err != nil {
		return err
	}
	folder, err := d.references(strings.ReplaceAll(v.share.remote, "/", `\`))
	if err != nil {
		return err
	}
	return os.WriteFile(reference(folder, v), []byte(v.share.remote), 0o644)
}

// errNotReferred is how the driver fails, for good, when the file of a volume is missing.
var errNotReferred = errors.New("decrementing the references failed")

func (d smb) unstage(v volume) error {
	path := normalized(v.staging)
	remote, err := readLink(path)
	if err != nil { // only a warning
		return d.rmdir(path, true)
	}
	remote = strings.TrimSuffix(remote, `\`)
	folder, err := d.references(remote)
	if err != nil {
		return err
	}
	if err := os.Remove(reference(folder, v)); err != nil {
		return fmt.Errorf("%w: %v", errNotReferred, err)
	}
	left, err := os.ReadDir(folder)
	if err == nil && len(left) == 0 {
		err = d.unmapShare(remote)
	}
	if err != nil {
		return err
	}
	return d.rmdir(path, true)
}

func (d smb) afterLast(s *shareScene) func() error { return s.isNotMapped }

func (d smb) deadEnd(err error) string {
	if errors.Is(err, errNotReferred) {
		return "this driver never gets past a volume whose reference it has already removed; the link is removed by hand"
	}
	return ""
}
