#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# What the generator makes of correct protos: every case in good/ is a group `thing` and, in expected/,
# the files made from it.
#
#   run_good.sh GENERATOR PROTOC PROTO_DIR [--update]
#
# --update writes expected/ anew; read the difference before you keep it.
. "$(dirname "$0")/common.sh"

count=0
for case in "$here"/good/*/; do
  name=$(basename "$case")
  out=$scratch/$name
  count=$((count + 1))
  run_generator "$case" thing --out "$out" || { fail "$name: the generator refused it"; continue; }
  if [ "$update" = --update ]; then
    rm -rf "$case/expected"
    cp -r "$out" "$case/expected"
  else
    diff -ru "$case/expected" "$out" || fail "$name: other output than expected"
  fi
  touch -d @0 "$out"/thing/*
  run_generator "$case" thing --out "$out"
  [ -z "$(find "$out" -newermt @1 -path '*/thing/*')" ] || fail "$name: wrote files that did not change"
done
finish "$count"
