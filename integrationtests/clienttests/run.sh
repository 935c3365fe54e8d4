#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh [BUILD_DIR]: every RPC of every version by the C client, in three passes: natively against the node
# in memory (BUILD_DIR/native-debug); under Wine against the shipped executable (BUILD_DIR/windows-release);
# and against the same with emulated links, csi-proxy-testbed.exe. Disks, shares, targets and services under
# Wine are those of the testbed. Ends with a table of what was called with good and bad input, which has to be
# every RPC, and with "N passed, N failed, N skipped"; skipped are the cases that none of the passes has run.
# The exit code is 1 when something failed.
source "$(dirname "${BASH_SOURCE[0]}")/../../scripts/common.sh"

build=${1:-$BUILD_DIR}
native=$build/native-debug
windows=$build/windows-release
WINE=$REPO_DIR/scripts/wine.sh
LIMIT_S=600
WORKING_DIRECTORY='C:\var\lib\kubelet'

output=$(mktemp -d) lanes=$(mktemp -d)
trap 'rm -rf "$output" "$lanes"' EXIT
service_pid=
stop_service() {
  [ -n "$service_pid" ] || return 0
  kill "$service_pid" 2>/dev/null || true
  wait "$service_pid" 2>/dev/null || true
  service_pid=
}

# serve COMMAND...: starts a service and waits until all its endpoints are there.
serve() {
  "$@" </dev/null >"$output/service.log" 2>&1 &
  service_pid=$!
  local tries
  for ((tries = 0; tries < 300; tries++)); do
    if grep -q 'Serving [0-9]* API versions' "$output/service.log"; then return; fi
    kill -0 "$service_pid" 2>/dev/null || break
    sleep 0.1
  done
  cat "$output/service.log" >&2
  die 'the service did not start'
}

# test_with NAME COMMAND...: runs the tests and shows all but what passed; what was left to another pass once
# for all versions.
fail() { touch "$lanes/failed"; }
test_with() {
  local name=$1 result=$output/$1
  shift
  say "C client: $name"
  timeout "$LIMIT_S" "$@" </dev/null >"$result.raw" || fail
  tr -d '\r' <"$result.raw" >"$result"
  if ! grep -qE '^[0-9]+ passed, [0-9]+ failed' "$result"; then
    printf 'FAIL %s: the test program ended early or took more than %d s\n' "$name" "$LIMIT_S"
    echo '0 passed, 1 failed, 0 skipped' >>"$result"
    fail
  fi
  grep -A1 '^FAIL' "$result" || true
  awk '/^SKIP/ { name = $3 " " $NF; getline; sub(/^ +/, ""); print "not here: " name " (" $0 ")" }' "$result" | sort -u
  tail -n 1 "$result"
}

STORAGE=(--groups 'disk,volume') NETWORK=(--groups 'smb,iscsi,system')

# on_testbed NAME EXE PROFILE... -- COMMAND...: test_with() on a fresh testbed with csi-proxy in it. Begins on
# drive C, as services do: paths without a drive are on it. prefix: the lane's Wine prefix.
on_testbed() {
  local name=$1 exe=$2
  shift 2
  cd "$prefix/drive_c"
  test_with "$name" env CSI_PROXY_WINEPREFIX="$prefix" python3 "$REPO_DIR/integrationtests/testbed/testbed.py" run \
    --build "$windows" --exe "$exe" "$@"
  cd "$OLDPWD"
}

programs=integrationtests/clienttests
profile=$REPO_DIR/integrationtests/testbed/profiles/azure-scsi.profile
windows_tests=("$WINE" "$windows/$programs/csi-proxy-storage-tests.exe")

