# One sound disk among disks that are each wrong in another way. None of them may fail a list.
disk add number=1 size=1G file=${images}\odd-sound.img serial=SOUND0001 page83=ascii:sound-disk address=0.0.0.1
disk add number=2 size=1G file=${images}\odd-unsupported.img serial=ODD0002 page83=unsupported address=0.0.0.2
disk add number=3 size=1G file=${images}\odd-malformed.img serial=ODD0003 page83=malformed-next address=0.0.0.3
disk add number=4 size=1G file=${images}\odd-blanks.img serial=%20%20%20%20%20%20%20%20 page83=ascii:%20%20%20%20%20%20%20%20 address=0.0.0.4
disk add number=5 size=1G file=${images}\odd-oversized.img serial=ODD0005 page83=oversized address=0.0.0.5
disk add number=6 size=1G file=${images}\odd-no-address.img bus=virtual serial=ODD0006 page83=hex:600224800000000000000000000000a6@0/3 address=none
disk add number=7 size=1G file=${images}\odd-no-serial.img serial=none page83=none address=0.0.0.7
disk add number=8 size=1G file=${images}\odd-not-ascii.img serial=%20%20ODD%FF%010008%20%20 page83=utf8:d%C3%A9j%C3%A0-vu@0/8,ascii:ODD%0D%0A0008@0/1 address=0.0.0.8
disk add number=9 size=1G file=${images}\odd-port-only.img serial=ODD0009 page83=hex:5000000000000009@1/3 address=0.0.0.9
disk add number=10 size=1G file=${images}\odd-interface.img serial=ODD0010 page83=ascii:broken-interface address=0.0.0.10 interface-broken
