# Disks of Hyper-V and mounted VHDX files: 512-byte sectors on physical ones of 4096, with an MSR partition as soon
# as they are initialised; no serial number.
disk add number=1 size=1G file=${images}\vhd-1.img bus=virtual vendor=Msft product=Virtual%20Disk page83=hex:60022480a19e5cf1d24be49a05b35fca@0/3 serial=none address=1.0.0.0 msr-on-create
disk add number=2 size=127G file=${images}\vhd-2.img bus=virtual vendor=Msft product=Virtual%20Disk page83=hex:60022480a19e5cf1d24be49a05b35fcb@0/3 serial=none address=1.0.0.1 msr-on-create volume-delay=300
wait-disks 2
