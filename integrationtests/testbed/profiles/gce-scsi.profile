# GCE persistent disks over virtio-scsi: page 83 is text, vendor "Google  " and the device name; the driver takes
# the last word of it. Without a device name the text ends in blanks.
disk add number=1 size=4G file=${images}\gce-1.img bus=scsi vendor=Google product=PersistentDisk page83=ascii:Google%20%20pvc-3f1c2a44-6f0e-4d0b-9d7e-0b6a5f2f1c11@0/1 serial=none address=0.0.1.0
disk add number=2 size=10G file=${images}\gce-2.img bus=scsi vendor=Google product=PersistentDisk page83=ascii:Google%20%20persistent-disk-2@0/1 serial=none address=0.0.2.0
disk add number=3 size=375G file=${images}\gce-local.img bus=scsi vendor=Google product=EphemeralDisk page83=ascii:Google%20%20local-ssd-0@0/1 serial=none address=0.0.3.0
wait-disks 3
