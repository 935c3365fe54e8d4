# EBS on Nitro: the driver looks for the volume id without its dash in the serial number, which has the
# namespace at its end. New disks come offline.
disk add number=1 size=4G file=${images}\ebs-1.img bus=nvme vendor=NVMe product=Amazon%20Elastic%20B serial=vol0a1b2c3d4e5f60718_00000001. page83=ascii:nvme.1d0f-766f6c3061316232633364346535663630373138-00000001@0/8 address=0.0.0.0 offline
disk add number=2 size=8G file=${images}\ebs-2.img bus=nvme vendor=NVMe product=Amazon%20Elastic%20B serial=vol0f9e8d7c6b5a40312_00000001. page83=ascii:nvme.1d0f-766f6c3066396538643763366235613430333132-00000001@0/8 address=1.0.0.0 offline
disk add number=3 size=60G file=${images}\ebs-local.img bus=nvme vendor=NVMe product=Amazon%20EC2%20NVMe serial=AWS6AAD8B1E4C1F2A5D3_00000001. page83=ascii:nvme.1d0f-4157533641414438@0/8 address=2.0.0.0
wait-disks 3
