#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The lock of released versions: what it refuses, what it allows.
#
#   run_lock.sh GENERATOR PROTOC PROTO_DIR
. "$(dirname "$0")/common.sh"

lock=$scratch/lock
root=$scratch/root
count=0

reset() {
  rm -rf "$root"
  cp -r "$here/good/base" "$root"
}

# expect NAME CODE TEXT OPTION...: exit code, and a line of the output (TEXT empty: no output at all).
expect() {
  local name=$1 code=$2 text=$3 got=0
  shift 3
  count=$((count + 1))
  run_generator "$root" thing --lock "$lock" "$@" >"$scratch/output" 2>&1 || got=$?
  [ "$got" -eq "$code" ] || { cat "$scratch/output"; fail "$name: exit code $got instead of $code"; }
  if [ -z "$text" ]; then
    [ ! -s "$scratch/output" ] || { cat "$scratch/output"; fail "$name: output where none was expected"; }
  else
    grep -qxF -- "$text" "$scratch/output" || { cat "$scratch/output"; fail "$name: no line \"$text\""; }
  fi
}

# edit SED FILE...: fails when nothing changes.
edit() {
  local before
  before=$(cat "$root/$2")
  sed -E -i "$1" "$root/$2"
  [ "$before" != "$(cat "$root/$2")" ] || fail "the edit $1 changes nothing"
}

end='released API versions are immutable; add a new version'
v1=thing/v1/api.proto

reset
expect "no lock yet" 0 "csi-proxy-api-gen: note: thing v1 is not locked yet; --write-lock adds it when it is released"
[ ! -e "$lock" ] || fail "a check wrote the lock"
echo "other v1 service Other" >"$lock"
expect "written" 0 "csi-proxy-api-gen: note: thing v1 is not locked yet; --write-lock adds it when it is released" --write-lock
expect "unchanged" 0 ""
diff -u "$here/lock.expected" "$lock" || fail "written: other lines than expected"

edit 's/uint32 height = 1;/uint64 height = 1;/' $v1
expect "type" 1 "proto/$v1: lacks or changes the locked \"thing v1 message Shelf field 1 height uint32\"; $end"
reset
edit 's/uint32 height = 1;/uint32 height = 2;/' $v1
expect "number" 1 "proto/$v1: lacks or changes the locked \"thing v1 message Shelf field 1 height uint32\"; $end"
reset
edit 's/uint32 height = 1;/uint32 hight = 1;/' $v1
expect "name" 1 "proto/$v1: lacks or changes the locked \"thing v1 message Shelf field 1 height uint32\"; $end"
reset
edit '/uint32 height = 1;/d' $v1
expect "field removed" 1 "proto/$v1: lacks or changes the locked \"thing v1 message Shelf field 1 height uint32\"; $end"
reset
edit 's/uint32 height = 1;/&\n  uint32 width = 2;/' $v1
expect "field added" 1 "proto/$v1: adds \"thing v1 message Shelf field 2 width uint32\" to a locked version; $end"
expect "field added, --write-lock" 1 "proto/$v1: adds \"thing v1 message Shelf field 2 width uint32\" to a locked version; $end" --write-lock
reset
edit 's/ROUND = 1;/ROUND = 2;/' $v1
expect "enum value" 1 "proto/$v1: lacks or changes the locked \"thing v1 enum Kind value 1 ROUND\"; $end"
reset
edit '/rpc Count/d' $v1
expect "rpc removed" 1 "proto/$v1: lacks or changes the locked \"thing v1 rpc Count CountRequest CountResponse\"; $end"
reset
edit 's/rpc Count.*$/&\n  rpc Sum(CountRequest) returns (CountResponse) {}/' $v1
expect "rpc added" 1 "proto/$v1: adds \"thing v1 rpc Sum CountRequest CountResponse\" to a locked version; $end"
reset
edit 's/^service Thing/service Things/' $v1
expect "service" 1 "proto/$v1: lacks or changes the locked \"thing v1 service Thing\"; $end"
reset
edit '/version\) = "v1";/d' thing/group.proto
rm -r "$root/thing/v1"
expect "version removed" 1 "proto/thing/group.proto: v1: is locked but gone; $end"

reset
edit 's/^option \(csi_proxy.version\) = "v1";/&\noption (csi_proxy.version) = "v2";/' thing/group.proto
mkdir "$root/thing/v2"
sed 's/^package v1;/package v2;/' "$root/$v1" >"$root/thing/v2/api.proto"
expect "new version" 0 "csi-proxy-api-gen: note: thing v2 is not locked yet; --write-lock adds it when it is released"
cp "$lock" "$scratch/lock.before"
expect "new version, --write-lock" 0 "csi-proxy-api-gen: note: thing v2 is not locked yet; --write-lock adds it when it is released" --write-lock
expect "new version locked" 0 ""
[ -z "$(diff "$scratch/lock.before" "$lock" | grep '^<')" ] || fail "adding a version removed lines"
reset
expect "new version removed again" 1 "proto/thing/group.proto: v2: is locked but gone; $end"
finish "$count"
