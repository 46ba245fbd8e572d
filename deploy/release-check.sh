#!/usr/bin/env bash
# release-check.sh makes the release of the commit twice, the second time in a fresh clone at another path, as
# another directory of caches has it, and compares every byte.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ -n "$(git status --porcelain)" ]; then echo "the work tree has changes that are not committed" >&2; exit 2; fi
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
export VERSION; VERSION=$(git describe --tags --always)
deploy/release.sh "$work/one"
git clone -q . "$work/elsewhere/macaron"
(cd "$work/elsewhere/macaron" && GOCACHE=$work/cache deploy/release.sh "$work/two")
diff -r "$work/one" "$work/two"
echo "both releases are equal:"
cat "$work/one/SHA256SUMS"
