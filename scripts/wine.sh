#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# wine.sh PROGRAM [ARGS...]: runs a Windows program in this project's own Wine prefix, which is made
# on first use. The exit code is the program's, as far as a Unix exit code can carry it.
#
#   CSI_PROXY_WINEPREFIX  another prefix, for a run that must not meet others
#   WINEDEBUG             Wine's own messages; all off unless set
#
# wine.sh --prepare only makes the prefix; wine.sh --prefix prints where it is.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

export WINEPREFIX=${CSI_PROXY_WINEPREFIX:-$CACHE_DIR/wine-prefix}
export WINEARCH=win64
export WINEDEBUG=${WINEDEBUG:--all}
export WINEDLLOVERRIDES='mscoree,mshtml='
unset DISPLAY WAYLAND_DISPLAY

COMPLETE=$WINEPREFIX/csi-proxy-complete

# Boots a new prefix. The wineserver session that creates a prefix cannot start drivers, and services
# may be left half-registered in it: it is ended, so that every later one is like the next.
make_prefix() {
  rm -rf "$WINEPREFIX"
  wineboot -i || return
  wineserver -k # fails when the session has ended by itself
  wineserver -w
  wine winecfg -v win10 || return
  wineserver -w
  touch "$COMPLETE"
}

prepare() {
  [ -e "$COMPLETE" ] && return
  command -v wine >/dev/null || die "wine is not installed" "run scripts/setup.sh"
  mkdir -p "$(dirname "$WINEPREFIX")"
  (
    flock 9
    [ -e "$COMPLETE" ] && exit 0
    say "making a Wine prefix in $WINEPREFIX (about 20 s, 0.7 GB)" >&2
    run_logged "Wine prefix" "$WINEPREFIX.log" make_prefix >&2
  ) 9>"$WINEPREFIX.lock"
}

case ${1:-} in
  '') die "no program given" "usage: scripts/wine.sh PROGRAM [ARGS...]" ;;
  --prefix)
    echo "$WINEPREFIX"
    exit
    ;;
  --prepare)
    prepare
    exit
    ;;
esac

prepare
exec wine "$@"
