# LUNs of an iSCSI target: same serial-number scheme, addresses that differ in target and LUN, slow to arrive.
disk add number=1 size=5G file=${images}\iscsi-1.img bus=iscsi vendor=LIO-ORG product=disk-one serial=6f9b2d1e-7a5c-4c55-a0d7-1b2c3d4e5f60 page83=ascii:LIO-ORG%20disk-one%3A6f9b2d1e-7a5c-4c55-a0d7-1b2c3d4e5f60@0/1,hex:60014056f9b2d1e7a5c4c55a0d71b2c3@0/3 address=4.0.0.0 offline volume-delay=500
disk add number=2 size=5G file=${images}\iscsi-2.img bus=iscsi vendor=LIO-ORG product=disk-two serial=0c4be71a-9d83-43cf-8d21-aabbccddeeff page83=ascii:LIO-ORG%20disk-two%3A0c4be71a-9d83-43cf-8d21-aabbccddeeff@0/1,hex:60014050c4be71a9d8343cf8d21aabbc@0/3 address=4.0.1.0 offline volume-delay=500
wait-disks 2
