#!/usr/bin/env bash
# Runs what holds one line of docs/CONFORMANCE.md (conform.sh 7) or of docs/PEER.md (conform.sh B7):
# the tests that the line names, room by room, and its make commands.
set -euo pipefail
cd "$(dirname "$0")/.."
row=$(grep -hE "^\| ([0-9]+, )?${1:?name a line, such as 7 or B7}(, [0-9]+)? \|" docs/CONFORMANCE.md docs/PEER.md) ||
	{ echo "there is no line $1 in docs/CONFORMANCE.md and docs/PEER.md" >&2; exit 2; }
declare -A tests
room=
while read -r word; do
	case $word in
	internal/* | test/*) room=$word ;;
	Test* | Fuzz*) tests[$room]+="${tests[$room]:+|}$word" ;;
	"make soak-"*) commands+=("$word") ;;
	esac
done < <(cut -d'|' -f4 <<<"$row" | grep -oE '`[^`]+`' | tr -d '`')
for room in "${!tests[@]}"; do
	"${GO:-go}" test -count=1 -timeout 15m -v -run "^(${tests[$room]})\$" "./$room" | grep -E '^(--- |ok|FAIL|panic)' || exit 1
done
for command in "${commands[@]:-}"; do $command; done
