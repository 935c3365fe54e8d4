# SPDX-License-Identifier: Apache-2.0
# Shared by the generator's tests. Sourced with: generator protoc proto_dir [--update]
set -euo pipefail
export LC_ALL=C

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
generator=$1
protoc=$2
proto_dir=$3
update=${4:-}
failures=0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# run_generator ROOT GROUP OPTION...: protoc and the generator on ROOT/GROUP. Prints what both say.
run_generator() {
  local root=$1 group=$2
  shift 2
  (cd "$root" && "$protoc" --proto_path=. --proto_path="$proto_dir" --include_imports --include_source_info \
    --descriptor_set_out="$scratch/set.pb" "$group"/group.proto "$group"/*/api.proto 2>"$scratch/protoc.log") ||
    { cat "$scratch/protoc.log"; return 9; }
  "$generator" --group "$group" --descriptor-set "$scratch/set.pb" --label proto/ "$@"
}

fail() {
  printf 'FAILED: %s\n' "$1"
  failures=$((failures + 1))
}

finish() {
  printf '%d cases, %d failed\n' "$1" "$failures"
  [ "$1" -gt 0 ] && [ "$failures" -eq 0 ]
}
