#!/usr/bin/env bash
# Measures the engine next to llama.cpp on the same file with the same threads, round
# by round, so that both see the same machine:
#
#   LLAMA_BENCH=path/to/llama-bench test/bench/engine.sh [ROUNDS]
#
# Without LLAMA_BENCH only our own figures are taken. MODEL is a name or a GGUF file,
# PROMPT and DECODE are the lengths, OUT gets every single figure as JSON.
set -euo pipefail
cd "$(dirname "$0")/../.."

rounds=${1:-5}
model=${MODEL:-smollm2-135m-instruct}
threads=${THREADS:-2}
prompt=${PROMPT:-512}
decode=${DECODE:-128}
out=${OUT:-.cache/bench-engine.json}
adapter=${ADAPTER:-adapters/L0}
macaron=${MACARON:-bin/macaron}

mkdir -p "$(dirname "$out")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

file=$model
if [ ! -f "$file" ]; then
  file=$("$macaron" model show "$model" --json | python3 -c 'import json,sys; print(json.load(sys.stdin)["path"])')
fi

for i in $(seq "$rounds"); do
  "$macaron" engine bench --model "$file" --threads "$threads" -p "$prompt" -n "$decode" -r 1 --json > "$work/ours.$i"
  if [ -n "${LLAMA_BENCH:-}" ]; then
    "$LLAMA_BENCH" -m "$file" -t "$threads" -p "$prompt" -n "$decode" -r 1 -o json > "$work/theirs.$i" 2> "$work/log" || { cat "$work/log" >&2; exit 1; }
  fi
  if [ -d "$adapter" ]; then
    "$macaron" engine first --model "$file" --threads "$threads" --adapter "$adapter" --route macaron.toml --json > "$work/first.$i"
  else
    "$macaron" engine first --model "$file" --threads "$threads" --json > "$work/first.$i"
  fi
  echo "round $i of $rounds, load $(cut -d' ' -f1 /proc/loadavg 2>/dev/null || echo unknown)" >&2
done

python3 - "$work" "$rounds" "$out" <<'PYTHON'
import json, pathlib, statistics, sys

work, rounds, out = pathlib.Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
read = lambda name, i: json.loads((work / f"{name}.{i}").read_text())
data = {"ours": {"prompt": [], "decode": []}, "llama.cpp": {"prompt": [], "decode": []}, "first": []}
for i in range(1, rounds + 1):
    for t in read("ours", i)["tests"]:
        data["ours"]["prompt" if t["name"].startswith("pp") else "decode"].append(t["speed"]["median"])
    data["first"].append(read("first", i))
    if (work / f"theirs.{i}").exists():
        for t in read("theirs", i):
            data["llama.cpp"]["prompt" if t["n_prompt"] else "decode"].append(t["avg_ts"])
            data["build"] = t["build_commit"]
pathlib.Path(out).write_text(json.dumps(data, indent=1) + "\n")

print("| tokens/s | median | min | max | rounds |\n|---|---|---|---|---|")
for who in ("ours", "llama.cpp"):
    for what, runs in data[who].items():
        if runs:
            print(f"| {who}, {what} | {statistics.median(runs):.1f} | {min(runs):.1f} | {max(runs):.1f} | {len(runs)} |")
for what in ("prompt", "decode"):
    pairs = [a / b for a, b in zip(data["ours"][what], data["llama.cpp"][what])]
    if pairs:
        print(f"| ratio, {what} | {statistics.median(pairs):.2f} | {min(pairs):.2f} | {max(pairs):.2f} | {len(pairs)} |")
print("\n| ms from process start | median | min | max |\n|---|---|---|---|")
for key in ("open_ms", "forced_ms", "route_ms", "answer_ms"):
    runs = [f[key] for f in data["first"] if key in f]
    if runs:
        print(f"| {key} | {statistics.median(runs):.0f} | {min(runs):.0f} | {max(runs):.0f} |")
PYTHON
