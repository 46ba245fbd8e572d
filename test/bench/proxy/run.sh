#!/usr/bin/env bash
# Measures Macaron, the Python proxy and the bare loop; see docs/BENCHMARKS.md, "Proxy".
#   QUICK=1      one round of a few cells
#   ROUNDS=5 WINDOW=1500ms DURABILITY=full CELLS=16,64s
#   PEER=DIR     a clone of the Python proxy; PEER=none leaves it out
set -euo pipefail
cd "$(dirname "$0")/../../.."

root=$PWD
peer=()
if [ "${PEER:-}" != none ]; then
  test/bench/proxy/peer.sh
  peer=(-peer "$(realpath "${PEER:-.cache/peer/harness}")" -python "$root/.cache/peer/venv/bin/python")
fi
go build -o bin/bench-proxy ./test/bench/proxy
out=${OUT:-$root/.cache/bench-proxy.jsonl}
rm -f "$out"
bin/bench-proxy -macaron "$root/bin/macaron" -contract "$root/macaron.toml" "${peer[@]}" -out "$out" \
  -rounds "${ROUNDS:-5}" -window "${WINDOW:-1500ms}" -durability "${DURABILITY:-full}" -cells "${CELLS:-}" ${QUICK:+-quick}
