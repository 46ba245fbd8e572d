"""Writes back.json: what PyTorch's autograd and optimizers give for random inputs.

    python3 make_back.py        (PyTorch 2.x, CPU)

Arrays are base64 of little-endian float32.
"""

import base64
import json
import pathlib

import torch
import torch.nn.functional as F

torch.manual_seed(0)
torch.set_num_threads(1)


def pack(t):
    return base64.b64encode(t.detach().contiguous().float().numpy().tobytes()).decode()


def case(kind, inputs, result, grad, **more):
    """One function: its inputs, the gradient of its result, and those of its inputs."""
    given = [t for t in inputs if t.requires_grad]
    grads = torch.autograd.grad(result, given, grad)
    return dict(kind=kind, inputs=[pack(t) for t in inputs], dy=pack(grad), grads=[pack(g) for g in grads], **more)


def rand(*shape, scale=1.0):
    return (torch.randn(*shape) * scale).requires_grad_()


def norm():
    x, w = rand(72), torch.randn(72)
    y = F.rms_norm(x, (72,), w, 1e-5)
    return case("rms_norm", [x, w], y, torch.randn(72))


def gate(kind, act):
    g, u = rand(72, scale=2), rand(72)
    return case(kind, [g, u], act(g) * u, torch.randn(72))


def logprob():
    x, targets, g = rand(1, 300, scale=3), torch.tensor([17]), torch.tensor([0.75])
    y = -F.cross_entropy(x, targets, reduction="none")
    return case("log_prob", [x], y, g, target=17)


def attention(n, pos0, heads, kv_heads, dim):
    total = pos0 + n
    q = rand(n, heads, dim)
    # keys and values of half precision, as pages hold them
    k, v = (torch.randn(total, kv_heads, dim).half().float().requires_grad_() for _ in range(2))
    mask = torch.arange(total)[None, :] <= torch.arange(pos0, total)[:, None]
    y = F.scaled_dot_product_attention(
        q.transpose(0, 1)[None], k.transpose(0, 1)[None], v.transpose(0, 1)[None], attn_mask=mask, enable_gqa=True, scale=0.25
    )[0].transpose(0, 1)
    return case("attention", [q, k, v], y, torch.randn(n, heads, dim), n=n, pos0=pos0, heads=heads, kv_heads=kv_heads, dim=dim)


def adamw(decay):
    w = torch.nn.Parameter(torch.randn(50))
    opt = torch.optim.AdamW([w], lr=1e-2, betas=(0.9, 0.95), eps=1e-12, weight_decay=decay, foreach=False)
    start, grads, steps = pack(w), [], []
    for _ in range(5):
        w.grad = torch.randn(50)
        grads.append(pack(w.grad))
        opt.step()
        steps.append(pack(w))
    return dict(kind="adamw", decay=decay, inputs=[start] + grads, grads=steps)


cases = [
    norm(), gate("swiglu", F.silu), gate("geglu", lambda g: F.gelu(g, approximate="tanh")), logprob(),
    attention(3, 63, 4, 2, 16), attention(66, 0, 1, 1, 16), adamw(0.0), adamw(0.1),
]
path = pathlib.Path(__file__).with_name("back.json")
path.write_text("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]\n")
