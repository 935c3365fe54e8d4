#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The README's first command: prepares the machine, builds, starts csi-proxy.exe under Wine and lets the C
# client do its main job on it. What is done already is not done again.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

"$REPO_DIR/scripts/setup.sh"
"$REPO_DIR/scripts/build.sh" windows-release
"$REPO_DIR/scripts/wine.sh" --prepare

build=$REPO_DIR/build/windows-release
service=$build/src/service/csi-proxy.exe
example=$build/client/examples/filesystem.exe
log=$REPO_DIR/build/demo-service.log

stop_service() {
  kill "$service_pid" 2>/dev/null || true
  wait "$service_pid" 2>/dev/null || true
}

say "starting csi-proxy.exe under Wine (its log: $log)"
"$REPO_DIR/scripts/wine.sh" "$service" </dev/null >"$log" 2>&1 &
service_pid=$!
trap stop_service EXIT

for _ in $(seq 100); do
  grep -q 'Serving [0-9]* API versions' "$log" 2>/dev/null && break
  kill -0 "$service_pid" 2>/dev/null || die 'csi-proxy.exe ended' "its log is $log"
  sleep 0.1
done

say 'calling it with the C client'
"$REPO_DIR/scripts/wine.sh" "$example"
stop_service
trap - EXIT

# Wine has no disks: the rest is shown on virtual ones.
"$REPO_DIR/scripts/testbed.sh" demo
