"""Losses that the client computes in PyTorch against the service's own, by the unmodified SDK.

    custom.py

Each pair of losses is the same function, once computed by the service and once by forward_backward_custom. Two
models of one seed take a step by each; then the losses and the norms of the gradients must agree to 1e-6, relative to
the larger one. Of cross_entropy, whose derivative both know exactly, the log probabilities after the step must too; of
the others the last bit of an exponential may differ, which a step and the rounding behind it can make large, and they
are told only. Exits with 1 if something does not agree.
"""

import sys

import tinker
import torch
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


def step(client, send):
    model = client.create_lora_training_client(base_model=BASE, rank=8, seed=5)
    warm = [types.Datum(model_input=d.model_input, loss_fn_inputs=d.loss_fn_inputs) for d in data()]
    model.forward_backward(warm, "cross_entropy")  # B is 0 at first, and the gradient of A with it
    model.optim_step(ADAM)
    loss = send(model).result().metrics["loss:sum"]
    norm = model.optim_step(PLAIN).result().metrics["grad_norm:mean"]
    return loss, norm, torch.cat(logprobs(model, data()))


def main():
    client = tinker.ServiceClient()
    start = client.create_lora_training_client(base_model=BASE, rank=8, seed=5)
    rows = data(logprobs(start, data()))
    bare = [types.Datum(model_input=d.model_input, loss_fn_inputs={"target_tokens": d.loss_fn_inputs["target_tokens"], "weights": [1.0] * d.model_input.length}) for d in rows]
    failed = False
    for name, sent, fn in ("cross_entropy", data(), cross_entropy(data())), ("importance_sampling", rows, importance_sampling(rows)), ("ppo", rows, ppo(rows)):
        own = step(client, lambda model: model.forward_backward(sent, name))
        custom = step(client, lambda model: model.forward_backward_custom(bare, fn))
        away = [float((torch.as_tensor(a) - torch.as_tensor(b)).abs().max() / torch.as_tensor(a).abs().max()) for a, b in zip(own, custom)]
        failed = failed or max(away if name == "cross_entropy" else away[:2]) > TOLERANCE
        print(f"| {name} | {own[0]:.6f} | {away[0]:.1e} | {away[1]:.1e} | {away[2]:.1e} |", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
