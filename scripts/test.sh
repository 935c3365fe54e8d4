#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs all tests; the README's test command and what continuous integration calls.
#   test.sh            everything
#   test.sh STAGE...   only these: format native tsan valgrind fuzz wine testbed clients go
# CSI_FUZZ_SECONDS (default 10) is the time for each fuzzer.
# A test that fails is run once more, and named in the summary when it passes then: Wine fails by itself now and then,
# and a busy machine is slow, but it may as well be a race of ours that is to be found. Not so fuzzers and the search
# for secrets: what they find once is there.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

ALL_STAGES=(format native tsan valgrind fuzz wine testbed clients go)
WINDOWS=$REPO_DIR/build/windows-release
REPEAT=(--repeat until-pass:2)
TESTBED_TESTS='^wine_(testbed|disks|network|mi|iscsi|services|secrets|trace|proxyctl|admin)$'

# ctest_stage PRESET [CTEST_ARGUMENT...]: builds a preset and runs its ctest tests.
ctest_stage() {
  local preset=$1
  shift
  "$REPO_DIR/scripts/build.sh" "$preset"
  ctest --test-dir "$REPO_DIR/build/$preset" --output-on-failure --no-tests=error "$@"
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
  ctest_stage native-debug -j2 "${REPEAT[@]}"
}

# gRPC, protobuf-c and abseil come from Debian without instrumentation; scripts/tsan.supp says what
# follows from that.
stage_tsan() {
  TSAN_OPTIONS="suppressions=$REPO_DIR/scripts/tsan.supp halt_on_error=1 second_deadlock_stack=1" \
    ctest_stage native-tsan -j2 "${REPEAT[@]}"
}

stage_valgrind() {
  ctest_stage native-valgrind -j2 "${REPEAT[@]}" -R '_test$'
}

stage_fuzz() {
  ctest_stage native-fuzz -j2 -R fuzz
}

stage_wine() {
  "$REPO_DIR/scripts/wine.sh" --prepare
  "$REPO_DIR/scripts/build.sh" windows-release
  keep_wine_up
  ctest_stage windows-release "${REPEAT[@]}" -E "$TESTBED_TESTS"
}

# Wine's services start with its first program and end with its last: 2 s for each test, without this.
keep_wine_up() {
  sleep infinity | "$REPO_DIR/scripts/wine.sh" "$WINDOWS/integrationtests/wine/testtool.exe" hold >/dev/null &
  trap 'pkill -P $$ sleep' EXIT
}

# The shipped executable on disks, shares, targets and services that come, go and fail.
stage_testbed() {
  "$REPO_DIR/scripts/wine.sh" --prepare
  "$REPO_DIR/scripts/build.sh" windows-release all go_programs # the search for secrets has the Go client too
  ctest_stage windows-release -j2 -V "${REPEAT[@]}" -R "$TESTBED_TESTS" -E wine_secrets
  ctest_stage windows-release -V -R wine_secrets
}

# Every RPC of every version by the C client: natively against the fake node, and under Wine against the
# shipped executable.
stage_clients() {
  "$REPO_DIR/scripts/build.sh" native-debug
  "$REPO_DIR/scripts/build.sh" windows-release
  again clients "$REPO_DIR/integrationtests/clienttests/run.sh"
}

# In a Wine prefix of its own, so that it can run beside the stages testbed and clients.
stage_go() {
  "$REPO_DIR/scripts/build.sh" windows-release all go_programs
  CSI_TESTBED_LANE=-3 again go "$REPO_DIR/integrationtests/go/run_testbed.py" --build "$WINDOWS"
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
rm -f "$logs"/*

# run_stage STAGE FD [COMMAND...]: the output goes to STAGE.log and FD, the outcome to STAGE.result.
exec {in_sight}>&1 {hidden}>/dev/null
run_stage() {
  local stage=$1 fd=$2 begun=$SECONDS outcome=ok
  shift 2
  # Not handed on, or a Wine server that stays would keep whoever reads this waiting.
  "$@" "${BASH_SOURCE[0]}" --run-stage "$stage" 2>&1 {in_sight}>&- {hidden}>&- |
    tee "$logs/$stage.log" >&"$fd" || outcome=FAILED
  printf '%-9s %-6s %5d s\n' "$stage" "$outcome" $((SECONDS - begun)) >"$logs/$stage.result"
}

# run_out_of_sight WHERE COMMAND STAGE...: one stage after the other, by COMMAND (empty: none); their output is shown
# when they fail.
run_out_of_sight() {
  local where=$1 command=$2 stage
  shift 2
  for stage in "$@"; do
    say "stage $stage begins $where the others"
    # shellcheck disable=SC2086
    run_stage "$stage" "$hidden" $command
    say "stage $(cat "$logs/$stage.result") ($where the others)"
    ! grep -q FAILED "$logs/$stage.result" || cat "$logs/$stage.log"
  done
}

# Stages under Wine wait most of the time: two of them run beside each other, in different Wine prefixes, and what
# computes runs behind them, at low priority.
computing=() beside=() in_turn=()
for stage in "${stages[@]}"; do
  case $stage in
    native | tsan | valgrind | fuzz) computing+=("$stage") ;;
    testbed | clients) beside+=("$stage") ;;
    *) in_turn+=("$stage") ;;
  esac
done
if [ ${#in_turn[@]} -eq 0 ] || [ ${#stages[@]} -eq 1 ]; then
  computing=() beside=() in_turn=("${stages[@]}")
fi
run_out_of_sight behind 'nice -n 10' "${computing[@]}" &
run_out_of_sight beside '' "${beside[@]}" &
for stage in "${in_turn[@]}"; do
  say "stage $stage"
  run_stage "$stage" "$in_sight"
done
wait

say "summary after $SECONDS s"
for stage in "${stages[@]}"; do
  note "$(cat "$logs/$stage.result" 2>/dev/null || echo "$stage FAILED: it ended without a result")"
  sed -nE "s/.*Test +#[0-9]+: ([^ ]+) .*\*\*\*.*/        failed once or more: \1/p; s/^flaky: (.*)/        failed once or more: \1/p" \
    "$logs/$stage.log" | sort -u
done
sed -nE 's/^([0-9]+: )?(SKIP|skip|skipped:) (.*)/    skipped: \3/p' "$logs"/*.log | sort | uniq -c
passed=$(cat "$logs"/*.result | grep -c -E '^[a-z]+ +ok ' || true)
echo "$passed passed, $((${#stages[@]} - passed)) failed"
[ "$passed" -eq ${#stages[@]} ]
