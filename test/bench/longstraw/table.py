"""Prints a table of what bench-longstraw measured, and what longer prompts take by it."""
import json
import sys


def solve(a, b):
    """Coefficients c of a c = b by least squares, relative to b: two unknowns."""
    rows = [[x / y for x in r] for r, y in zip(a, b)]
    s = [[sum(r[i] * r[j] for r in rows) for j in range(2)] for i in range(2)]
    t = [sum(r[i] for r in rows) for i in range(2)]
    d = s[0][0] * s[1][1] - s[0][1] * s[1][0]
    return (t[0] * s[1][1] - t[1] * s[0][1]) / d, (s[0][0] * t[1] - s[1][0] * t[0]) / d


def main():
    runs = [json.loads(line) for line in open(sys.argv[1])]
    print("| gradient | prompt | answers | processor s | of it to the first answer | wall s | pass memory MB | RSS peak MB (before) | disk MB | pieces: processor ms, 99th centile |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for r in runs:
        m = r["memory"]
        print(f"| {r['way']} | {r['prompt']} | {r['answers']} | {r['cpu_seconds']:.1f} | {r['cpu_seconds_to_first_answer']:.1f} | {r['seconds']:.0f} | {m['Peak'] / 1e6:.1f} | {r['peak_rss_bytes'] / 1e6:.0f} ({r['rss_bytes_before'] / 1e6:.0f}) | {m['Disk'] / 1e6:.0f} | {1000 * r['piece_cpu_seconds_p99']:.0f} |")
    for way in dict.fromkeys(r["way"] for r in runs):
        mine = [r for r in runs if r["way"] == way and r["answers"] == 2]
        if len({r["prompt"] for r in mine}) < 3:
            continue
        a, b = solve([[r["prompt"], r["prompt"] ** 2] for r in mine], [r["cpu_seconds"] for r in mine])
        print(f"\n{way}: processor seconds = {1000 * a:.3f} n/1000 + {1e6 * b:.4f} (n/1000)^2, fitted to n = {', '.join(str(r['prompt']) for r in mine)}")
        for n in [16384, 32768, 65536, 131072, 1048576]:
            print(f"  n = {n}: {a * n + b * n * n:.0f} s by the formula")


if __name__ == "__main__":
    main()
