#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check.sh DIRECTORY CSI_PROXYCTL: the manual pages are sound roff, and have every verb.
set -euo pipefail
directory=$1 program=$2
for page in csi-proxyctl.1 csi-proxy.8; do
  warnings=$(groff -man -ww -z -Tutf8 "$directory/$page" 2>&1)
  [ -z "$warnings" ] || { printf 'FAILED: %s\n%s\n' "$page" "$warnings"; exit 1; }
done
text=$(groff -man -Tascii -P-cbou -rLL=200n "$directory/csi-proxyctl.1")
count=0
while read -r verb; do
  grep -qE "^   $verb( |\$)" <<<"$text" || { printf 'FAILED: no %s in the manual page\n' "$verb"; exit 1; }
  count=$((count + 1))
done < <("$program" help | sed -n '/^Verbs:/,/^$/s/^  \([a-z][a-z]*\).*/\1/p')
for flag in pipe-sddl max-connections windows-service; do
  grep -q -- "$flag" <(groff -man -Tascii -P-cbou "$directory/csi-proxy.8") ||
    { printf 'FAILED: no -%s in the manual page\n' "$flag"; exit 1; }
done
printf '2 pages without warnings, %d verbs\n' "$count"
[ "$count" -gt 10 ]
