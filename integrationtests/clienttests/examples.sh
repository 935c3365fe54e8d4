#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# examples.sh DIRECTORY SUFFIX FOLDER [LAUNCHER]: the examples of the client library, as a driver would use
# them, on a service whose disks are those of the profile azure-scsi, and on a share, a target and services that
# are added here. CSI_PROXY_ENDPOINT_FORMAT says where the service is, CSI_EXAMPLES_CONTROL, natively, where it
# takes commands. Ends with "N passed, N failed, 0 skipped".
set -u

directory=$1 suffix=$2 folder=$3
launcher=("${@:4}")
control=(${CSI_EXAMPLES_CONTROL:+--control "$CSI_EXAMPLES_CONTROL"})
passed=0 failed=0

# scene COMMAND...: one of the testbed, which has to work.
scene() {
  local printed
  printed=$("${launcher[@]}" "$directory/../../integrationtests/clienttests/csi-proxy-storage-tests$suffix" \
    "${control[@]}" --do "$*" </dev/null 2>&1) && return
  failed=$((failed + 1))
  printf 'FAIL example  %-13s good: %s\n     %s\n' scene "$1 $2" "$printed"
}

# example EXPECTED PROGRAM ARGUMENT...: runs one, with $secret to read, and looks for a text in what it prints.
secret=
example() {
  local expected=$1 program=$2 printed
  shift 2
  if printed=$("${launcher[@]}" "$directory/$program$suffix" "$@" <<<"$secret" 2>&1) && [[ $printed == *"$expected"* ]]; then
    passed=$((passed + 1))
    printf 'PASS example  %-13s good: %s\n' "$program" "${*:-all}"
  else
    failed=$((failed + 1))
    printf 'FAIL example  %-13s good: %s\n     %s\n' "$program" "${*:-all}" "${printed//$'\n'/$'\n     '}"
  fi
}

example 'The demonstration went well.' filesystem
example '4096 MiB  online   1.0.0.0' disk
example 'PartitionDisk' disk prepare 2
example '1 volumes on disk 2' volume 2
example 'mounted' volume stage 2 "$folder"
example 'of 4093 MiB' volume 2
example 'gone' volume unstage "$folder"
example 'offline' disk offline 2
example 'offline  1.0.0.0' disk

scene share add 'root=\\fileserver\share' 'user=DOMAIN\worker' password=of-the-share
secret=of-the-share
example 'up' smb
example 'mapped' smb map '\\fileserver\share' "$folder-share" 'DOMAIN\worker'
example 'unmapped' smb unmap '\\fileserver\share' "$folder-share"

target=iqn.2026-01.example:target
scene target add "iqn=$target" portal=10.20.30.40:3260 chap-user=initiator chap-secret=secret-of-14-b
scene target lun "iqn=$target" number=700 size=64M "file=${CSI_TESTBED_IMAGES:-images}\\examples-lun.img"
secret=secret-of-14-b
example 'disk 700' iscsi attach 10.20.30.40 "$target" initiator
example '10.20.30.40:3260, 1 targets' iscsi
example 'RemovePortal' iscsi detach 10.20.30.40 "$target"
example '0 portals' iscsi
secret=

scene service add name=csi-example-a display=First state=stopped start=manual
scene service add name=csi-example-b state=stopped depends=csi-example-a
example 'Serial number' system
example 'running' system start csi-example-a
example 'running' system start csi-example-b
example 'csi-example-a (First): running, start type manual' system show csi-example-a
example 'stopped' system stop-all csi-example-a
example 'csi-example-b (csi-example-b): stopped' system show csi-example-b
scene network reset
scene service remove name=all

printf '\n%d passed, %d failed, 0 skipped\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
