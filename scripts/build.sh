#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Configures and builds one preset (default: windows-release, what is shipped).
#   build.sh [PRESET [TARGET...]]
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

preset=${1:-windows-release}
[ $# -eq 0 ] || shift
build_dir=$REPO_DIR/build/$preset
mkdir -p "$REPO_DIR/build"
exec 9>"$build_dir.lock" # stages of the tests share builds
flock -n 9 || { say "waiting for another build of $preset"; flock 9; }
say "building $preset"
cd "$REPO_DIR"
if [ ! -e "$build_dir/build.ninja" ]; then
  run_logged "configuring $preset" "$REPO_DIR/build/$preset-configure.log" cmake --preset "$preset" 9>&-
fi
started=$SECONDS
ninja_with_progress "$build_dir" "$REPO_DIR/build/$preset-build.log" "$@" 9>&-
note "built in $((SECONDS - started)) s: $build_dir"
