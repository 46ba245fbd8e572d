"""Ten steps of SFT in PyTorch and PEFT beside the same ten of macaron train.

python compare_steps.py --model-dir DIR --adapter DIR --rows ROWS.jsonl [--metrics metrics.jsonl] [--lr 2e-4]

Both begin from one adapter, with all rows in every step, so that no order and no first value differs.
"""
import argparse
import json
import pathlib
import sys

import torch

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "data")]

from base import load_base, load_lora  # noqa: E402
from packing import encode, loss_sum, pack  # noqa: E402


def main():
    ap = argparse.ArgumentParser()
    for name in ("--model-dir", "--adapter", "--rows"):
        ap.add_argument(name, required=True)
    ap.add_argument("--metrics")
    ap.add_argument("--lr", type=float, default=2e-4)
    ap.add_argument("--steps", type=int, default=10)
    args = ap.parse_args()
    torch.set_num_threads(2)
    model, tok = load_base(args.model_dir)
    model = load_lora(model, args.adapter, trainable=True).train()
    rows = []
    for line in open(args.rows, encoding="utf-8"):
        r = json.loads(line)
        rows.append(encode(tok, r["messages"], r["train"]))
    batches = [pack([s]) for s in rows]
    total = sum(b[5].sum() for b in batches)
    params = [p for p in model.parameters() if p.requires_grad]
    opt = torch.optim.AdamW(params, lr=args.lr, betas=(0.9, 0.95), eps=1e-8, weight_decay=0)
    ours = [json.loads(line) for line in open(args.metrics)] if args.metrics else []
    for step in range(args.steps):
        loss = 0.0
        for b in batches:
            part = loss_sum(model, b) / total
            part.backward()
            loss += part.item()
        norm = torch.nn.utils.clip_grad_norm_(params, 1.0).item()
        opt.step()
        opt.zero_grad(set_to_none=True)
        row = {"step": step + 1, "loss": loss, "grad_norm": norm}
        if step < len(ours):
            row["macaron_loss"], row["macaron_grad_norm"] = ours[step]["loss"], ours[step]["grad_norm"]
        print(json.dumps({k: round(v, 5) for k, v in row.items()}), flush=True)


if __name__ == "__main__":
    main()
