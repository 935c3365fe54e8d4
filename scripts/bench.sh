#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures, in one run under one Wine: a bare pipe echo, our csi-proxy.exe, and the original one (Go),
# built from its published Go module. The contenders take turns, several rounds; medians are printed. Then our
# disk and volume groups on the disk testbed, with the device calls that each RPC made.
#
#   --rounds N        turns of each contender (default 5)
#   --quick           2 rounds, fewer calls, a short idle minute
#   --only a,b        contenders: echo, ours, original (default all); storage = ours on the disk testbed
#   --save            also writes docs/BENCHMARK.md
#   --service EXE     our executable (default: the windows-release build)
#   --programs DIR    prebuilt measuring programs, instead of building them
#
# Run it on a quiet machine: the figures are of Wine's named pipes on this machine's cores.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

ORIGINAL_MODULE=github.com/kubernetes-csi/csi-proxy
ORIGINAL_VERSION=v1.3.0
LIMIT_S=120 # for one measuring program
SETTLE_S=8  # before memory is read: threads that are not needed any more end after a while
FIGURES_DIR=$CACHE_DIR/bench
BENCH_DIR=$REPO_DIR/integrationtests/bench
RELEASE_DIR=$BUILD_DIR/windows-release
WINE=$REPO_DIR/scripts/wine.sh
# Pipe names are the services' own: a prefix of its own keeps other runs out.
export CSI_PROXY_WINEPREFIX=$CACHE_DIR/wine-prefix-bench

rounds=5
calls=2000
starts=3
connections=1000
idle_s=60
only=echo,ours,original,storage
quick=
save=
service=
programs=

while [ $# -gt 0 ]; do
  case $1 in
    --rounds) rounds=${2:?}; shift ;;
    --quick) rounds=2 calls=500 starts=1 idle_s=10 quick=--quick ;;
    --only) only=${2:?}; shift ;;
    --save) save=1 ;;
    --service) service=${2:?}; shift ;;
    --programs) programs=${2:?}; shift ;;
    *) die "unknown option $1" "usage: bench.sh [--rounds N] [--quick] [--only LIST] [--save] [--service EXE] [--programs DIR]" ;;
  esac
  shift
done

runs() { [[ ",$only," == *",$1,"* ]]; }

# --- what is measured -------------------------------------------------------------------------

# The original, with the module versions and linker flags of its own go.mod and Makefile. Its `replace`
# of the client by a folder of its repository stands for the client module of the same version.
build_original() {
  local go_flags=-modcacherw target=$CACHE_DIR/original-$ORIGINAL_VERSION-$("$REPO_DIR/scripts/go.sh" env GOVERSION)
  ORIGINAL=$target/csi-proxy.exe
  [ -e "$ORIGINAL" ] && return
  say "building the original csi-proxy $ORIGINAL_VERSION (about 2 minutes)"
  mkdir -p "$target"
  local source
  source=$(cd "$target" && "$REPO_DIR/scripts/go.sh" mod download -json "$ORIGINAL_MODULE@$ORIGINAL_VERSION" |
    sed -n 's/^[[:space:]]*"Dir": "\(.*\)",$/\1/p')
  [ -n "$source" ] || die "the Go module $ORIGINAL_MODULE@$ORIGINAL_VERSION could not be fetched" \
    "check the module proxy (go env GOPROXY), or measure without it: --only echo,ours"
  sed -e 's|^module .*|module csi-proxy-original|' -e '/client => /d' \
    -e "s|^\(\s*$ORIGINAL_MODULE/client\) .*|\1 $ORIGINAL_VERSION|" "$source/go.mod" >"$target/go.mod"
  echo "require $ORIGINAL_MODULE $ORIGINAL_VERSION" >>"$target/go.mod"
  cp "$source/go.sum" "$target/go.sum"
  chmod u+w "$target/go.sum"
  (cd "$target" && run_logged "original csi-proxy" "$target/build.log" \
    env GOOS=windows GOARCH=amd64 CGO_ENABLED=0 GOFLAGS="-mod=mod $go_flags -buildvcs=false" \
    "$REPO_DIR/scripts/go.sh" build -ldflags "-X main.version=$ORIGINAL_VERSION -extldflags \"-static\"" \
    -o csi-proxy.exe.part "$ORIGINAL_MODULE/cmd/csi-proxy")
  mv "$target/csi-proxy.exe.part" "$ORIGINAL"
}

build_programs() {
  [ -z "$programs" ] || return 0
  programs=$FIGURES_DIR/programs
  mkdir -p "$programs"
  say "building the measuring programs"
  [ -e "$RELEASE_DIR/build.ninja" ] || run_logged "configure" "$FIGURES_DIR/configure.log" \
    cmake -S "$REPO_DIR" --preset windows-release
  local targets="go_programs bench_pipe_echo bench_pipes"
  if runs ours || runs storage; then targets="$targets csi-proxy"; fi
  if runs storage; then targets="$targets csi-proxy-testbed vdisk vdiskctl fmifs"; fi
  targets="$targets bench_c_client"
  # shellcheck disable=SC2086
  ninja_with_progress "$RELEASE_DIR" "$FIGURES_DIR/build.log" $targets
  cp "$RELEASE_DIR"/integrationtests/bench/bench_*.exe "$RELEASE_DIR"/integrationtests/go/go-bench.exe \
    "$RELEASE_DIR"/integrationtests/go/bcryptprimitives.dll "$programs/"
}

