#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Configures and builds one preset (default: windows-release, what is shipped).
#   build.sh [PRESET [TARGET...]]
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

preset=${1:-windows-release}
[ $# -eq 0 ] || shift
build_dir=$REPO_DIR/build/$preset
mkdir -p "$REPO_DIR/build"
say "building $preset"
cd "$REPO_DIR"
if [ ! -e "$build_dir/build.ninja" ]; then
  run_logged "configuring $preset" "$REPO_DIR/build/$preset-configure.log" cmake --preset "$preset"
fi
started=$SECONDS
ninja_with_progress "$build_dir" "$REPO_DIR/build/$preset-build.log" "$@"
note "built in $((SECONDS - started)) s: $build_dir"
