# Azure, NVMe (v6 sizes and later): remote disks are namespaces of one controller, LUN + 2 is the namespace id
# and Windows' LUN is the namespace id - 1. The local disk is a controller of its own.
disk add number=1 size=110G file=${images}\azure-local.img bus=nvme vendor=NVMe product=Microsoft%20NVMe%20Direct%20Disk%20v2 serial=A1B2_C3D4_E5F6_0001. page83=ascii:eui.00224810a1b2c3d4e5f6000100000001@0/8 address=1.0.0.0
disk add number=2 size=4G file=${images}\azure-data-0.img bus=nvme vendor=NVMe product=MSFT%20NVMe%20Accelerator%20v1.0 serial=0000_0000_0000_0002_0022_4810_0000_0001. page83=ascii:eui.00000000000000020022481000000001@0/8 address=0.0.0.1
disk add number=3 size=10G file=${images}\azure-data-1.img bus=nvme vendor=NVMe product=MSFT%20NVMe%20Accelerator%20v1.0 serial=0000_0000_0000_0003_0022_4810_0000_0001. page83=ascii:eui.00000000000000030022481000000001@0/8 address=0.0.0.2
wait-disks 3