# --- processes --------------------------------------------------------------------------------

pid=
log=

# A program that hangs must not hang the run.
wine_run() { timeout "$LIMIT_S" "$WINE" "$@" </dev/null | tr -d '\r'; }

# start_service EXE: in console mode with default flags; returns when the filesystem pipe is up.
start_service() {
  log=$FIGURES_DIR/service.log
  "$WINE" "$1" </dev/null >"$log" 2>&1 &
  pid=$!
  local tries
  for tries in $(seq 100); do
    if wine_run "$programs/bench_pipes.exe" which | grep -x filesystem-v1 >/dev/null; then return; fi
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.1
  done
  tail -n 20 "$log" >&2
  die "$1 did not bring up its filesystem pipe" "its output is in $log"
}

stop_service() {
  [ -n "$pid" ] || return 0
  kill "$pid" 2>/dev/null || true
  wait "$pid" 2>/dev/null || true
  pid=
}

finish() {
  stop_service
  # The wineserver of the prefix that only this script uses.
  WINEPREFIX=$CSI_PROXY_WINEPREFIX wineserver -k 2>/dev/null || true
}
trap finish EXIT

# --- figures ----------------------------------------------------------------------------------

# record CONTENDER: adds "name<tab>value" lines of the input to the figures.
record() { sed "s/^/$1\t/" >>"$figures"; }

memory() { # PREFIX
  awk -v prefix="$1" '/^VmRSS:/ { print prefix ".rss_kib\t" $2 } /^RssAnon:/ { print prefix ".anon_kib\t" $2 }' \
    "/proc/$pid/status"
  awk -v prefix="$1" '/^Pss:/ { print prefix ".pss_kib\t" $2 }' "/proc/$pid/smaps_rollup"
}

rss_kib() { awk '/^VmRSS:/ { print $2 }' "/proc/$pid/status"; }

# utime and stime of the process, in clock ticks; the name in parentheses may hold blanks.
cpu_ticks() { sed 's/^.*) //' "/proc/$pid/stat" | awk '{ print $12 + $13 }'; }

measure_echo() {
  "$WINE" "$programs/bench_pipe_echo.exe" serve </dev/null &
  local server=$!
  wine_run "$programs/bench_pipe_echo.exe" call "$calls" | record echo
  wait "$server"
}

# Memory that each of many open connections costs, measured with the Go client as the peer.
measure_connections() { # CONTENDER
  local before after tries hold_out=$FIGURES_DIR/hold.out hold_in=$FIGURES_DIR/hold.in
  before=$(rss_kib)
  rm -f "$hold_in" "$hold_out"
  mkfifo "$hold_in"
  "$WINE" "$programs/go-bench.exe" hold "$connections" <"$hold_in" >"$hold_out" 2>&1 &
  local holder=$!
  exec 8>"$hold_in"
  for tries in $(seq 600); do
    if grep -q ^held "$hold_out" || ! kill -0 "$holder" 2>/dev/null; then break; fi
    sleep 0.1
  done
  sleep 1
  if grep -q ^held "$hold_out"; then
    after=$(rss_kib)
    awk -v a="$after" -v b="$before" -v n="$connections" 'BEGIN { printf "connection.rss_kib\t%.2f\n", (a - b) / n }' |
      record "$1"
  else
    note "$1: $connections connections could not be held: $(tr -d '\r' <"$hold_out" | tail -n 1)"
  fi
  exec 8>&-
  wait "$holder" || true
}

# Prebuilt programs (--programs) may come without our own client.
c_client() { # CONTENDER ARGS...
  local contender=$1
  shift
  [ -e "$programs/bench_c_client.exe" ] || return 0
  measure "$contender" "$programs/bench_c_client.exe" "$@"
}

# measure CONTENDER PROGRAM ARGS...: a figure that cannot be had stays empty in the report.
measure() {
  local contender=$1
  shift
  wine_run "$@" | record "$contender" ||
    note "$contender: $(basename "$1") $2 failed or took more than $LIMIT_S s; its figures are missing"
}

measure_service() { # CONTENDER EXE
  local contender=$1 exe=$2 pipes=$FIGURES_DIR/pipes.$1 i
  start_service "$exe"
  if [ ! -s "$pipes" ]; then
    sleep 1 # the filesystem pipe need not be the last one
    wine_run "$programs/bench_pipes.exe" which >"$pipes"
    printf 'pipes\t%d\n' "$(wc -l <"$pipes")" | record "$contender"
  fi
  sleep $SETTLE_S
  memory idle | record "$contender"
  # Go first: under Wine the first connection to each pipe of the original meets its name holder, an
  # instance that nobody serves. The probe connection of the Go client uses it up.
  measure "$contender" "$programs/go-bench.exe" sequential "$calls"
  c_client "$contender" sequential "$calls"
  c_client "$contender" callers 16 $((calls / 4))
  measure "$contender" "$programs/go-bench.exe" callers 16 $((calls / 4))
  sleep $SETTLE_S
  memory loaded | record "$contender"
  measure_connections "$contender"
  stop_service
  for i in $(seq "$starts"); do
    # shellcheck disable=SC2046
    wine_run "$programs/bench_pipes.exe" start "$(winepath_of "$exe")" $(cat "$pipes") | record "$contender"
  done
}

