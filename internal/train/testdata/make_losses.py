"""Writes losses.json: every loss by PyTorch's autograd, from the documented formulas.

    python internal/train/testdata/make_losses.py

Each case has a datum's inputs, the log probabilities p that the passes would give, the
loss (a sum over its tokens), and d loss/d p.
"""
import json
import pathlib

import torch

torch.manual_seed(20261130)
HERE = pathlib.Path(__file__).resolve().parent



def correction(p, t, c):
    """Two-sided mask and truncated importance sampling; no gradient flows through them."""
    w = t.get("weights", torch.ones_like(p))
    old = t.get("old_logprobs")
    m = torch.exp((p.detach() if old is None else old) - t["logprobs"])
    keep = (m >= c.get("icepop_low", 0)) & (m <= c.get("icepop_high", float("inf")))
    capped = torch.clamp(m, max=c.get("tis_cap", float("inf")))
    return w * keep * (capped / m if old is None else capped)


def ratio(p, t):
    return torch.exp(p - t.get("old_logprobs", t["logprobs"]))


def clamp_loss(r, p, t, c, low, high):
    a = t["advantages"]
    bounds = (t.get("clip_low_threshold", torch.full_like(p, c.get("clip_low_threshold", low))),
              t.get("clip_high_threshold", torch.full_like(p, c.get("clip_high_threshold", high))))
    return -(correction(p, t, c) * torch.minimum(r * a, torch.clamp(r, *bounds) * a)).sum()


def cross_entropy(p, t, c):
    return -(t["weights"] * p).sum()


def importance_sampling(p, t, c):
    return -(correction(p, t, c) * ratio(p, t) * t["advantages"]).sum()


def ppo(p, t, c):
    return clamp_loss(ratio(p, t), p, t, c, 0.8, 1.2)


def cispo(p, t, c):
    bounds = (t.get("clip_low_threshold", torch.full_like(p, c.get("clip_low_threshold", 0.0))),
              t.get("clip_high_threshold", torch.full_like(p, c.get("clip_high_threshold", 4.0))))
    weight = torch.clamp(ratio(p, t).detach(), *bounds)
    return -(correction(p, t, c) * weight * p * t["advantages"]).sum()


def dro(p, t, c):
    d = p - t.get("old_logprobs", t["logprobs"])
    return -(correction(p, t, c) * (p * t["advantages"] - 0.5 * c.get("beta", 0.05) * d ** 2)).sum()


def gspo(p, t, c):
    marked = t["sequence_ratio_mask"] != 0
    log_ratio = (p.detach() - t.get("old_logprobs", t["logprobs"]))[marked].mean()
    r = torch.exp(log_ratio + p - p.detach())
    return clamp_loss(r, p, t, c, 0.8, 1.2)


LOSSES = {f.__name__: f for f in (cross_entropy, importance_sampling, ppo, cispo, dro, gspo)}


def case(name, loss, config=None, n=9, k=0, spread=0.35, **extra):
    """Random inputs; extra says which optional inputs there are."""
    shape = (n, k) if k else (n,)
    p = -3 * torch.rand(shape)
    t = {}
    if loss == "cross_entropy":
        t["weights"] = torch.randn(shape) * (torch.rand(shape) < 0.7)
    else:
        t["logprobs"] = p + spread * torch.randn(shape)
        t["advantages"] = torch.randn(shape) * (torch.rand(shape) < 0.8)
    if loss == "gspo":
        t["sequence_ratio_mask"] = (torch.rand(shape) < 0.7).float()
    if extra.get("old"):
        t["old_logprobs"] = p + 0.2 * torch.randn(shape)
    if extra.get("weights"):
        t["weights"] = torch.rand(shape) * (torch.rand(shape) < 0.7)
    if extra.get("bounds"):
        t["clip_low_threshold"] = 1 - 0.3 * torch.rand(shape)
        t["clip_high_threshold"] = 1 + 0.3 * torch.rand(shape)
    config = config or {}
    x = p.double().requires_grad_()
    value = LOSSES[loss](x, {k: v.double() for k, v in t.items()}, config)
    value.backward()
    return {"name": name, "loss": loss, "config": config, "shape": list(shape),
            "inputs": {k: v.flatten().tolist() for k, v in t.items()}, "logprobs": p.flatten().tolist(),
            "value": value.item(), "slopes": x.grad.flatten().tolist()}


cases = [
    case("signed weights", "cross_entropy"),
    case("several targets", "cross_entropy", n=4, k=3),
    case("plain", "importance_sampling"),
    case("masked on both sides", "importance_sampling", {"icepop_low": 0.8, "icepop_high": 1.25}),
    case("truncated", "importance_sampling", {"tis_cap": 1.1}),
    case("truncated, with the trainer's own", "importance_sampling", {"tis_cap": 1.1}, old=True),
    case("weighted", "importance_sampling", weights=True),
    case("default thresholds", "ppo", n=16),
    case("given thresholds", "ppo", {"clip_low_threshold": 0.9, "clip_high_threshold": 1.3}, n=16),
    case("thresholds by token", "ppo", bounds=True, n=16),
    case("decoupled", "ppo", {"icepop_low": 0.5, "icepop_high": 2, "tis_cap": 1.5}, old=True, weights=True, n=16),
    case("default thresholds", "cispo", spread=1.5, n=16),
    case("given thresholds", "cispo", {"clip_low_threshold": 0.8, "clip_high_threshold": 1.2}, n=16),
    case("default beta", "dro"),
    case("given beta", "dro", {"beta": 0.4}, old=True),
    case("within", "gspo", spread=0.1),
    case("clipped", "gspo", {"clip_low_threshold": 0.99, "clip_high_threshold": 1.01}, spread=0.5, n=16),
]
(HERE / "losses.json").write_text("[\n" + ",\n".join(map(json.dumps, cases)) + "\n]\n")
