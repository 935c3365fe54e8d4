# SPDX-License-Identifier: Apache-2.0
# Sourced by the other scripts: where things are, and how to tell the person what happens.

set -euo pipefail

REPO_DIR=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
CACHE_DIR=${CSI_PROXY_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/csi-proxy}
BUILD_DIR=${CSI_PROXY_BUILD:-$REPO_DIR/build}
MINGW_TRIPLET=x86_64-w64-mingw32

say() { printf '==> %s\n' "$*"; }
note() { printf '    %s\n' "$*"; }

# die WHAT [WHAT_TO_DO...]: the failure, then one line per thing the person can do.
die() {
  printf 'error: %s\n' "$1" >&2
  shift
  local hint
  for hint in "$@"; do printf '       %s\n' "$hint" >&2; done
  exit 1
}

# run_logged LABEL LOG COMMAND...: runs the command with its output in LOG, says how long it took,
# and shows the end of the log when it fails.
run_logged() {
  local label=$1 log=$2 started=$SECONDS
  shift 2
  if ! "$@" >"$log" 2>&1; then
    tail -n 40 "$log" >&2
    die "$label failed" "the whole output is in $log"
  fi
  note "$label: $((SECONDS - started)) s"
}

# ninja_with_progress DIR LOG TARGET...: a line every 15 s with the share done and the time left.
ninja_with_progress() {
  local dir=$1 log=$2
  shift 2
  local status=0
  NINJA_STATUS='[%f/%t %p] ' ninja -C "$dir" "$@" 2>&1 | tee "$log" |
    awk -v every=15 -v start="$(date +%s)" '
      match($0, /^\[[0-9]+\/[0-9]+/) {
        split(substr($0, 2, RLENGTH - 1), part, "/")
        now = systime()
        if (now - last >= every && part[1] > 0) {
          left = (now - start) * (part[2] - part[1]) / part[1]
          printf "    %d of %d steps, about %d s left\n", part[1], part[2], left
          fflush()
          last = now
        }
      }' || status=$?
  if [ "$status" -ne 0 ]; then
    grep -A 25 -m 1 -E '^FAILED:|error:' "$log" >&2 || tail -n 40 "$log" >&2
    die "the build in $dir failed" "the whole output is in $log"
  fi
}
