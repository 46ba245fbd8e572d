#!/usr/bin/env bash
# Replays requests.jsonl, 8 at once, against llama-server and against `macaron engine
# serve`, round by round: without an adapter, with one, and with request i on adapter
# i mod 4; each on a fresh server (cold) and once more (repeated).
#
#   LLAMA_SERVER=path/to/llama-server LORA=DIR test/bench/mixed/run.sh [ROUNDS]
#
# LORA holds L0.gguf .. L3.gguf, which lora_gguf.py writes. OUT gets every figure.
set -euo pipefail
cd "$(dirname "$0")/../../.."

rounds=${1:-3}
threads=${THREADS:-2}
model=${MODEL:-smollm2-135m-instruct}
macaron=${MACARON:-bin/macaron}
modes=${MODES:-none one mixed}
out=${OUT:-.cache/bench-mixed.jsonl}
port=${PORT:-8093}
requests=test/bench/mixed/requests.jsonl

work=$(mktemp -d)
server=
stop() { [ -z "$server" ] || { kill "$server" && wait "$server"; } 2>/dev/null || true; server=; }
trap 'stop; rm -rf "$work"' EXIT

file=$model
if [ ! -f "$file" ]; then
  file=$("$macaron" model show "$model" --json | python3 -c 'import json,sys; print(json.load(sys.stdin)["path"])')
fi
CGO_ENABLED=0 go build -o "$work/replay" ./test/bench/mixed/replay

# measure SERVER MODE ROUND: the server that was just started
measure() {
  for _ in $(seq 200); do curl -sf "http://127.0.0.1:$port/health" > "$work/health" && break; sleep 0.1; done
  for pass in cold repeated; do
    "$work/replay" -url "http://127.0.0.1:$port" -server "$1" -adapters "$2" "$requests" > "$work/result"
    rss=$(awk '/VmRSS/ {print $2}' "/proc/$server/status" 2>/dev/null || echo 0)
    python3 -c 'import json,sys; r=json.load(open(sys.argv[1])); r.update(zip(("pass","round","rss_mb"),(sys.argv[2],int(sys.argv[3]),int(sys.argv[4])//1024))); print(json.dumps(r))' \
      "$work/result" "$pass" "$3" "$rss" >> "$out"
  done
  stop
}

mkdir -p "$(dirname "$out")"
: > "$out"
for round in $(seq "$rounds"); do
  for mode in $modes; do
    if [ -n "${LLAMA_SERVER:-}" ]; then
      lora=()
      [ "$mode" = none ] || lora=(--lora "$LORA/L0.gguf,$LORA/L1.gguf,$LORA/L2.gguf,$LORA/L3.gguf" --lora-init-without-apply)
      "$LLAMA_SERVER" -m "$file" -t "$threads" -np 8 -c 8192 --port "$port" "${lora[@]}" > "$work/log" 2>&1 &
      server=$!
      measure llama "$mode" "$round"
    fi
    "$macaron" engine serve --model "$file" --threads "$threads" --max-num-seqs 8 --port "$port" --served-model-name base \
      --lora-modules L0=adapters/L0 --lora-modules L1=adapters/L1 --lora-modules L2=adapters/L2 --lora-modules L3=adapters/L3 > "$work/log" 2>&1 &
    server=$!
    measure vllm "$mode" "$round"
    echo "round $round of $rounds, adapters: $mode" >&2
  done
done

python3 - "$out" <<'PYTHON'
import collections, json, statistics, sys

runs = collections.defaultdict(list)
for r in map(json.loads, open(sys.argv[1])):
    runs[r["adapters"], r["pass"], r["server"]].append(r)
print("| adapters, cache | llama-server tok/s (cached) | ours tok/s (cached) | ratio, median | RSS MB, theirs / ours |\n|---|---|---|---|---|")
for mode, pas in dict.fromkeys(k[:2] for k in runs):
    def cell(server):
        rs = runs[mode, pas, server]
        if not rs:
            return "-"
        v = [r["tokens_per_s"] for r in rs]
        return f"{statistics.median(v):.0f} ({min(v):.0f}-{max(v):.0f}; {100 * rs[0]['cached_tokens'] / rs[0]['prompt_tokens']:.0f} %)"
    ours, theirs = runs[mode, pas, "vllm"], runs[mode, pas, "llama"]
    ratio = [a["tokens_per_s"] / b["tokens_per_s"] for a, b in zip(ours, theirs)]
    rss = lambda rs: f"{max(r['rss_mb'] for r in rs)}" if rs else "-"
    print(f"| {mode}, {pas} | {cell('llama')} | {cell('vllm')} | {f'{statistics.median(ratio):.1f}' if ratio else '-'} | {rss(theirs)} / {rss(ours)} |")
PYTHON
