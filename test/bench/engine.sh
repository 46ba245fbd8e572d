#!/usr/bin/env bash
# Measures the engine next to llama.cpp on the same file with the same threads, round by
# round, so that both see the same machine:
#
#   LLAMA_BENCH=path/to/llama-bench test/bench/engine.sh [ROUNDS]
#
# Without LLAMA_BENCH only our own figures are taken. MODEL is a name or a GGUF file,
# PROMPT, DECODE and DEPTH are lengths, ADAPTERS are directories (empty for none), OUT gets
# every single figure as JSON lines. QUIET is put before each command that measures.
set -euo pipefail
cd "$(dirname "$0")/../.."

rounds=${1:-5}
model=${MODEL:-smollm2-135m-instruct}
threads=${THREADS:-2}
prompt=${PROMPT:-512}
decode=${DECODE:-128}
depth=${DEPTH:-512}
out=${OUT:-.cache/bench-engine.jsonl}
adapters=${ADAPTERS-adapters/L0,adapters/L1,adapters/L2,adapters/L3}
macaron=${MACARON:-bin/macaron}

mkdir -p "$(dirname "$out")"
: > "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

file=$model
if [ ! -f "$file" ]; then
  file=$("$macaron" model show "$model" --json | python3 -c 'import json,sys; print(json.load(sys.stdin)["path"])')
fi

# note WHO WHAT ROUND: the figures of a result file, one line each
note() {
  python3 - "$work/result" "$@" >> "$out" <<'PYTHON'
import json, sys

path, who, what, turn = sys.argv[1:]
result = json.load(open(path))
if who == "llama.cpp":
    for t in result:
        name = (f"pp{t['n_prompt']}" if t["n_prompt"] else f"tg{t['n_gen']}") + (f"@d{t['n_depth']}" if t["n_depth"] else "")
        print(json.dumps({"who": who, "test": name, "round": int(turn), "value": t["avg_ts"]}))
elif what == "first":
    for key, value in result.items():
        if key.endswith("_ms"):
            print(json.dumps({"who": who, "test": key, "round": int(turn), "value": value}))
else:
    for t in result["tests"]:
        print(json.dumps({"who": who, "test": t["name"] + what, "round": int(turn), "value": t["speed"]["median"]}))
PYTHON
}

bench() { # WHAT ARGUMENTS...
  local what=$1
  shift
  $QUIET "$macaron" engine bench --model "$file" --threads "$threads" -r 1 --json "$@" > "$work/result"
  note ours "$what" "$i"
}

theirs() {
  [ -n "${LLAMA_BENCH:-}" ] || return 0
  $QUIET "$LLAMA_BENCH" -m "$file" -t "$threads" -r 1 -o json "$@" > "$work/result" 2> "$work/log" || { cat "$work/log" >&2; exit 1; }
  note llama.cpp "" "$i"
}

first() {
  $QUIET "$macaron" engine first --model "$file" --threads "$threads" --json "$@" > "$work/result"
  note ours first "$i"
}

QUIET=${QUIET:-}
for i in $(seq "$rounds"); do
  theirs -p "$prompt" -n "$decode"
  bench "" -p "$prompt" -n "$decode" -d 0
  theirs -p 0 -n "$decode" -d "$depth"
  bench "" -p 0 -n "$decode" -d "$depth"
  if [ -n "$adapters" ]; then
    one=${adapters%%,*}
    bench ", one adapter" -p "$prompt" -n "$decode" --adapters "$one"
    bench ", 8 sequences" -p 0 -n "$decode" --sequences 8
    bench ", 8 sequences, one adapter" -p 0 -n "$decode" --sequences 8 --adapters "$one"
    bench ", 8 sequences, all adapters" -p 0 -n "$decode" --sequences 8 --adapters "$adapters"
    first --adapter "$one" --route macaron.toml
  fi
  echo "round $i of $rounds, load $(cut -d' ' -f1 /proc/loadavg 2>/dev/null || echo unknown)" >&2
done

python3 - "$out" <<'PYTHON'
import collections, json, statistics, sys

runs = collections.defaultdict(dict)
for r in map(json.loads, open(sys.argv[1])):
    runs[r["test"], r["who"]][r["round"]] = r["value"]


def cell(values, form):
    values = list(values)
    return f"{statistics.median(values):{form}} ({min(values):{form}} - {max(values):{form}})" if values else "-"


def ratios(a, b):
    return [a[i] / b[i] for i in sorted(a) if i in b]


tests = [t for t, who in runs if who == "ours"]
print("| test, tokens/s: median (range) | ours | llama.cpp | ratio, round by round |\n|---|---|---|---|")
for t in [t for t in tests if not t.endswith("_ms")]:
    ours, theirs = runs[t, "ours"], runs.get((t, "llama.cpp"), {})
    print(f"| {t} | {cell(ours.values(), '.0f')} | {cell(theirs.values(), '.0f')} | {cell(ratios(ours, theirs), '.2f')} |")
print("\n| our own ratios, round by round | median (range) |\n|---|---|")
for t in tests:
    base = t.split(",")[0] if t.endswith(", one adapter") and "8" not in t.split(",")[1] else None
    for a, b in ((t, base), (t, t.replace("all adapters", "one adapter") if "all adapters" in t else None), (t, t.replace(", one adapter", "") if "8 sequences, one" in t else None)):
        if b and (b, "ours") in runs:
            print(f"| {a} / {b} | {cell(ratios(runs[a, 'ours'], runs[b, 'ours']), '.2f')} |")
times = [t for t in tests if t.endswith("_ms")]
if times:
    print("\n| ms from process start | median (range) |\n|---|---|")
    for t in times:
        print(f"| {t} | {cell(runs[t, 'ours'].values(), '.0f')} |")
PYTHON
