"""Draws the reward of runs of the cookbook, and says in a table where they began and ended.

    curves.py OUT.svg TITLE NAME=metrics.jsonl[,metrics.jsonl ...] [NAME=...]

Several files of one name are the legs of a run, one after the other. A step that was done again, because a run was
cut short after its last checkpoint, counts as it was done last.

Exits with 1 if a step of a run has other log probabilities in training than in sampling; a run of reference.py, which
samples and trains by passes of different shapes, tells how far they are apart under another name.
"""

import json
import sys

WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT, WINDOW = 640, 320, 48, 36, 34, 14, 5
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"]
KL = ["optim/kl_sample_train_v1", "optim/kl_sample_train_v2"]
REFERENCE = "reference/kl_sample_train_v1"


def read(path):
    with open(path) as f:
        steps = {row["step"]: row for row in map(json.loads, f) if "env/all/reward/total" in row}
    return [steps[step] for step in sorted(steps)]


def legs(paths):
    return [row for path in paths.split(",") for row in read(path)]


def smooth(values):
    """The mean of each value and those before it, WINDOW at most."""
    return [sum(values[max(0, i + 1 - WINDOW) : i + 1]) / min(i + 1, WINDOW) for i in range(len(values))]


def svg(title, runs):
    last = max(len(rewards) for rewards in runs.values()) - 1
    low = min(0.0, min(min(rewards) for rewards in runs.values()))
    x = lambda step: LEFT + (WIDTH - LEFT - RIGHT) * step / max(last, 1)
    y = lambda reward: HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * (reward - low) / (1 - low)
    line = lambda values: " ".join(f"{x(i):.1f},{y(v):.1f}" for i, v in enumerate(values))
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12" role="img">']
    out += [f"<title>{title}</title>", f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>', f'<text x="{LEFT}" y="18" font-size="14">{title}</text>']
    for tick in (0, 0.25, 0.5, 0.75, 0.9, 1) if low > -1 else range(int(low), 2):
        goal = 'stroke="#888" stroke-dasharray="4 3"' if tick == 0.9 else 'stroke="#ddd"'
        out.append(f'<path d="M{LEFT} {y(tick):.1f}H{WIDTH - RIGHT}" {goal}/>')
        out.append(f'<text x="{LEFT - 6}" y="{y(tick) + 4:.1f}" text-anchor="end">{tick}</text>')
    for step in sorted({round(last * part / 5) for part in range(6)}):
        out.append(f'<text x="{x(step):.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{step}</text>')
    out.append(f'<text x="{WIDTH - RIGHT}" y="{HEIGHT - 6}" text-anchor="end">step</text>')
    apart = min(110, (WIDTH - LEFT - RIGHT - 8) / len(runs))
    for i, (name, rewards) in enumerate(runs.items()):
        colour = COLOURS[i % len(COLOURS)]
        out.append(f'<polyline points="{line(rewards)}" fill="none" stroke="{colour}" stroke-opacity="0.3"/>')
        out.append(f'<polyline points="{line(smooth(rewards))}" fill="none" stroke="{colour}" stroke-width="2"/>')
        out.append(f'<text x="{LEFT + 8 + apart * i:.0f}" y="{TOP + 8}" fill="{colour}">{name}</text>')
    return "\n".join(out + ["</svg>"]) + "\n"


def main(out, title, *named):
    rows = {name: legs(paths) for name, paths in (pair.split("=", 1) for pair in named)}
    runs = {name: [row["env/all/reward/total"] for row in all] for name, all in rows.items()}
    with open(out, "w") as f:
        f.write(svg(title, runs))
    print(f"| run | steps | reward at the start | mean of the last {WINDOW} | mean of {WINDOW} at least 0.9 from step | largest KL of sampling and training | s a step, median |")
    print("|---|---|---|---|---|---|---|")
    worst = 0.0
    for name, rewards in runs.items():
        means, seconds = smooth(rewards), sorted(row["time/total"] for row in rows[name])
        first = next((str(i) for i, mean in enumerate(means) if i + 1 >= WINDOW and mean >= 0.9), "-")
        own = all(REFERENCE not in row for row in rows[name])
        kl = max(abs(row[key]) for row in rows[name] for key in (KL if own else [REFERENCE]) if own or key in row)
        worst = max(worst, kl * own)
        print(f"| {name} | {len(rewards)} | {rewards[0]:.3f} | {means[-1]:.3f} | {first} | {kl:g} | {seconds[len(seconds) // 2]:.1f} |")
    return int(worst != 0)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
