# vSphere: the disk id is the first binary identifier of the disk in page 83, in lower-case hexadecimal digits. The
# one of the target port before it must not be taken. New disks come offline and read-only (SAN policy).
disk add number=1 size=4G file=${images}\vsphere-1.img bus=sas vendor=VMware product=Virtual%20disk serial=6000c29a1b2c3d4e5f60718293a4b5c6 page83=hex:5000c29000000001@1/3,hex:6000c29a1b2c3d4e5f60718293a4b5c6@0/3,ascii:VMware%20%20Virtual%20disk%20%20%20%206000c29a1b2c3d4e@0/1 address=3.0.1.0 offline readonly
disk add number=2 size=20G file=${images}\vsphere-2.img bus=sas vendor=VMware product=Virtual%20disk serial=6000c2900f1e2d3c4b5a69788796a5b4 page83=hex:6000c2900f1e2d3c4b5a69788796a5b4@0/3 address=3.0.2.0 offline readonly
wait-disks 2
