#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A Windows node with disks, for authors of CSI drivers: csi-proxy.exe under Wine beside virtual disks that can
# be attached, grown, pulled out and made to fail. docs/TESTBED.md describes it.
#   testbed.sh [PROFILE]                 starts it, opens the pipes, reads commands; until Ctrl-C
#   testbed.sh run PROFILE COMMAND...    starts it, runs a Linux command against it, ends everything
#   testbed.sh demo                      shows a volume's way from an empty disk to statistics
#   testbed.sh profiles                  lists the profiles
# CSI_TESTBED_EXE=shipped takes csi-proxy.exe itself, without the links that Wine lacks.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

TESTBED=$REPO_DIR/integrationtests/testbed
exe=${CSI_TESTBED_EXE:-links}

testbed() {
  python3 "$TESTBED/testbed.py" "$@"
}

# build_programs [TARGET...]: what the testbed consists of, and these.
build_programs() {
  "$REPO_DIR/scripts/setup.sh"
  "$REPO_DIR/scripts/build.sh" windows-release csi-proxy csi-proxy-testbed vdisk vdiskctl fmifs "$@"
}

# inside_demo: what a CSI driver does with a disk, by the example programs. Runs with csi-proxy's pipes open.
inside_demo() {
  local examples=$BUILD_DIR/windows-release/client/examples
  local folder='C:\var\lib\kubelet\demo'
  mkdir -p "$WINEPREFIX/drive_c/var/lib/kubelet/demo"
  say 'the disks, as a driver sees them'
  "$REPO_DIR/scripts/wine.sh" "$examples/disk.exe"
  say 'stage: disk 3 gets a volume, which is formatted and mounted'
  "$REPO_DIR/scripts/wine.sh" "$examples/disk.exe" prepare 3
  "$REPO_DIR/scripts/wine.sh" "$examples/volume.exe" stage 3 "$folder"
  say 'expand: the disk grows by 5 GiB, the volume follows'
  "$REPO_DIR/scripts/wine.sh" "$CSI_TESTBED_CONTROL" run disk grow number=3 size=15G
  "$REPO_DIR/scripts/wine.sh" "$examples/disk.exe" prepare 3
  "$REPO_DIR/scripts/wine.sh" "$examples/volume.exe" stage 3 "$folder"
  say 'unstage, and the disk goes'
  "$REPO_DIR/scripts/wine.sh" "$examples/volume.exe" unstage "$folder"
  "$REPO_DIR/scripts/wine.sh" "$examples/disk.exe" offline 3
  "$REPO_DIR/scripts/wine.sh" "$CSI_TESTBED_CONTROL" run disk remove number=3
  say 'device calls that disk 2 has seen'
  "$REPO_DIR/scripts/wine.sh" "$CSI_TESTBED_CONTROL" run counters | tr -d '\r' | grep '^disk=2 '
}

case ${1:-} in
  profiles)
    testbed profiles
    ;;
  run)
    [ $# -ge 3 ] || die "run takes a profile and a command" "usage: scripts/testbed.sh run PROFILE COMMAND..."
    profile=$2
    shift 2
    build_programs
    testbed run --exe "$exe" --profile "$profile" -- "$@"
    ;;
  demo)
    build_programs csi_example_disk csi_example_volume
    testbed run --exe "$exe" --profile azure-scsi -- "${BASH_SOURCE[0]}" --inside-demo
    ;;
  --inside-demo)
    inside_demo
    ;;
  -*)
    die "there is no option $1" "usage: scripts/testbed.sh [PROFILE | run PROFILE COMMAND... | demo | profiles]"
    ;;
  *)
    build_programs
    testbed serve --exe "$exe" --profile "${1:-azure-scsi}"
    ;;
esac
