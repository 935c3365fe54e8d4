#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Prepares a Debian 12 machine: installs the packages, builds the cross dependencies once.
# Does nothing that is already done.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

wanted_packages() {
  local package
  sed 's/#.*//' "$REPO_DIR/scripts/packages.txt" | while read -r package; do
    [ -n "$package" ] || continue
    # A Go toolchain that is already on PATH and recent enough serves as well as Debian's.
    if [ "$package" = golang-go ] && command -v go >/dev/null; then continue; fi
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || echo "$package"
  done
}

missing=$(wanted_packages)
if [ -n "$missing" ]; then
  [ "$(id -u)" -eq 0 ] || die "packages are missing: $(echo $missing)" \
    "run this script as root, or install them with apt-get"
  mkdir -p "$CACHE_DIR/logs"
  say "installing $(echo "$missing" | wc -l) Debian packages (about 2 minutes)"
  run_logged "apt-get update" "$CACHE_DIR/logs/apt-update.log" apt-get update
  # shellcheck disable=SC2086
  run_logged "apt-get install" "$CACHE_DIR/logs/apt-install.log" \
    env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing
fi

"$REPO_DIR/scripts/deps.sh"
