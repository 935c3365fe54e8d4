#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs one libFuzzer program for CSI_FUZZ_SECONDS (default 10), starting from its corpus. New inputs go
# to a scratch directory, so that the corpus in the tree stays small; a finding is kept and named.
#   fuzz.sh PROGRAM [CORPUS]
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

program=$1
corpus=${2:-}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
findings=$(dirname "$program")/findings
mkdir -p "$findings"
exec 3>&1
"$program" -max_total_time="${CSI_FUZZ_SECONDS:-10}" -timeout=10 -rss_limit_mb=1024 -print_final_stats=1 \
  -artifact_prefix="$findings/$(basename "$program")-" "$scratch" $corpus >"$scratch/log" 2>&1 || {
  tail -n 60 "$scratch/log" >&3
  die "$(basename "$program") has a finding" "the input is in $findings"
}
grep -E 'number_of_executed_units|new_units_added' "$scratch/log"
