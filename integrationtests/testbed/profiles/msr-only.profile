# Initialised GPT disks: with an MSR partition only, with nothing, and with an EFI system partition. The first two
# get their data partition from PartitionDisk.
disk add number=1 size=2G file=${images}\msr-only.img serial=MSR0001 address=0.0.0.1
table disk=1 style=gpt partition=msr,17K,16367K
disk add number=2 size=2G file=${images}\gpt-empty.img serial=MSR0002 address=0.0.0.2
table disk=2 style=gpt
disk add number=3 size=2G file=${images}\gpt-efi.img serial=MSR0003 address=0.0.0.3
table disk=3 style=gpt partition=efi,1M,100M partition=msr,101M,16M partition=basic,117M,1G
signature disk=3 partition=3 type=ntfs
wait-disks 3
