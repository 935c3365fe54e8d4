// SPDX-License-Identifier: Apache-2.0

//go:build !oldest

package main

import (
	disk_v1 "github.com/kubernetes-csi/csi-proxy/client/groups/disk/v1"
	disk_v1alpha1 "github.com/kubernetes-csi/csi-proxy/client/groups/disk/v1alpha1"
	disk_v1beta1 "github.com/kubernetes-csi/csi-proxy/client/groups/disk/v1beta1"
	disk_v1beta2 "github.com/kubernetes-csi/csi-proxy/client/groups/disk/v1beta2"
	disk_v1beta3 "github.com/kubernetes-csi/csi-proxy/client/groups/disk/v1beta3"
	"github.com/kubernetes-csi/csi-proxy/client/groups/filesystem/v1"
	"github.com/kubernetes-csi/csi-proxy/client/groups/filesystem/v1alpha1"
	"github.com/kubernetes-csi/csi-proxy/client/groups/filesystem/v1beta1"
	"github.com/kubernetes-csi/csi-proxy/client/groups/filesystem/v1beta2"
	"github.com/kubernetes-csi/csi-proxy/client/groups/filesystem/v2alpha1"
	iscsi_v1alpha1 "github.com/kubernetes-csi/csi-proxy/client/groups/iscsi/v1alpha1"
	iscsi_v1alpha2 "github.com/kubernetes-csi/csi-proxy/client/groups/iscsi/v1alpha2"
	smb_v1 "github.com/kubernetes-csi/csi-proxy/client/groups/smb/v1"
	smb_v1alpha1 "github.com/kubernetes-csi/csi-proxy/client/groups/smb/v1alpha1"
	smb_v1beta1 "github.com/kubernetes-csi/csi-proxy/client/groups/smb/v1beta1"
	smb_v1beta2 "github.com/kubernetes-csi/csi-proxy/client/groups/smb/v1beta2"
	system_v1alpha1 "github.com/kubernetes-csi/csi-proxy/client/groups/system/v1alpha1"
	volume_v1 "github.com/kubernetes-csi/csi-proxy/client/groups/volume/v1"
	volume_v1alpha1 "github.com/kubernetes-csi/csi-proxy/client/groups/volume/v1alpha1"
	volume_v1beta1 "github.com/kubernetes-csi/csi-proxy/client/groups/volume/v1beta1"
	volume_v1beta2 "github.com/kubernetes-csi/csi-proxy/client/groups/volume/v1beta2"
	volume_v1beta3 "github.com/kubernetes-csi/csi-proxy/client/groups/volume/v1beta3"
	volume_v2alpha1 "github.com/kubernetes-csi/csi-proxy/client/groups/volume/v2alpha1"
)

var filesystemVersions = []version{
	{"filesystem", "v1alpha1", maker(v1alpha1.NewClient), pathMaker(v1alpha1.NewClientWithPipePath)},
	{"filesystem", "v1beta1", maker(v1beta1.NewClient), pathMaker(v1beta1.NewClientWithPipePath)},
	{"filesystem", "v1beta2", maker(v1beta2.NewClient), pathMaker(v1beta2.NewClientWithPipePath)},
	{"filesystem", "v1", maker(v1.NewClient), pathMaker(v1.NewClientWithPipePath)},
	{"filesystem", "v2alpha1", maker(v2alpha1.NewClient), pathMaker(v2alpha1.NewClientWithPipePath)},
}

var diskVersions = []version{
	{"disk", "v1alpha1", maker(disk_v1alpha1.NewClient), pathMaker(disk_v1alpha1.NewClientWithPipePath)},
	{"disk", "v1beta1", maker(disk_v1beta1.NewClient), pathMaker(disk_v1beta1.NewClientWithPipePath)},
	{"disk", "v1beta2", maker(disk_v1beta2.NewClient), pathMaker(disk_v1beta2.NewClientWithPipePath)},
	{"disk", "v1beta3", maker(disk_v1beta3.NewClient), pathMaker(disk_v1beta3.NewClientWithPipePath)},
	{"disk", "v1", maker(disk_v1.NewClient), pathMaker(disk_v1.NewClientWithPipePath)},
}

var volumeVersions = []version{
	{"volume", "v1alpha1", maker(volume_v1alpha1.NewClient), pathMaker(volume_v1alpha1.NewClientWithPipePath)},
	{"volume", "v1beta1", maker(volume_v1beta1.NewClient), pathMaker(volume_v1beta1.NewClientWithPipePath)},
	{"volume", "v1beta2", maker(volume_v1beta2.NewClient), pathMaker(volume_v1beta2.NewClientWithPipePath)},
	{"volume", "v1beta3", maker(volume_v1beta3.NewClient), pathMaker(volume_v1beta3.NewClientWithPipePath)},
	{"volume", "v1", maker(volume_v1.NewClient), pathMaker(volume_v1.NewClientWithPipePath)},
	{"volume", "v2alpha1", maker(volume_v2alpha1.NewClient), pathMaker(volume_v2alpha1.NewClientWithPipePath)},
}

var smbVersions = []version{
	{"smb", "v1alpha1", maker(smb_v1alpha1.NewClient), pathMaker(smb_v1alpha1.NewClientWithPipePath)},
	{"smb", "v1beta1", maker(smb_v1beta1.NewClient), pathMaker(smb_v1beta1.NewClientWithPipePath)},
	{"smb", "v1beta2", maker(smb_v1beta2.NewClient), pathMaker(smb_v1beta2.NewClientWithPipePath)},
	{"smb", "v1", maker(smb_v1.NewClient), pathMaker(smb_v1.NewClientWithPipePath)},
}

var iscsiVersions = []version{
	{"iscsi", "v1alpha1", maker(iscsi_v1alpha1.NewClient), pathMaker(iscsi_v1alpha1.NewClientWithPipePath)},
	{"iscsi", "v1alpha2", maker(iscsi_v1alpha2.NewClient), pathMaker(iscsi_v1alpha2.NewClientWithPipePath)},
}

var systemVersions = []version{
	{"system", "v1alpha1", maker(system_v1alpha1.NewClient), pathMaker(system_v1alpha1.NewClientWithPipePath)},
}
