"""Packed and plain computation agree in loss, gradient and label scores: python test_packing.py --model-dir DIR"""
import argparse
import pathlib
import random
import sys

import torch

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "data")]

import route  # noqa: E402
from base import load_base, new_lora  # noqa: E402
from contract import Contract  # noqa: E402
from packing import common_prefix, encode, loss_sum, pack  # noqa: E402
from scoring import sequence_logprobs  # noqa: E402


def plain_loss(model, sample):
    """One sample alone through the model's ordinary forward pass."""
    ids = torch.tensor([sample.ids])
    logits = model(input_ids=ids, use_cache=False).logits[0]
    total = 0.0
    for j, w in enumerate(sample.weight):
        if w:
            total = total + w * torch.nn.functional.cross_entropy(logits[j - 1:j], ids[0, j:j + 1])
    return total


def gradient(model):
    grads = [p.grad.flatten() for p in model.parameters() if p.grad is not None]
    flat = torch.cat(grads)
    model.zero_grad(set_to_none=True)
    return flat


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--model-dir", required=True)
    model, tok = load_base(ap.parse_args().model_dir)
    torch.manual_seed(0)
    model = new_lora(model)
    for name, p in model.named_parameters():     # B starts at zero; make every gradient non-trivial
        if "lora_B" in name:
            torch.nn.init.normal_(p, std=0.02)
    contract, rng = Contract(), random.Random(0)
    rows = [r for r in route.rows(contract, rng) if not r.entries][:200]
    samples = [encode(tok, route.messages(contract, r), [2]) for r in rng.sample(rows, 4)]
    assert common_prefix(samples) > 60
    packed = loss_sum(model, pack(samples))
    packed.backward()
    g1 = gradient(model)
    alone = sum(plain_loss(model, s) for s in samples)
    alone.backward()
    g2 = gradient(model)
    diff = abs(packed.item() - alone.item()) / abs(alone.item())
    gdiff = ((g1 - g2).norm() / g2.norm()).item()
    print(f"loss packed {packed.item():.6f} alone {alone.item():.6f} relative {diff:.1e}; gradient relative {gdiff:.1e}")
    assert diff < 1e-5 and gdiff < 1e-4
    check_scores(model, samples)


def check_scores(model, samples):
    """The trie of scoring.py against one plain pass per sequence."""
    starts = [next(i for i, w in enumerate(s.weight) if w) for s in samples]
    shared = sequence_logprobs(model, [s.ids for s in samples], starts)
    worst = 0.0
    for s, start, got in zip(samples, starts, shared):
        with torch.no_grad():
            logp = torch.log_softmax(model(input_ids=torch.tensor([s.ids]), use_cache=False).logits[0].double(), -1)
        plain = sum(logp[j - 1, s.ids[j]].item() for j in range(start, len(s.ids)))
        worst = max(worst, abs(plain - got))
    print(f"label scores: largest difference {worst:.1e}")
    assert worst < 1e-3


if __name__ == "__main__":
    main()
