# Sectors of 4096 bytes, from the smallest to the largest.
disk add number=1 size=64M file=${images}\four-64m.img sector=4096 serial=FOURK0001 address=0.0.0.1
disk add number=2 size=10G file=${images}\four-10g.img sector=4096 serial=FOURK0002 address=0.0.0.2
disk add number=3 size=64T file=${images}\four-64t.img sector=4096 serial=FOURK0003 address=0.0.0.3
wait-disks 3
