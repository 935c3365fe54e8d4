#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# One broken rule of the generator a case. A case is a text file in bad/: a line that says what is wrong,
# then sections "-- edit <file> --" (sed commands for a file of good/base/), "-- add <file> --" (a new file),
# "-- remove <file> --", and "-- error --" with the exact output.
#
#   run_bad.sh GENERATOR PROTOC PROTO_DIR [--update]
#
# --update writes the error sections anew; read the difference before you keep it.
. "$(dirname "$0")/common.sh"

# section FILE HEADING: the lines below "-- HEADING --".
section() {
  awk -v heading="-- $2 --" '/^-- .* --$/ { on = ($0 == heading); next } on' "$1"
}

# Carries out the sections of a case on a copy of good/base/. An edit that changes nothing is an error.
prepare() {
  local case=$1 root=$2 action file
  cp -r "$here/good/base" "$root"
  while read -r _ action file _; do
    case $action in
      edit)
        section "$case" "edit $file" >"$scratch/edit.sed"
        sed -E -i.before -f "$scratch/edit.sed" "$root/$file"
        if cmp -s "$root/$file" "$root/$file.before"; then
          fail "$(basename "$case"): the edit changes nothing in $file"
        fi
        ;;
      add)
        mkdir -p "$(dirname "$root/$file")"
        section "$case" "add $file" >"$root/$file"
        ;;
      remove) rm "$root/$file" ;;
      error) ;;
      *) fail "$(basename "$case"): unknown section $action" ;;
    esac
  done < <(grep -E '^-- .* --$' "$case")
}

check_case() {
  local case=$1 name root code=0
  name=$(basename "$case" .txt)
  root=$scratch/$name
  prepare "$case" "$root"
  run_generator "$root" thing --out "$scratch/out" >"$scratch/output" 2>&1 || code=$?
  [ "$code" -eq 1 ] || { cat "$scratch/output"; fail "$name: exit code $code instead of 1"; }
  [ ! -e "$scratch/out" ] || fail "$name: wrote files in spite of the error"
  if [ "$update" = --update ]; then
    { sed '/^-- error --$/,$d' "$case"; echo '-- error --'; cat "$scratch/output"; } >"$scratch/case"
    cp "$scratch/case" "$case"
  elif ! diff -u <(section "$case" error) "$scratch/output"; then
    fail "$name: unexpected output"
  fi
}

# Without an edit the base is correct; otherwise no case would prove anything.
run_generator "$here/good/base" thing || fail "base"
count=0
for case in "$here"/bad/*.txt; do
  check_case "$case"
  count=$((count + 1))
done
finish "$count"
