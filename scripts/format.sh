#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Formats our C and C++ sources; with --check only says which ones are not formatted.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

cd "$REPO_DIR"
mode=-i
[ "${1:-}" = --check ] && mode='--dry-run --Werror'
# Expected output of the generator is kept as the generator wrote it.
git ls-files --cached --others --exclude-standard '*.c' '*.h' '*.cc' |
  grep -v '/expected/' |
  while read -r file; do [ -e "$file" ] && printf '%s\0' "$file"; done |
  xargs -0 clang-format-14 $mode ||
  die 'some sources are not formatted' 'run scripts/format.sh'
