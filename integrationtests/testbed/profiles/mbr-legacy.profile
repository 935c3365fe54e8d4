# Disks that somebody partitioned as MBR: PartitionDisk has to leave them alone. The third has an empty table.
disk add number=1 size=2G file=${images}\mbr-ntfs.img serial=MBR0001 address=0.0.0.1
table disk=1 style=mbr partition=07,1M,1G
signature disk=1 partition=1 type=ntfs
disk add number=2 size=2G file=${images}\mbr-two.img serial=MBR0002 address=0.0.0.2
table disk=2 style=mbr partition=0c,1M,512M partition=07,513M,1G
signature disk=2 partition=1 type=fat32
signature disk=2 partition=2 type=ntfs
disk add number=3 size=2G file=${images}\mbr-empty.img serial=MBR0003 address=0.0.0.3
table disk=3 style=mbr
wait-disks 3
wait-volumes disk=1 count=1
wait-volumes disk=2 count=2
