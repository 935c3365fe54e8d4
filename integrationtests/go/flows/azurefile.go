// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"

	smbapi "github.com/kubernetes-csi/csi-proxy/client/api/smb/v1"
	smbv1 "github.com/kubernetes-csi/csi-proxy/client/groups/smb/v1"
)

// azureFile is azurefile-csi-driver on the v1 APIs. It never ends a mapping.
type azureFile struct {
	v1
	shares *smbv1.Client
}

func newAzureFile(n *node) (azureFile, error) {
	d := azureFile{}
	var err error
	if d.v1, err = openV1(n); err == nil {
		err = open(&d.clients, smbv1.NewClient, &d.shares)
	}
	return d, err
}

func openAzureFile(n *node) (driver, error) { return newAzureFile(n) }

// isMounted makes the folder when there is none.
func (d azureFile) isMounted(path string) (bool, error) {
	exists, err := d.exists(path)
	if err != nil {
		return false, err
	}
	if !exists {
		return false, d.mkdir(path)
	}
	// The driver then lists a folder that is mounted, in its own process.
	return d.isSymlink(path)
}

// clear removes what is in the way of a link.
func (d azureFile) clear(path string) error {
	exists, err := d.exists(path)
	if err == nil && exists {
		err = d.rmdir(path, true)
	}
	return err
}

// mapShare maps the share of a volume and links a path to it.
func (d azureFile) mapShare(v volume, path string) error {
	exists, err := d.exists(parent(path))
	if err == nil && !exists {
		err = d.mkdir(parent(path))
	}
	if err != nil {
		return err
	}
	_, err = call(d.node, d.shares.NewSmbGlobalMapping, &smbapi.NewSmbGlobalMappingRequest{
		RemotePath: strings.ReplaceAll(v.share.remote, "/", `\`), LocalPath: path, Username: v.share.user,
		Password: v.share.password})
	return err
}

func (d azureFile) unmapShare(remote string) error {
	_, err := call(d.node, d.shares.RemoveSmbGlobalMapping, &smbapi.RemoveSmbGlobalMappingRequest{RemotePath: remote})
	return err
}

func (d azureFile) stage(v volume) error {
	path := normalized(v.staging)
	mounted, err := d.isMounted(path)
	if err != nil || mounted {
		return err
	}
	return then(d.clear(path), func() error { return d.mapShare(v, path) })
}

func (d azureFile) publish(v volume) error {
	target := normalized(v.target)
	mounted, err := d.isMounted(target)
	if err != nil || mounted {
		return err
	}
	return then(d.clear(target), func() error { return d.link(v) })
}

func (d azureFile) unpublish(v volume) error { return d.rmdir(normalized(v.target), true) }
func (d azureFile) unstage(v volume) error   { return d.rmdir(normalized(v.staging), true) }

func (d azureFile) afterLast(s *shareScene) func() error { return s.isMapped }
func (d azureFile) deadEnd(error) string                 { return "" }
func (d azureFile) severalOnShare() bool                 { return true }