winepath_of() { wine_run winepath.exe -w "$1"; }

measure_idle() { # CONTENDER EXE
  local before after
  start_service "$2"
  sleep 5
  before=$(cpu_ticks)
  sleep "$idle_s"
  after=$(cpu_ticks)
  stop_service
  awk -v t=$((after - before)) -v hz="$(getconf CLK_TCK)" -v s="$idle_s" \
    'BEGIN { printf "idle.cpu_ms\t%.1f\n", t * 1000 / hz * 60 / s }' | record "$1"
}

measure_size() { # CONTENDER EXE
  local stripped=$FIGURES_DIR/stripped.exe file name
  cp "$2" "$stripped"
  "$MINGW_TRIPLET-strip" "$stripped"
  for name in exe.kib exe.stripped_kib; do
    file=$2
    if [ "$name" = exe.stripped_kib ]; then file=$stripped; fi
    awk -v bytes="$(stat -c %s "$file")" -v name="$name" 'BEGIN { printf "%s\t%.0f\n", name, bytes / 1024 }'
  done | record "$1"
  rm -f "$stripped"
}

# Disks and volumes, in the testbed's own Wine prefix: its driver is installed there.
measure_storage() {
  say "disks and volumes"
  # shellcheck disable=SC2086
  env -u CSI_PROXY_WINEPREFIX "$BENCH_DIR/storage.py" --build "$RELEASE_DIR" --programs "$programs" \
    --figures "$figures" $quick >"$FIGURES_DIR/storage.md" ||
    note "the disk and volume groups could not be measured"
}

# --- the run ----------------------------------------------------------------------------------

print_report() {
  printf '# Benchmark\n\n'
  printf 'Made by `scripts/bench.sh` on %s: %s cores, Linux %s, %s, %s; original csi-proxy %s. ' \
    "$(date -u +%Y-%m-%d)" "$(nproc)" "$(uname -r | cut -d- -f1)" "$(wine --version 2>/dev/null | tail -n 1)" \
    "$("$REPO_DIR/scripts/go.sh" env GOVERSION)" "$ORIGINAL_VERSION"
  printf 'Medians of %d rounds in which the contenders took turns; load average %s at the start, %s at the end.\n\n' \
    "$rounds" "$load_before" "$(cut -d' ' -f1 /proc/loadavg)"
  gawk -v connections="$connections" -f "$BENCH_DIR/report.awk" "$figures"
  printf '\nEverything runs in one Wine on the same cores, clients included: the figures compare services with one\n'
  printf 'another and say little about Windows. Echo: 100 bytes to another process and back over a bare pipe.\n'
  if [ -s "$FIGURES_DIR/storage.md" ]; then
    printf '\n'
    cat "$FIGURES_DIR/storage.md"
  fi
}

mkdir -p "$FIGURES_DIR"
figures=$FIGURES_DIR/figures.tsv
: >"$figures"
rm -f "$FIGURES_DIR"/pipes.* "$FIGURES_DIR/storage.md"
load_before=$(cut -d' ' -f1 /proc/loadavg)

build_programs
if runs original; then build_original; fi
OURS=${service:-$RELEASE_DIR/src/csi-proxy.exe}
if runs ours && [ ! -e "$OURS" ]; then
  OURS=$(find "$RELEASE_DIR/src" -name csi-proxy.exe -print -quit)
  [ -n "$OURS" ] || die "there is no csi-proxy.exe below $RELEASE_DIR/src" "build it, or name it with --service"
fi

"$WINE" --prepare
cp "$programs/bcryptprimitives.dll" "$("$WINE" --prefix)/drive_c/windows/system32/"
WINEPREFIX=$CSI_PROXY_WINEPREFIX WINEDEBUG=-all wineserver -p || true # one warm server for the whole run

for round in $(seq "$rounds"); do
  say "round $round of $rounds"
  if runs echo; then measure_echo; fi
  if runs ours; then measure_service ours "$OURS"; fi
  if runs original; then measure_service original "$ORIGINAL"; fi
done
say "idle: $idle_s s each"
if runs ours; then
  measure_idle ours "$OURS"
  measure_size ours "$OURS"
fi
if runs original; then
  measure_idle original "$ORIGINAL"
  measure_size original "$ORIGINAL"
fi

if runs storage; then measure_storage; fi

print_report | tee "$FIGURES_DIR/BENCHMARK.md"
if [ -n "$save" ]; then
  cp "$FIGURES_DIR/BENCHMARK.md" "$REPO_DIR/docs/BENCHMARK.md"
  note "saved as docs/BENCHMARK.md"
fi
note "every single figure: $figures"
