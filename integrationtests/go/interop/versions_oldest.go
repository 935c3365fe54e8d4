// SPDX-License-Identifier: Apache-2.0

//go:build oldest

package main

import (
	disk_v1alpha1 "github.com/kubernetes-csi/csi-proxy/client/groups/disk/v1alpha1"
	disk_v1beta1 "github.com/kubernetes-csi/csi-proxy/client/groups/disk/v1beta1"
	"github.com/kubernetes-csi/csi-proxy/client/groups/filesystem/v1alpha1"
	smb_v1alpha1 "github.com/kubernetes-csi/csi-proxy/client/groups/smb/v1alpha1"
	volume_v1alpha1 "github.com/kubernetes-csi/csi-proxy/client/groups/volume/v1alpha1"
	volume_v1beta1 "github.com/kubernetes-csi/csi-proxy/client/groups/volume/v1beta1"
)

// The oldest client can connect to the fixed pipe names only.
var filesystemVersions = []version{
	{"filesystem", "v1alpha1", maker(v1alpha1.NewClient), nil},
}

var diskVersions = []version{
	{"disk", "v1alpha1", maker(disk_v1alpha1.NewClient), nil},
	{"disk", "v1beta1", maker(disk_v1beta1.NewClient), nil},
}

var volumeVersions = []version{
	{"volume", "v1alpha1", maker(volume_v1alpha1.NewClient), nil},
	{"volume", "v1beta1", maker(volume_v1beta1.NewClient), nil},
}

var smbVersions = []version{
	{"smb", "v1alpha1", maker(smb_v1alpha1.NewClient), nil},
}

// It has neither of these groups.
var (
	iscsiVersions  []version
	systemVersions []version
)
