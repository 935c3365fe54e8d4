#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Every released version of every group against proto/lock, whether a group is built already or not.
#
#   run_released.sh GENERATOR PROTOC PROTO_DIR [--write-lock]
#
# --write-lock adds new versions to the lock.
. "$(dirname "$0")/common.sh"

# Groups whose versions may still change: added to the lock when they are released.
unreleased=" admin "

count=0
for folder in "$proto_dir"/*/; do
  group=$(basename "$folder")
  compgen -G "$folder*/api.proto" >/dev/null || continue
  [[ -z $update && $unreleased == *" $group "* ]] && continue
  count=$((count + 1))
  (cd "$proto_dir" && "$protoc" --proto_path=. --include_imports --descriptor_set_out="$scratch/set.pb" \
    "$group"/*/api.proto)
  # A version that is not locked is a note of the generator, and a failure here.
  if ! "$generator" --group "$group" --descriptor-set "$scratch/set.pb" --label proto/ --versions-only \
    --lock "$proto_dir/lock" $update 2>"$scratch/output" || { [ -z "$update" ] && [ -s "$scratch/output" ]; }; then
    cat "$scratch/output"
    fail "$group"
  fi
done
while read -r group; do
  compgen -G "$proto_dir/$group/*/api.proto" >/dev/null || fail "$group is locked but gone"
done < <(sed -E '/^#/d; s/ .*//' "$proto_dir/lock" | sort -u)
finish "$count"
