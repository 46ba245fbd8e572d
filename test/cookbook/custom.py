"""Losses that the client computes in PyTorch against the service's own, by the unmodified SDK.

    custom.py HOME

Each loss is computed three times: by the service, and by forward_backward_custom in 32 and in 64 bits, which is what
the service takes exponentials in. Models of one seed take a step by each. In 64 bits everything must be equal, bit for
bit: every gradient, and the log probabilities after the step. In 32 bits the loss and the gradient of every tensor must
agree to 1e-6 (relative L2); the log probabilities after the step are told only, beside those of a control: the service's
own loss with advantages or weights that are larger by 2^-22. HOME is the server's; gradients are read there, from a state
that is saved between the pass and its step. Exits with 1 if something does not agree.
"""

import glob
import sqlite3
import sys

import tinker
import torch
from safetensors.torch import load_file
from tinker import types

BASE = "HuggingFaceTB/SmolLM2-135M-Instruct"
TOLERANCE = 1e-6
ADAM = types.AdamParams(learning_rate=1e-3, beta1=0.9, beta2=0.95, eps=1e-8)
# With so large an eps the step is linear in the gradients: where they are near 0, Adam's own makes a step of whole
# size of what rounding leaves.
PLAIN = types.AdamParams(learning_rate=1e2, beta1=0.0, beta2=0.95, eps=1e5)


def data(sampled=None):
    """Three sequences; with log probabilities they are answers with advantages."""
    rng, noise = torch.Generator().manual_seed(1), torch.Generator().manual_seed(2)
    out = []
    for row, n in enumerate((9, 12, 7)):
        tokens = torch.randint(20, 2000, (n + 1,), generator=rng).tolist()
        weights = torch.randn(n, generator=rng)
        inputs = {"target_tokens": tokens[1:], "weights": weights}
        if sampled is not None:
            inputs = {"target_tokens": tokens[1:], "logprobs": sampled[row] + 0.3 * torch.randn(n, generator=noise), "advantages": weights}
        out.append(types.Datum(model_input=types.ModelInput.from_ints(tokens[:-1]), loss_fn_inputs=inputs))
    return out


def tensor(datum, name):
    return torch.tensor(datum.loss_fn_inputs[name].data)


def cross_entropy(rows):
    return lambda _, logprobs: (-sum((tensor(d, "weights") * p).sum() for d, p in zip(rows, logprobs)), {})


def importance_sampling(rows):
    return lambda _, logprobs: (-sum(((p - tensor(d, "logprobs")).exp() * tensor(d, "advantages")).sum() for d, p in zip(rows, logprobs)), {})


def ppo(rows):
    def loss(_, logprobs):
        total = 0.0
        for d, p in zip(rows, logprobs):
            r, a = (p - tensor(d, "logprobs")).exp(), tensor(d, "advantages")
            total = total - torch.minimum(r * a, r.clamp(0.8, 1.2) * a).sum()
        return total, {}

    return loss


def logprobs(model, rows):
    plain = [types.Datum(model_input=d.model_input, loss_fn_inputs={"target_tokens": d.loss_fn_inputs["target_tokens"], "weights": [0.0] * d.model_input.length}) for d in rows]
    return [torch.tensor(out["logprobs"].data) for out in model.forward(plain, "cross_entropy").result().loss_fn_outputs]


def wide(fn):
    return lambda rows, logprobs: fn(rows, [p.double() for p in logprobs])


def larger(rows):
    """The same data, the factor of each loss larger by 2^-22."""
    out = []
    for d in rows:
        inputs = dict(d.loss_fn_inputs)
        name = "advantages" if "advantages" in inputs else "weights"
        inputs[name] = (tensor(d, name) * (1 + 2**-22)).tolist()
        out.append(types.Datum(model_input=d.model_input, loss_fn_inputs=inputs))
    return out


def saved(model, home):
    """The tensors of the model's state: gradients that wait for a step are in it, and no request gives them."""
    path = model.save_state("state").result().path
    with sqlite3.connect(f"file:{home}/log.db?mode=ro", uri=True) as ledger:
        digest = ledger.execute("SELECT state FROM mint_checkpoints WHERE path = ?", (path,)).fetchone()[0]
    (file,) = glob.glob(f"{home}/mint/blobs/**/{digest.removeprefix('sha256:')}", recursive=True)
    return load_file(file)


def step(client, home, send):
    model = client.create_lora_training_client(base_model=BASE, rank=8, seed=5)
    model.forward_backward(data(), "cross_entropy")  # B is 0 at first, and the gradient of A with it
    model.optim_step(ADAM)
    loss = send(model).result().metrics["loss:sum"]
    gradients = {name: t.double() for name, t in saved(model, home).items() if name.endswith(".grad")}
    model.optim_step(PLAIN).result()
    return loss, gradients, torch.cat(logprobs(model, data()))


def away(own, other):
    """Relative differences: of the loss, of all gradients, of the tensor whose differs most, of log probabilities."""
    (loss, g, p), (loss2, g2, p2) = own, other
    squares = {name: (float((g[name] - g2[name]).square().sum()), float(g[name].square().sum())) for name in g}
    whole = (sum(a for a, _ in squares.values()) / sum(b for _, b in squares.values())) ** 0.5
    worst = max((a / b) ** 0.5 for a, b in squares.values() if b)
    return abs(loss2 / loss - 1), whole, worst, float((p - p2).abs().max() / p.abs().max())


def main(home):
    client = tinker.ServiceClient()
    start = client.create_lora_training_client(base_model=BASE, rank=8, seed=5)
    rows = data(logprobs(start, data()))
    bare = [types.Datum(model_input=d.model_input, loss_fn_inputs={"target_tokens": d.loss_fn_inputs["target_tokens"], "weights": [1.0] * d.model_input.length}) for d in rows]
    failed = False
    for name, sent, fn in ("cross_entropy", data(), cross_entropy(data())), ("importance_sampling", rows, importance_sampling(rows)), ("ppo", rows, ppo(rows)):
        own = step(client, home, lambda model: model.forward_backward(sent, name))
        for how, send, most in (
            ("32 bits", lambda model: model.forward_backward_custom(bare, fn), [TOLERANCE] * 3),
            ("64 bits", lambda model: model.forward_backward_custom(bare, wide(fn)), [TOLERANCE, 0, 0, 0]),
            ("control", lambda model: model.forward_backward(larger(sent), name), []),
        ):
            found = away(own, step(client, home, send))
            wrong = any(not x <= y for x, y in zip(found, most))
            failed = failed or wrong
            print(f"| {name} | {how} | {own[0]:.6f} | " + " | ".join(f"{x:.1e}" for x in found) + " |" + " WRONG" * wrong, flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
