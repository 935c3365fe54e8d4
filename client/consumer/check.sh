#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check.sh BUILD_DIR WORK_DIR EXPORTS: installs the client and uses it as a driver's author would.
# Environment: CC and SANITIZE of the build; WINDOWS, not empty when it is a cross build.
set -euo pipefail
build=$1 work=$2 exports=$3
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
prefix=$work/prefix
windows=${WINDOWS:-}
flags=()
[ -z "${SANITIZE:-}" ] || flags+=("-fsanitize=$SANITIZE")

fail() {
  printf 'FAILED: %s\n' "$*" >&2
  exit 1
}

# run PROGRAM: with the shared library where the system looks for it.
run() {
  printf -- '-- %s\n' "${1#"$work"/}"
  if [ "$windows" ]; then
    cp "$prefix/bin/csi-proxy-client.dll" "$(dirname "$1")/"
    "$root/scripts/wine.sh" "$1"
  else
    LD_LIBRARY_PATH=$prefix/lib "$1"
  fi
}

rm -rf "$work"
mkdir -p "$work"
cmake --install "$build" --prefix "$prefix" --component client >"$work/install.log"
[ -s "$prefix/share/doc/csi-proxy/LICENSE" ] || fail 'the licence is not installed'

# CMake
arguments=("-DCMAKE_PREFIX_PATH=$prefix" "-DCMAKE_C_COMPILER=$CC" "-DCMAKE_C_FLAGS=${flags[*]-}")
[ -z "$windows" ] || arguments+=(-DCMAKE_SYSTEM_NAME=Windows)
cmake -G Ninja -S "$here" -B "$work/cmake" "${arguments[@]}" >"$work/cmake.log" || fail "see $work/cmake.log"
cmake --build "$work/cmake" >>"$work/cmake.log" || fail "see $work/cmake.log"
suffix=${windows:+.exe}
run "$work/cmake/consumer-shared$suffix"
run "$work/cmake/consumer-static$suffix"

# pkg-config, by hand; the path is one that must be found from the .pc file itself
mkdir -p "$work/pkg-config"
export PKG_CONFIG_LIBDIR=$prefix/lib/pkgconfig
pc() { pkg-config "$@" csi-proxy; }
# shellcheck disable=SC2046
"$CC" "${flags[@]}" "$here/main.c" $(pc --cflags) $(pc --libs) -o "$work/pkg-config/shared$suffix"
run "$work/pkg-config/shared$suffix"
if [ "$windows" ]; then
  # shellcheck disable=SC2046
  "$CC" -static "$here/main.c" $(pc --cflags) $(pc --static --libs) -o "$work/pkg-config/static.exe"
  run "$work/pkg-config/static.exe"
fi

# The shared library shows its API and nothing else, and stands alone.
wanted=$(grep -oE '\bcsi_[a-z0-9_]+' "$exports" | sort)
if [ "$windows" ]; then
  dump=$(x86_64-w64-mingw32-objdump -p "$prefix/bin/csi-proxy-client.dll")
  shown=$(awk '/Ordinal.Name Pointer/ { table = 1; next } /^$/ { table = 0 } table { print $NF }' <<<"$dump" | sort)
  if grep -iE 'DLL Name: (lib|zlib)' <<<"$dump"; then fail 'the DLL needs another DLL that Windows does not have'; fi
else
  shown=$(nm -D --defined-only "$prefix/lib/libcsi-proxy-client.so" | awk '{print $3}' | sort)
fi
diff <(echo "$wanted") <(echo "$shown") || fail 'the shared library exports something else than its API'
echo "exports: $(wc -l <<<"$shown") functions"
