# Azure, SCSI: the temporary disk on a controller of its own, data disks of which the LUN is all the driver
# looks at.
disk add number=1 size=7G file=${images}\azure-temp.img bus=sas vendor=Msft product=Virtual%20Disk page83=hex:60022480b2d4a1f06c7e1a2b3c4d5e01@0/3 serial=none address=0.0.1.0
disk add number=2 size=4G file=${images}\azure-data-0.img bus=sas vendor=Msft product=Virtual%20Disk page83=hex:60022480cb0af3e2d19c4b5a69788701@0/3 serial=none address=1.0.0.0
disk add number=3 size=10G file=${images}\azure-data-1.img bus=sas vendor=Msft product=Virtual%20Disk page83=hex:60022480cb0af3e2d19c4b5a69788702@0/3 serial=none address=1.0.0.1
disk add number=4 size=64G file=${images}\azure-data-63.img bus=sas vendor=Msft product=Virtual%20Disk page83=hex:60022480cb0af3e2d19c4b5a69788763@0/3 serial=none address=1.0.0.63
wait-disks 4
