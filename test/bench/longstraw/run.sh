#!/usr/bin/env bash
# Passes over long prompts, each in a process of its own, as a table.
#
#   PROMPTS="1024 2048" EXACT="1024" test/bench/longstraw/run.sh
#   COMPARE=1   the exact gradient next to the one that ends at the prompt
#   GRPO=60     reward curves of so many steps, SEEDS of each (3)
#
# DIR is where memory goes (MEMORY bytes of it stay). The garbage collector is told to keep
# little, so that the resident size is near what is needed.
set -euo pipefail
cd "$(dirname "$0")/../../.."

macaron=${MACARON:-$PWD/bin/macaron}
model=${MODEL:-smollm2-135m-instruct}
file=$model
if [ ! -f "$file" ]; then
  file=$("$macaron" model show "$model" --json | python3 -c 'import json,sys; print(json.load(sys.stdin)["path"])')
fi
dir=${DIR:-.cache/longstraw}
mkdir -p "$dir"
CGO_ENABLED=0 go build -o bin/bench-longstraw ./test/bench/longstraw
out=$dir/passes.jsonl
: > "$out"
pass() { GOGC=20 bin/bench-longstraw -model "$file" -dir "$dir/scratch" -memory "${MEMORY:-67108864}" "$@" >> "$out"; }
for n in ${PROMPTS-1024 2048 4096 8192 16384 32768 65536}; do pass -prompt "$n"; done
for n in ${EXACT-1024 2048 4096 8192}; do pass -way exact -prompt "$n"; done
for n in ${GROUPS_OF-2 8 32}; do pass -prompt 1024 -answers "$n"; done
python3 test/bench/longstraw/table.py "$out"
if [ -n "${COMPARE:-}" ]; then
  bin/bench-longstraw -model "$file" -compare "${LENGTHS:-64,256,1024}"
fi
if [ -n "${GRPO:-}" ]; then
  python3 test/bench/longstraw/grpo.py write "$dir/grpo" "$GRPO" "${SEEDS:-3}"
  for r in "$dir"/grpo/*.toml; do
    [ -d "${r%.toml}" ] || "$macaron" train "$r" --model "$file" > /dev/null
  done
  python3 test/bench/longstraw/grpo.py table "$dir/grpo"
fi
