#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs all tests; the README's test command and what continuous integration calls.
#   test.sh            everything
#   test.sh STAGE...   only these: format native tsan valgrind fuzz wine testbed clients go
# CSI_FUZZ_SECONDS (default 10) is the time for each fuzzer.
# What fails is run once more, and named in the summary when it passes then: such a test, or what it tests, has a
# race that is to be found.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

ALL_STAGES=(format native tsan valgrind fuzz wine testbed clients go)
WINDOWS=$REPO_DIR/build/windows-release
TESTBED_TESTS='^wine_(testbed|disks|network|mi|iscsi|services|secrets|trace)$'

# ctest_stage PRESET [CTEST_ARGUMENT...]: builds a preset and runs its ctest tests.
ctest_stage() {
  local preset=$1
  shift
  "$REPO_DIR/scripts/build.sh" "$preset"
  ctest --test-dir "$REPO_DIR/build/$preset" --output-on-failure --no-tests=error --repeat until-pass:2 "$@"
}

# again NAME COMMAND...: a command that may fail once.
again() {
  local name=$1
  shift
  "$@" && return
  echo "flaky: $name"
  "$@"
}

stage_format() {
  "$REPO_DIR/scripts/format.sh" --check
  note 'all sources are formatted'
}

stage_native() {
  ctest_stage native-debug -j2
}

# gRPC, protobuf-c and abseil come from Debian without instrumentation; scripts/tsan.supp says what
# follows from that.
stage_tsan() {
  TSAN_OPTIONS="suppressions=$REPO_DIR/scripts/tsan.supp halt_on_error=1 second_deadlock_stack=1" \
    ctest_stage native-tsan -j2
}

stage_valgrind() {
  ctest_stage native-valgrind -j2 -R '_test$'
}

stage_fuzz() {
  ctest_stage native-fuzz -j2 -R fuzz
}

stage_wine() {
  "$REPO_DIR/scripts/wine.sh" --prepare
  "$REPO_DIR/scripts/build.sh" windows-release
  keep_wine_up
  ctest_stage windows-release -E "$TESTBED_TESTS"
}

# Wine's services start with its first program and end with its last: 2 s for each test, without this.
keep_wine_up() {
  sleep infinity | "$REPO_DIR/scripts/wine.sh" "$WINDOWS/integrationtests/wine/testtool.exe" hold >/dev/null &
  trap 'pkill -P $$ sleep' EXIT
}

# The disk and volume groups of the shipped executable on disks that come, go and fail.
stage_testbed() {
  "$REPO_DIR/scripts/wine.sh" --prepare
  ctest_stage windows-release -V -R "$TESTBED_TESTS"
}

# Every RPC of every version by the C client: natively against the fake node, and under Wine against the
# shipped executable.
stage_clients() {
  "$REPO_DIR/scripts/build.sh" native-debug
  "$REPO_DIR/scripts/build.sh" windows-release
  again clients "$REPO_DIR/integrationtests/clienttests/run.sh"
}

stage_go() {
  "$REPO_DIR/scripts/build.sh" windows-release all go_programs
  again go "$REPO_DIR/integrationtests/go/run_testbed.py" --build "$WINDOWS"
}

# A stage runs in a process of its own, so that a failure ends the stage and not the run.
if [ "${1:-}" = --run-stage ]; then
  "stage_$2"
  exit
fi

stages=("$@")
[ $# -gt 0 ] || stages=("${ALL_STAGES[@]}")
for stage in "${stages[@]}"; do
  declare -F "stage_$stage" >/dev/null || die "there is no test stage $stage" "the stages are: ${ALL_STAGES[*]}"
done

"$REPO_DIR/scripts/setup.sh"
logs=$REPO_DIR/build/test-logs
mkdir -p "$logs"
summary=()
failed=0
for stage in "${stages[@]}"; do
  started=$SECONDS
  say "stage $stage"
  if "${BASH_SOURCE[0]}" --run-stage "$stage" 2>&1 | tee "$logs/$stage.log"; then
    summary+=("$(printf '%-9s ok      %4d s' "$stage" $((SECONDS - started)))")
  else
    summary+=("$(printf '%-9s FAILED  %4d s   %s' "$stage" $((SECONDS - started)) "$logs/$stage.log")")
    failed=$((failed + 1))
  fi
done

say "summary after $SECONDS s"
for line in "${summary[@]}"; do note "$line"; done
for stage in "${stages[@]}"; do
  sed -nE "s/.*Test +#[0-9]+: ([a-z0-9_]+) \.*\*\*\*.*/    failed once or more: $stage \1/p; s/^flaky: (.*)/    failed once or more: $stage \1/p" \
    "$logs/$stage.log" | sort -u
done
grep -h -E '^(SKIP|skipped:)' "$logs"/*.log | sort | uniq -c | sed 's/^ *\([0-9]*\) /    skipped \1 x: /' || true
echo "$((${#stages[@]} - failed)) passed, $failed failed"
[ "$failed" -eq 0 ]
