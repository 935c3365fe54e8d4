#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh [--clients "NAME..."] PROGRAMS_DIR [SERVICE.EXE] [ARGS...]: the published Go clients against the
# service, under Wine. NAME is current, minimum or oldest; without, it is all of them. PROGRAMS_DIR is where
# CMake's target go_programs puts its output. With SERVICE.EXE the service is started in console mode with
# default flags and ended; without, it must be running. ARGS go to each client program: -no-links (the service
# has no links), -emulated-links (it has emulated ones), -original (it is the original csi-proxy), -group NAME.
# The disk and volume groups need the driver of the testbed in the Wine prefix, the others its stand-in DLLs as
# well, and vdiskctl.exe in CSI_TESTBED_CONTROL; run_testbed.py has all that.
# Ends with "N passed, N failed, N skipped"; the exit code is 1 when something failed.
source "$(dirname "${BASH_SOURCE[0]}")/../../scripts/common.sh"

clients='current minimum oldest'
if [ "${1:-}" = --clients ]; then
  clients=${2:?}
  shift 2
fi
[ $# -ge 1 ] || die "no directory given" "usage: run.sh [--clients LIST] PROGRAMS_DIR [SERVICE.EXE] [ARGS...]"
programs=$1
shift
service=
case ${1:-} in
  '' | -*) ;;
  *)
    service=$1
    shift
    ;;
esac

WINE=$REPO_DIR/scripts/wine.sh
LIMIT_S=300

output=$(mktemp -d)
service_pid=
finish() {
  [ -z "$service_pid" ] || kill "$service_pid" 2>/dev/null || true
  rm -rf "$output"
}
trap finish EXIT

"$WINE" --prepare
system32=$("$WINE" --prefix)/drive_c/windows/system32
cmp -s "$programs/bcryptprimitives.dll" "$system32/bcryptprimitives.dll" ||
  cp "$programs/bcryptprimitives.dll" "$system32/"

if [ -n "$service" ]; then
  "$WINE" "$service" </dev/null >"$output/service.log" 2>&1 &
  service_pid=$!
fi

failed=0
for client in $clients; do
  say "Go client: $client"
  timeout "$LIMIT_S" "$WINE" "$programs/interop-$client.exe" "$@" </dev/null >"$output/$client" || failed=1
  tr -d '\r' <"$output/$client" >"$output/$client.txt"
  if ! grep -qE '^[0-9]+ passed, [0-9]+ failed' "$output/$client.txt"; then
    printf 'FAIL %s: the client program ended early or took more than %d s\n' "$client" "$LIMIT_S"
    echo '0 passed, 1 failed, 0 skipped' >>"$output/$client.txt"
    failed=1
  fi
  # Everything that is not a plain pass: the tables, failures, and skips named once for all versions.
  grep -vE '^(PASS|SKIP) |^[0-9]+ passed' "$output/$client.txt" || true
  sed -nE 's/^SKIP ([^ ]+) [^ ]+ (.*)$/skipped: \1 \2/p' "$output/$client.txt" | sort -u
done
if [ "$failed" -ne 0 ] && [ -n "$service" ]; then
  note "the service said at last:"
  tail -n 20 "$output/service.log"
fi

cat "$output"/*.txt | awk '/^[0-9]+ passed, / { passed += $1; failed += $3; skipped += $5 }
  END { printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped }'
exit "$failed"
