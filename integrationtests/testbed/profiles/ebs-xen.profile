# EBS on Xen: the serial number is the volume id without its dash, there is no page 83. New disks come offline.
disk add number=1 size=4G file=${images}\ebs-1.img bus=scsi vendor=AWS product=PVDISK serial=vol0a1b2c3d4e5f60718 page83=unsupported address=2.0.1.0 offline
disk add number=2 size=8G file=${images}\ebs-2.img bus=scsi vendor=AWS product=PVDISK serial=vol0f9e8d7c6b5a40312 page83=unsupported address=2.0.2.0 offline
wait-disks 2
