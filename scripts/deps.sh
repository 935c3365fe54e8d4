#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the cross dependencies from Debian's source packages into a cache outside the checkout.
# The cache key covers everything that determines the result, so a new clone reuses it.
#   deps.sh          build what is missing and print where it is
#   deps.sh --path   print only the directory (built or not)
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

ABSEIL_VERSION=20220623.1-1+deb12u2
GRPC_VERSION=1.51.1-3
PROTOBUF_C_VERSION=1.4.1-1
CMOCKA_VERSION=1.1.5-2.1
LIBMICROHTTPD_VERSION=0.9.75-6

# -Os and one section per function: the executable keeps only what it calls, and touches few pages.
CROSS_C_FLAGS='-Os -g0 -ffunction-sections -fdata-sections -DNDEBUG -D_WIN32_WINNT=0x0A00'
CROSS_CXX_FLAGS="$CROSS_C_FLAGS -DGRPC_ARES=0"

cache_key() {
  {
    cat "$REPO_DIR/scripts/deps.sh" "$REPO_DIR/scripts/cmake/mingw-w64-x86_64.cmake" \
      "$REPO_DIR"/scripts/patches/*
    dpkg-query -W -f '${Version}\n' g++-mingw-w64-x86-64-posix mingw-w64-x86-64-dev \
      libz-mingw-w64-dev 2>/dev/null
  } | sha256sum | cut -c1-16
}

DEPS_DIR=$CACHE_DIR/deps/$(cache_key)
if [ "${1:-}" = --path ]; then
  echo "$DEPS_DIR"
  exit 0
fi
if [ -e "$DEPS_DIR/complete" ]; then
  exit 0
fi

SOURCE_DIR=$CACHE_DIR/sources
WORK_DIR=$DEPS_DIR/work
SYSROOT=$DEPS_DIR/sysroot
LOG_DIR=$DEPS_DIR/logs
TOOLCHAIN=$REPO_DIR/scripts/cmake/mingw-w64-x86_64.cmake
mkdir -p "$SOURCE_DIR" "$WORK_DIR" "$SYSROOT" "$LOG_DIR"
export CSI_PROXY_SYSROOT=$SYSROOT

# One build at a time in one cache.
exec 9>"$DEPS_DIR/lock"
flock 9
if [ -e "$DEPS_DIR/complete" ]; then
  exit 0
fi

# The machine's own apt configuration stays as it is: the deb-src lines live in a private copy.
write_private_apt() {
  local apt=$WORK_DIR/apt list
  mkdir -p "$apt/parts" "$apt/lists/partial"
  for list in /etc/apt/sources.list.d/*.sources; do
    [ -e "$list" ] || continue
    sed 's/^Types:.*/Types: deb-src/' "$list" >"$apt/parts/$(basename "$list")"
  done
  if [ -e /etc/apt/sources.list ]; then
    sed -n 's/^deb /deb-src /p' /etc/apt/sources.list >"$apt/parts/sources.list"
  fi
  cat >"$apt/apt.conf" <<EOF
Dir::Etc::SourceList "/dev/null";
Dir::Etc::SourceParts "$apt/parts";
Dir::State::Lists "$apt/lists";
APT::Sandbox::User "root";
EOF
  export APT_CONFIG=$apt/apt.conf
}

fetch_sources() {
  if [ -e "$SOURCE_DIR/grpc_${GRPC_VERSION}.dsc" ] &&
    [ -e "$SOURCE_DIR/abseil_${ABSEIL_VERSION}.dsc" ] &&
    [ -e "$SOURCE_DIR/protobuf-c_${PROTOBUF_C_VERSION}.dsc" ] &&
    [ -e "$SOURCE_DIR/cmocka_${CMOCKA_VERSION}.dsc" ] &&
    [ -e "$SOURCE_DIR/libmicrohttpd_${LIBMICROHTTPD_VERSION}.dsc" ]; then
    return
  fi
  write_private_apt
  run_logged 'reading the list of source packages' "$LOG_DIR/apt.log" apt-get update
  (
    cd "$SOURCE_DIR"
    run_logged 'downloading source packages (12 MB)' "$LOG_DIR/apt-source.log" \
      apt-get source --download-only "grpc=$GRPC_VERSION" "abseil=$ABSEIL_VERSION" \
      "protobuf-c=$PROTOBUF_C_VERSION" "cmocka=$CMOCKA_VERSION" \
      "libmicrohttpd=$LIBMICROHTTPD_VERSION"
  )
}

# unpack PACKAGE VERSION: Debian's source with Debian's patches and ours, in WORK_DIR/PACKAGE.
unpack() {
  local patch
  rm -rf "${WORK_DIR:?}/$1"
  run_logged "unpacking $1 $2" "$LOG_DIR/unpack-$1.log" \
    dpkg-source --no-check -x "$SOURCE_DIR/$1_$2.dsc" "$WORK_DIR/$1"
  for patch in "$REPO_DIR/scripts/patches/$1"-*.patch; do
    [ -e "$patch" ] || continue
    run_logged "patching $1: $(basename "$patch")" "$LOG_DIR/patch-$1.log" \
      patch -d "$WORK_DIR/$1" -p1 -i "$patch"
  done
}

# configure NAME [CMAKE_ARGUMENT...]: an out-of-tree cross configuration in WORK_DIR/NAME-build.
configure() {
  local name=$1
  shift
  run_logged "configuring $name" "$LOG_DIR/configure-$name.log" \
    cmake -S "$WORK_DIR/$name" -B "$WORK_DIR/$name-build" -G Ninja \
    -DCMAKE_TOOLCHAIN_FILE="$TOOLCHAIN" -DCMAKE_BUILD_TYPE=None \
    -DCMAKE_INSTALL_PREFIX="$SYSROOT" -DCMAKE_PREFIX_PATH="$SYSROOT" \
    -DCMAKE_C_FLAGS="$CROSS_C_FLAGS" -DCMAKE_CXX_FLAGS="$CROSS_CXX_FLAGS" \
    -DBUILD_SHARED_LIBS=OFF -DCMAKE_POLICY_DEFAULT_CMP0048=NEW "$@"
}

build_abseil() {
  unpack abseil "$ABSEIL_VERSION"
  configure abseil -DABSL_PROPAGATE_CXX_STD=ON -DCMAKE_CXX_STANDARD=17 -DBUILD_TESTING=OFF
  ninja_with_progress "$WORK_DIR/abseil-build" "$LOG_DIR/build-abseil.log" install
}

build_grpc() {
  unpack grpc "$GRPC_VERSION"
  # gRPC's CMake downloads these when the folders are absent; grpc_unsecure uses none of them.
  mkdir -p "$WORK_DIR"/grpc/third_party/{envoy-api,googleapis,opencensus-proto/src,xds}
  configure grpc -DCMAKE_CXX_STANDARD=17 \
    -DgRPC_ABSL_PROVIDER=package -DgRPC_ZLIB_PROVIDER=package -DgRPC_CARES_PROVIDER=none \
    -DgRPC_RE2_PROVIDER=none -DgRPC_SSL_PROVIDER=none -DgRPC_PROTOBUF_PROVIDER=none \
    -DgRPC_BUILD_TESTS=OFF -DgRPC_BUILD_CODEGEN=OFF -DgRPC_INSTALL=OFF
  ninja_with_progress "$WORK_DIR/grpc-build" "$LOG_DIR/build-grpc.log" grpc_unsecure upb
  mkdir -p "$SYSROOT/lib" "$SYSROOT/include/grpc-core/src"
  cp "$WORK_DIR"/grpc-build/lib{grpc_unsecure,gpr,address_sorting,upb}.a "$SYSROOT/lib/"
  cp -r "$WORK_DIR/grpc/include/grpc" "$SYSROOT/include/"
  # The pipe transport is an endpoint of C core and needs its internal headers, and upb's.
  (cd "$WORK_DIR/grpc" && find src/core third_party/upb/upb third_party/upb/third_party/utf8_range \
    \( -name '*.h' -o -name '*.inc' \) -print0 |
    tar --null -T - -cf - | tar -xf - -C "$SYSROOT/include/grpc-core")
}

build_protobuf_c() {
  unpack protobuf-c "$PROTOBUF_C_VERSION"
  mkdir -p "$SYSROOT/include/protobuf-c" "$SYSROOT/lib"
  run_logged 'building protobuf-c' "$LOG_DIR/build-protobuf-c.log" bash -ec "
    cd '$WORK_DIR/protobuf-c'
    $MINGW_TRIPLET-gcc-posix $CROSS_C_FLAGS -I. -c protobuf-c/protobuf-c.c -o protobuf-c.o
    rm -f '$SYSROOT/lib/libprotobuf-c.a'
    $MINGW_TRIPLET-ar rcs '$SYSROOT/lib/libprotobuf-c.a' protobuf-c.o
    cp protobuf-c/protobuf-c.h '$SYSROOT/include/protobuf-c/'"
}

build_cmocka() {
  unpack cmocka "$CMOCKA_VERSION"
  configure cmocka -DWITH_STATIC_LIB=ON -DWITH_EXAMPLES=OFF -DUNIT_TESTING=OFF
  run_logged 'building cmocka' "$LOG_DIR/build-cmocka.log" \
    ninja -C "$WORK_DIR/cmocka-build" install
}

# Only what a small plain HTTP server needs. AUTOINIT_FUNCS_INCLUDED leaves out the constructor that would start
# Winsock in every process; MHD_start_daemon() does it then.
build_libmicrohttpd() {
  unpack libmicrohttpd "$LIBMICROHTTPD_VERSION"
  mkdir -p "$WORK_DIR/libmicrohttpd-build" "$SYSROOT/include" "$SYSROOT/lib"
  run_logged 'building libmicrohttpd' "$LOG_DIR/build-libmicrohttpd.log" bash -ec "
    cd '$WORK_DIR/libmicrohttpd-build'
    ../libmicrohttpd/configure --host=$MINGW_TRIPLET CC=$MINGW_TRIPLET-gcc-posix CFLAGS='$CROSS_C_FLAGS' \
      CPPFLAGS=-DAUTOINIT_FUNCS_INCLUDED=1 --enable-static --disable-shared --with-threads=posix \
      --disable-poll --disable-epoll --disable-sendfile --disable-https --disable-postprocessor \
      --disable-dauth --disable-bauth --disable-httpupgrade --disable-messages --disable-nls \
      --disable-thread-names --disable-doc --disable-examples --disable-curl --disable-dependency-tracking
    make -C src/microhttpd libmicrohttpd.la
    cp src/microhttpd/.libs/libmicrohttpd.a '$SYSROOT/lib/'
    cp ../libmicrohttpd/src/include/microhttpd.h '$SYSROOT/include/'"
}

say "building the cross dependencies into $DEPS_DIR (once, about 9 minutes on 2 cores)"
fetch_sources
build_abseil
build_protobuf_c
build_cmocka
build_libmicrohttpd
build_grpc
rm -rf "$WORK_DIR"
touch "$DEPS_DIR/complete"
say "cross dependencies are ready ($SECONDS s)"
