"""Accuracy with Wilson intervals, Brier score, expected calibration error, confusion matrix."""
import math


def wilson(hits, n, z=1.959964):
    if n == 0:
        return 0.0, 1.0
    p = hits / n
    centre = p + z * z / (2 * n)
    spread = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return (centre - spread) / (1 + z * z / n), (centre + spread) / (1 + z * z / n)


def brier(rows):
    """Mean over rows of the sum over labels of (p - truth) squared: 0 is perfect, 2 the worst."""
    return sum(sum((p - (label == row["label"])) ** 2 for label, p in row["probabilities"].items()) for row in rows) / len(rows)


def ece(rows, bins=10):
    """Mean distance of confidence and accuracy in equal-width bins, weighted by size."""
    cells = [[0, 0, 0.0] for _ in range(bins)]
    for row in rows:
        top = max(row["probabilities"].values())
        cell = cells[min(bins - 1, int(top * bins))]
        cell[0] += 1
        cell[1] += row["hit"]
        cell[2] += top
    return sum(abs(hits - conf) for n, hits, conf in cells if n) / len(rows)


def group(rows, key):
    out = {}
    for row in rows:
        n, hits = out.get(row[key], (0, 0))
        out[row[key]] = (n + 1, hits + row["hit"])
    return {k: {"n": n, "hits": h, "accuracy": round(h / n, 4), "interval": [round(x, 4) for x in wilson(h, n)]}
            for k, (n, h) in sorted(out.items())}


def report(rows, labels):
    hits = sum(r["hit"] for r in rows)
    confusion = {a: {b: 0 for b in labels} for a in labels}
    for r in rows:
        confusion[r["label"]][r["predicted"]] += 1
    return {"n": len(rows), "hits": hits, "accuracy": round(hits / len(rows), 4),
            "interval": [round(x, 4) for x in wilson(hits, len(rows))],
            "brier": round(brier(rows), 4), "ece": round(ece(rows), 4),
            "class": group(rows, "label"), "language": group(rows, "lang"), "kind": group(rows, "kind"),
            "confusion": confusion}


def markdown(rep, title):
    pct = lambda x: f"{100 * x:.1f}"
    line = lambda name, g: f"| {name} | {g['n']} | {g['hits']} | {pct(g['accuracy'])} | {pct(g['interval'][0])} - {pct(g['interval'][1])} |"
    out = [f"## {title}", "", "| | n | right | accuracy % | Wilson 95 % |", "|---|---|---|---|---|", line("**all**", rep)]
    for part in ("class", "language", "kind"):
        out += [line(f"{part} {k}", g) for k, g in rep[part].items()]
    out += ["", f"Brier score {rep['brier']:.3f} (0 best, 2 worst); expected calibration error {rep['ece']:.3f} (10 equal bins).", "",
            "Confusion (rows: truth, columns: answer):", ""]
    labels = list(rep["confusion"])
    out += ["| | " + " | ".join(labels) + " |", "|---" * (len(labels) + 1) + "|"]
    out += [f"| {a} | " + " | ".join(str(rep["confusion"][a][b]) for b in labels) + " |" for a in labels]
    return "\n".join(out) + "\n"
