"""Routing accuracy of an L0 adapter on the f32 PyTorch path.

python evaluate.py --model-dir DIR --adapter DIR (--split FILE.jsonl | --dev) [--json OUT] [--markdown OUT] [--errors]

A split's lines are {"id", "text", "previous"?: {"label", "text"}, "label", "lang", "kind"}.
--dev is the development split: seed lines held out of training. The test split is written by other
hands, is never trained or tuned on, and --errors, which prints single lines, works for --dev only.
"""
import argparse
import json
import pathlib
import random
import sys

import torch

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "data")]

import metrics  # noqa: E402
from base import load_base, load_lora, recipe, sha256  # noqa: E402
from contract import Contract  # noqa: E402
from scoring import label_probabilities  # noqa: E402


def read_split(path):
    rows = []
    for line in open(path, encoding="utf-8"):
        if line.strip():
            r = json.loads(line)
            before = r.get("previous")
            r["before"] = (before["label"], before["text"]) if before else None
            rows.append(r)
    return rows


def read_dev(contract):
    """Default label set only; other label sets are in development_other."""
    import route
    rng = random.Random(recipe()["train"]["seed"])
    rows = [r for r in route.rows(contract, rng) if r.dev]
    return [{"text": r.text, "before": r.previous, "label": r.label, "lang": r.lang, "kind": r.kind,
             "entries": r.entries, "order": r.order} for r in rows]


def evaluate(model, tok, contract, rows):
    """Rows of one label set at a time."""
    sets = {}
    for r in rows:
        sets.setdefault(str(r.get("entries")) + str(r.get("order")), []).append(r)
    for group in sets.values():
        entries, order = group[0].get("entries"), group[0].get("order")
        labels = [e[0] for e in entries] if entries else contract.labels()
        found = label_probabilities(model, tok, contract, [(r["text"], r["before"]) for r in group], labels, entries, order)
        for r, p in zip(group, found):
            r["probabilities"] = p
            r["predicted"] = max(p, key=p.get)
            r["hit"] = r["predicted"] == r["label"]
    return rows


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--model-dir", required=True)
    ap.add_argument("--adapter", help="PEFT directory; without it the bare base is scored")
    ap.add_argument("--split")
    ap.add_argument("--dev", action="store_true")
    ap.add_argument("--errors", action="store_true")
    ap.add_argument("--json")
    ap.add_argument("--markdown")
    ap.add_argument("--title", default="Routing")
    ap.add_argument("--threads", type=int, default=2)
    args = ap.parse_args()
    torch.set_num_threads(args.threads)
    model, tok = load_base(args.model_dir)
    if args.adapter:
        model = load_lora(model, args.adapter)
    model.eval()
    contract = Contract()
    rows = read_dev(contract) if args.dev else read_split(args.split)
    own = [r for r in evaluate(model, tok, contract, rows) if not r.get("entries")]
    rep = metrics.report(own, contract.labels())
    others = [r for r in rows if r.get("entries")]
    if others:
        hits = sum(r["hit"] for r in others)
        rep["other_sets"] = {"n": len(others), "hits": hits, "interval": [round(x, 4) for x in metrics.wilson(hits, len(others))]}
    if args.adapter:
        rep["adapter_sha256"] = sha256(f"{args.adapter}/adapter_model.safetensors")
    if args.split:
        rep["split_sha256"] = sha256(args.split)
    if args.errors and args.dev:
        for r in rows:
            if not r["hit"]:
                print(r["lang"], r["kind"], r["label"], "->", r["predicted"], round(r["probabilities"][r["predicted"]], 2),
                      r["before"], repr(r["text"]))
    text = metrics.markdown(rep, args.title)
    print(text)
    print(json.dumps({k: v for k, v in rep.items() if k in ("other_sets", "adapter_sha256", "split_sha256")}))
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps(rep, indent=1, ensure_ascii=False) + "\n")
    if args.markdown:
        pathlib.Path(args.markdown).write_text(text)


if __name__ == "__main__":
    main()
