"""Writes recipes that differ in what gradients go through, and sums up what they made:

    grpo.py write DIR STEPS SEEDS    DIR/WAY-SEED.toml and DIR/rows.jsonl
    grpo.py table DIR                mean reward by way, from their metrics.jsonl

The task is to add a number of two digits and one of one, after a conversation with examples, rewarded when the
last number of the answer is right. Rows and seeds are the same for all ways.
"""
import json
import math
import pathlib
import random
import statistics
import sys

WAYS = ["exact", "response-only", "resident-prefix"]
SHOTS = [m for a, b in [(4, 8), (3, 5), (7, 9), (6, 1), (8, 8)] for m in
         [{"role": "user", "content": f"What is {a} + {b}?"}, {"role": "assistant", "content": f"{a} + {b} = {a + b}"}]]
RECIPE = """method = "grpo"
seed = {seed}
out = "{way}-{seed}"
[adapter]
rank = 16
[data]
train = "rows.jsonl"
[optimizer]
learning_rate = 4e-4
[run]
steps = {steps}
batch = 4
gradient = "{way}"
[rl]
group = 8
max_tokens = 10
normalise = true
[rl.reward]
kind = "arithmetic"
"""


def write(out, steps, seeds):
    out.mkdir(parents=True, exist_ok=True)
    draw = random.Random(5)
    rows = []
    for _ in range(64):
        a, b = draw.randrange(10, 50), draw.randrange(10)
        rows.append({"messages": SHOTS + [{"role": "user", "content": f"What is {a} + {b}?"}], "answer": str(a + b)})
    (out / "rows.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    for way in WAYS:
        for seed in range(1, seeds + 1):
            (out / f"{way}-{seed}.toml").write_text(RECIPE.format(way=way, seed=seed, steps=steps))


def rewards(path):
    return [r["reward"] for r in map(json.loads, path.read_text().splitlines()) if "reward" in r]


def table(out):
    print("| gradient | seeds | steps | reward of the first 5 steps | of the last 5 | 95% interval of the last 5, over seeds | less exact's, same seeds | largest drift, nats |")
    print("|---|---|---|---|---|---|---|---|")
    last = {}
    for way in WAYS:
        runs = {p.parent.name.removesuffix(".work").rsplit("-", 1)[1]: p for p in sorted(out.glob(f"{way}-*.work/metrics.jsonl"))}
        curves = {seed: rewards(p) for seed, p in runs.items()}
        if not curves:
            continue
        n = min(len(c) for c in curves.values())
        first = statistics.mean(statistics.mean(c[:5]) for c in curves.values())
        last[way] = {seed: statistics.mean(c[n - 5 : n]) for seed, c in curves.items()}
        mean, width = interval(list(last[way].values()))
        both = [v - last["exact"][s] for s, v in last[way].items() if s in last.get("exact", {})]
        less = "" if way == "exact" or not both else "{:+.3f} ± {:.3f}".format(*interval(both))
        drift = [json.loads(line).get("prefix_drift", 0) for p in runs.values() for line in p.read_text().splitlines()]
        print(f"| {way} | {len(curves)} | {n} | {first:.3f} | {mean:.3f} | ± {width:.3f} | {less} | {max(drift):.3f} |" if way == WAYS[2] else f"| {way} | {len(curves)} | {n} | {first:.3f} | {mean:.3f} | ± {width:.3f} | {less} | |")


def interval(values):
    """Mean and half width by Student's t."""
    t = {2: 12.706, 3: 4.303, 4: 3.182, 5: 2.776}.get(len(values), 1.96)
    if len(values) < 2:
        return values[0], math.nan
    return statistics.mean(values), t * statistics.stdev(values) / math.sqrt(len(values))


if __name__ == "__main__":
    if sys.argv[1] == "write":
        write(pathlib.Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
    else:
        table(pathlib.Path(sys.argv[2]))