# What runs beside each other; each lane has its own Wine prefix.
lane_native_and_files() {
  trap stop_service EXIT
  local format="$output/csi-proxy-%s-%s" control=$output/csi-proxy-control
  local native_tests=("$native/$programs/csi-proxy-storage-tests" --endpoint-format "$format" --control "$control")
  CSI_PROXY_NATIVE_PROFILE=$profile serve "$native/integrationtests/native/csi-proxy-native" \
    -pipe-prefix="$output/csi-proxy-" "-kubelet-path=$WORKING_DIRECTORY"
  test_with native "$native/$programs/csi-proxy-filesystem-tests" --endpoint-format "$format" "$WORKING_DIRECTORY"
  CSI_PROXY_ENDPOINT_FORMAT=$format CSI_EXAMPLES_CONTROL=$control test_with native-examples \
    "$REPO_DIR/$programs/examples.sh" "$native/client/examples" '' "$WORKING_DIRECTORY\\staged"
  test_with native-storage "${native_tests[@]}" "${STORAGE[@]}" "$WORKING_DIRECTORY"
  test_with native-network "${native_tests[@]}" "${NETWORK[@]}" "$WORKING_DIRECTORY"
  stop_service

  export CSI_PROXY_WINEPREFIX=${CSI_PROXY_WINEPREFIX:-$CACHE_DIR/wine-prefix}-files # the default pipe names are free there
  "$WINE" --prepare
  serve "$WINE" "$windows/src/service/csi-proxy.exe"
  test_with wine "$WINE" "$windows/$programs/csi-proxy-filesystem-tests.exe" --no-links --files "$WORKING_DIRECTORY"
  stop_service
  serve "$WINE" "$windows/integrationtests/testbed/links/csi-proxy-testbed.exe"
  test_with emulated-links "$WINE" "$windows/$programs/csi-proxy-filesystem-tests.exe" --files "$WORKING_DIRECTORY"
}

lane_storage() {
  local prefix=${CSI_PROXY_WINEPREFIX:-$CACHE_DIR/wine-prefix-testbed}
  CSI_PROXY_WINEPREFIX=$prefix "$WINE" --prepare
  on_testbed testbed-storage shipped -- "${windows_tests[@]}" "${STORAGE[@]}" --no-links "$WORKING_DIRECTORY"
  on_testbed testbed-storage-links links -- "${windows_tests[@]}" "${STORAGE[@]}" "$WORKING_DIRECTORY"
}

lane_network() {
  local prefix=${CSI_PROXY_WINEPREFIX:-$CACHE_DIR/wine-prefix-testbed}-2
  CSI_PROXY_WINEPREFIX=$prefix "$WINE" --prepare
  on_testbed testbed-network shipped -- "${windows_tests[@]}" "${NETWORK[@]}" --no-links "$WORKING_DIRECTORY"
  on_testbed testbed-network-links links -- "${windows_tests[@]}" "${NETWORK[@]}" "$WORKING_DIRECTORY"
  on_testbed testbed-examples links --profile azure-scsi -- \
    "$REPO_DIR/$programs/examples.sh" "$windows/client/examples" .exe "$WORKING_DIRECTORY\\staged" "$WINE"
}

for lane in native_and_files storage network; do
  (
    "lane_$lane"
    touch "$lanes/$lane.ended"
  ) >"$lanes/$lane" 2>&1 &
done
wait
for lane in native_and_files storage network; do
  cat "$lanes/$lane"
  [ -e "$lanes/$lane.ended" ] || fail
done

rm "$output"/*.raw "$output/service.log"
covered=1
"$REPO_DIR/$programs/coverage.py" "$REPO_DIR/proto" "$output"/* || covered=0
[ "$covered" -eq 1 ] || fail
cat "$output"/* | awk -v lacking=$((1 - covered)) '
  /^(PASS|FAIL|SKIP) / { name = $2 " " $3 " " $NF; seen[name] = 1; if ($1 != "SKIP") ran[name] = 1 }
  /^[0-9]+ passed, [0-9]+ failed/ { passed += $1; failed += $3 }
  END {
    for (name in seen) {
      if (name in ran) continue
      print "skipped: " name
      skipped++
    }
    printf "\n%d passed, %d failed, %d skipped\n", passed, failed + lacking, skipped
  }'
[ ! -e "$lanes/failed" ]
