#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs a Go tool chain that is recent enough:
#   scripts/go.sh build ./...    is `go build ./...`
#   scripts/go.sh --path         prints the go command
# The machine's own go serves when it is new enough. Otherwise the tool chain comes as the Go module
# golang.org/toolchain, through whatever module proxy the machine's go is configured with.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

GO_WANTED=1.24.4 # what the original csi-proxy asks for; the interop tests would do with less

GO_MODULE=golang.org/toolchain@v0.0.1-go$GO_WANTED.linux-amd64
GO_CACHED=$CACHE_DIR/go-$GO_WANTED

is_recent() {
  local have
  have=$(GOTOOLCHAIN=local "$1" env GOVERSION 2>/dev/null) || return 1
  have=${have#go}
  [ "$(printf '%s\n' "$GO_WANTED" "${have%%[- ]*}" | sort -V | head -n 1)" = "$GO_WANTED" ]
}

# A module archive carries no execute bits, and its nested go.mod files are stored as _go.mod.
install_from_module() {
  local go=$1 info dir
  say "fetching Go $GO_WANTED, because $("$go" version) is too old" >&2
  info=$(cd "$CACHE_DIR" && GOFLAGS=-modcacherw "$go" mod download -json "$GO_MODULE") ||
    die "the Go module $GO_MODULE could not be fetched" \
      "check the module proxy (go env GOPROXY), or install Go $GO_WANTED or newer"
  dir=$(sed -n 's/^[[:space:]]*"Dir": "\(.*\)",$/\1/p' <<<"$info")
  local staging=$GO_CACHED.part
  rm -rf "$staging"
  cp -r "$dir" "$staging"
  chmod -R u+w "$staging"
  chmod +x "$staging"/bin/* "$staging"/pkg/tool/*/*
  find "$staging" -name _go.mod -execdir mv {} go.mod \;
  mv "$staging" "$GO_CACHED"
}

find_go() {
  local go
  go=$(command -v go) || die "there is no go command" "install the Debian package golang-go"
  if is_recent "$go"; then
    echo "$go"
    return
  fi
  mkdir -p "$CACHE_DIR"
  # A parallel build calls this script several times at once.
  (
    flock 9
    is_recent "$GO_CACHED/bin/go" || install_from_module "$go"
  ) 9>"$GO_CACHED.lock"
  echo "$GO_CACHED/bin/go"
}

go=$(find_go)
if [ "${1:-}" = --path ]; then
  echo "$go"
else
  unset GOROOT
  GOTOOLCHAIN=local exec "$go" "$@"
fi
