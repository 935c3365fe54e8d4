#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# examples.sh DIRECTORY SUFFIX FOLDER [LAUNCHER]: the examples of the client library, as a driver would use
# them, on disk 2 of a service whose disks are those of the profile azure-scsi. CSI_PROXY_ENDPOINT_FORMAT
# says where the service is. Ends with "N passed, N failed, 0 skipped".
set -u

directory=$1 suffix=$2 folder=$3
launcher=("${@:4}")
passed=0 failed=0

# example EXPECTED PROGRAM ARGUMENT...: runs one and looks for a text in what it prints.
example() {
  local expected=$1 program=$2 printed
  shift 2
  if printed=$("${launcher[@]}" "$directory/$program$suffix" "$@" </dev/null 2>&1) && [[ $printed == *"$expected"* ]]; then
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

printf '\n%d passed, %d failed, 0 skipped\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
