"""Train one adapter: python train.py L0 --model-dir DIR [--out DIR] [--init DIR]."""
import argparse
import importlib
import json
import math
import pathlib
import random
import sys
import time

import torch

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "data")]

from base import load_base, load_lora, new_lora, recipe, save_lora  # noqa: E402
from contract import ROOT, Contract  # noqa: E402
from packing import loss_sum, pack, packs  # noqa: E402

GENERATORS = {"L0": "talk", "L1": "acting", "L2": "coding", "L3": "cards"}


def learning_rate(step, total, top, warmup, floor):
    if step < warmup:
        return top * (step + 1) / warmup
    x = (step - warmup) / max(1, total - warmup)
    return top * (floor + (1 - floor) * 0.5 * (1 + math.cos(math.pi * x)))


def mean_loss(model, samples, rng, cfg):
    total = weight = 0.0
    with torch.no_grad():
        for rows in packs(list(samples), rng, cfg["pack_tokens"], cfg["branches"]):
            batch = pack(rows)
            total += loss_sum(model, batch).item()
            weight += batch[5].sum().item()
    return total / max(weight, 1)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("adapter", choices=sorted(GENERATORS))
    ap.add_argument("--model-dir", required=True)
    ap.add_argument("--out")
    ap.add_argument("--init", help="continue from this PEFT directory")
    ap.add_argument("--lr", type=float)
    ap.add_argument("--epochs", type=int)
    ap.add_argument("--seed-offset", type=int, default=0)
    ap.add_argument("--threads", type=int)
    ap.add_argument("--minutes", type=float, default=1e9, help="end the schedule by this wall time")
    args = ap.parse_args()

    r = recipe()
    cfg, own = r["train"], r["adapters"][args.adapter]
    lr, epochs = args.lr or own["lr"], args.epochs or own["epochs"]
    seed = cfg["seed"] + args.seed_offset
    torch.set_num_threads(args.threads or cfg["threads"])
    torch.manual_seed(seed)
    rng = random.Random(seed)

    model, tok = load_base(args.model_dir)
    model = load_lora(model, args.init, trainable=True) if args.init else new_lora(model)
    model.train()
    data = importlib.import_module(GENERATORS[args.adapter])
    train, dev = data.samples(Contract(), tok, rng, 2 if args.init else 1)
    train = [s for s in train if len(s.ids) <= cfg["max_sample_tokens"]]
    plan = []
    for _ in range(epochs):
        plan += packs(list(train), rng, cfg["pack_tokens"], cfg["branches"])
    print(json.dumps({"adapter": args.adapter, "train": len(train), "dev": len(dev), "steps": len(plan),
                      "tokens_per_epoch": sum(len(s.ids) for s in train)}), flush=True)

    params = [p for p in model.parameters() if p.requires_grad]
    opt = torch.optim.AdamW(params, lr=lr, betas=tuple(cfg["betas"]), weight_decay=cfg["weight_decay"])
    start, seen, window = time.time(), 0, []
    step, total = 0, len(plan)
    for rows in plan:
        # the schedule follows the steps, or the clock when time is short
        spent = (time.time() - start) / 60
        clock = spent / args.minutes
        if clock >= 1:
            break
        place = max(step, int(clock * total))
        for g in opt.param_groups:
            g["lr"] = learning_rate(place, total, lr, cfg["warmup_steps"], cfg["final_lr_ratio"])
        batch = pack(rows)
        loss = loss_sum(model, batch) / batch[5].sum()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(params, cfg["grad_clip"])
        opt.step()
        opt.zero_grad(set_to_none=True)
        seen += batch[0].numel()
        window.append(loss.item())
        step += 1
        if step % 10 == 0 or step == total:
            print(f"step {step}/{total} loss {sum(window)/len(window):.4f} tokens {seen} "
                  f"tok/s {seen/(time.time()-start):.0f} lr {opt.param_groups[0]['lr']:.1e}", flush=True)
            window = []
    model.eval()
    out = args.out or str(ROOT / "adapters" / args.adapter)
    digest = save_lora(model, out)
    report = {"adapter": args.adapter, "samples": len(train), "steps": step, "tokens": seen,
              "seconds": round(time.time() - start), "lr": lr, "epochs": epochs,
              "dev_loss": round(mean_loss(model, dev, rng, cfg), 4), "sha256": digest,
              "continued": bool(args.init)}
    print(json.dumps(report), flush=True)
    with open(HERE / "runs.jsonl", "a") as f:
        f.write(json.dumps(report) + "\n")


if __name__ == "__main__":
    main()
