# GCE persistent disks over NVMe: the first 16 hexadecimal digits are the namespace id, from page 83 where it
# begins with "eui.", from the serial number otherwise.
disk add number=1 size=4G file=${images}\gce-1.img bus=nvme vendor=NVMe product=nvme_card-pd serial=10CC_9636_B6E3_CE3B_0000_0000_0000_0000. page83=unsupported address=0.0.0.1
disk add number=2 size=10G file=${images}\gce-2.img bus=nvme vendor=NVMe product=nvme_card-pd serial=nvme_card-pd page83=ascii:eui.2F4A9B61C05D7E830000000000000000@0/8 address=0.0.0.2
wait-disks 2
