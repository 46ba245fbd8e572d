"""The cookbook's math_rl env=arithmetic in PyTorch and PEFT, without a service: what the reward of a run is compared with.

    reference.py MODEL.gguf RUN [name=value ...]

Questions, prompts, rewards and steps are those of `make cookbook-arithmetic`: the cookbook's own environments and renderer,
the batch of a number, advantages centred in their group, importance_sampling as a sum, AdamW as the recipe sets it, LoRA on every linear
layer and the head with alpha 32 and the first values that docs/formats/checkpoint.md gives a seed. Weights are the
GGUF's, dequantised; everything is float32. Answers are drawn at temperature 1 by a generator of seed and step, so
that a run that was cut short goes on as if it had not been. RUN is a directory: metrics.jsonl with the cookbook's names, and
state.pt, which is written after each step. After leg steps a new leg begins, as with LEGS: batches from the first
and a fresh optimizer.

    steps=100 seed=0 lr=3e-4 group=8 groups=16 rank=16 tokens=5 leg=100
    init=DIR    the weights that another run has come to, in place of first values
    check=0     1: compares the gradient of one batch with that of every answer behind a copy of its prompt, and ends
"""

import asyncio
import json
import os
import pathlib
import sys
import time
import warnings

os.environ["TQDM_DISABLE"] = "1"
warnings.simplefilter("ignore")

import numpy as np
import torch
from peft import LoraConfig, get_peft_model
from tinker_cookbook.recipes.math_rl.arithmetic_env import ArithmeticDatasetBuilder
from transformers import AutoModelForCausalLM

import recipe  # registers macaron/lines

NAME = "HuggingFaceTB/SmolLM2-135M-Instruct"  # a directory with the tokenizer, where this runs
TARGETS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj", "lm_head"]
ALPHA = 32
DEFAULTS = {"steps": 100, "seed": 0, "lr": 3e-4, "group": 8, "groups": 16, "rank": 16, "tokens": 5, "leg": 100, "init": "", "check": 0}


def mix(x):
    """One output of SplitMix64 for each state."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ x >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ x >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return x ^ x >> np.uint64(31)


def uniform(seed, start, n):
    """n numbers between -1 and 1 at the positions from start on."""
    i = np.arange(start, start + n, dtype=np.uint64)
    word = mix(mix(np.full(1, seed, np.uint64)) + (i << np.uint64(32) | i >> np.uint64(32)))
    return 2 * ((word >> np.uint64(11)).astype(np.float64) / 2.0**53) - 1


def initialise(model, seed):
    modules = {name: m for name, m in model.named_modules() if hasattr(m, "lora_A")}
    at = lambda name: (int(name.split("layers.")[1].split(".")[0]) if "layers." in name else 10**9, TARGETS.index(name.rsplit(".", 1)[1]))
    position = 0
    for name in sorted(modules, key=at):
        a, b = modules[name].lora_A["default"].weight, modules[name].lora_B["default"].weight
        values = uniform(seed, position, a.numel()) / a.shape[1] ** 0.5
        a.data.copy_(torch.from_numpy(values.astype(np.float32)).view_as(a))
        b.data.zero_()
        position += a.numel() + b.numel()


def load(path, o):
    base = AutoModelForCausalLM.from_pretrained(os.path.dirname(path), gguf_file=os.path.basename(path), dtype=torch.float32, attn_implementation="sdpa")
    model = get_peft_model(base, LoraConfig(r=o.rank, lora_alpha=ALPHA, lora_dropout=0.0, target_modules=TARGETS, task_type="CAUSAL_LM"))
    initialise(model, o.seed)
    return model


@torch.no_grad()
def sample(model, prompts, n, most, stops, generator):
    """n answers to each prompt at temperature 1, tokens with their log probabilities, by prompt. All are decoded at once,
    prompts filled up on the left; keys and values of a prompt are computed once. stops end the answers to a prompt."""
    width = max(map(len, prompts))
    ids, mask = torch.zeros(len(prompts), width, dtype=torch.long), torch.zeros(len(prompts), width, dtype=torch.long)
    for row, prompt in enumerate(prompts):
        ids[row, width - len(prompt) :], mask[row, width - len(prompt) :] = torch.tensor(prompt), 1
    out = model(input_ids=ids, attention_mask=mask, position_ids=(mask.cumsum(-1) - 1).clamp(min=0), use_cache=True, logits_to_keep=1)
    cache, logits, mask = out.cache, out.logits[:, -1].repeat_interleave(n, 0), mask.repeat_interleave(n, 0)
    cache.batch_repeat_interleave(n)
    answers, going = [([], []) for _ in range(len(prompts) * n)], set(range(len(prompts) * n))
    while True:
        logprobs = torch.log_softmax(logits, -1)
        drawn = torch.multinomial(logprobs.exp(), 1, generator=generator)
        for row, token in enumerate(drawn[:, 0].tolist()):
            if row not in going:
                continue
            answers[row][0].append(token)
            answers[row][1].append(float(logprobs[row, token]))
            if token in stops[row // n] or len(answers[row][0]) == most:
                going.remove(row)
        if not going:
            return [answers[row : row + n] for row in range(0, len(answers), n)]
        mask = torch.cat([mask, torch.ones(len(mask), 1, dtype=torch.long)], -1)
        out = model(input_ids=drawn, attention_mask=mask, position_ids=mask.sum(-1, keepdim=True) - 1, cache=cache, use_cache=True)
        logits = out.logits[:, -1]


def pack(prompt, answers):
    """One sequence of a prompt and its answers side by side: tokens, positions, which token sees which, and for every
    token of an answer the place that predicts it."""
    tokens, positions, places, spans = list(prompt), list(range(len(prompt))), [], []
    for answer in answers:
        start = len(tokens)
        tokens += answer[:-1]
        positions += range(len(prompt), len(prompt) + len(answer) - 1)
        places += [len(prompt) - 1, *range(start, len(tokens))]
        spans.append((start, len(tokens)))
    n = len(tokens)
    sees = torch.zeros(n, n, dtype=torch.bool)
    sees[:, : len(prompt)] = True
    for start, end in spans:
        sees[start:end, start:end] = True
    return tokens, positions, sees.tril(), places


def logprobs_of(model, packs, targets):
    """Log probabilities of all targets, [targets], from one pass over several packs."""
    width = max(len(p[0]) for p in packs)
    ids, positions = torch.zeros(len(packs), width, dtype=torch.long), torch.zeros(len(packs), width, dtype=torch.long)
    mask = torch.eye(width, dtype=torch.bool).repeat(len(packs), 1, 1)  # padding sees itself, so that no row is empty
    for row, (tokens, at, sees, _) in enumerate(packs):
        n = len(tokens)
        ids[row, :n], positions[row, :n], mask[row, :n, :n] = torch.tensor(tokens), torch.tensor(at), sees
    inner = model.base_model.model
    hidden = inner.model(input_ids=ids, position_ids=positions, attention_mask=mask[:, None], use_cache=False)[0]
    rows = torch.tensor([row for row, p in enumerate(packs) for _ in p[3]])
    logits = inner.lm_head(hidden[rows, torch.tensor([at for p in packs for at in p[3]])])
    return torch.log_softmax(logits, -1).gather(1, torch.tensor(targets)[:, None])[:, 0]


def backward(model, parts):
    """Gradients of importance_sampling over parts, each some (prompt, answers, advantages); gives the differences of
    the log probabilities of sampling and training."""
    away = []
    for part in parts:
        packs = [pack(prompt, [tokens for tokens, _ in answers]) for prompt, answers, _ in part]
        flat = [(tokens, old, a) for _, answers, advantages in part for (tokens, old), a in zip(answers, advantages)]
        p = logprobs_of(model, packs, [t for tokens, _, _ in flat for t in tokens])
        q = torch.tensor([x for _, old, _ in flat for x in old])
        advantages = torch.tensor([a for tokens, _, a in flat for _ in tokens])
        (-((p - q).exp() * advantages).sum()).backward()
        away += (q - p.detach()).tolist()
    return away


def gradient(model):
    return torch.cat([p.grad.flatten() for p in model.parameters() if p.requires_grad])


class Run:
    def __init__(self, path, directory, o):
        self.o, self.dir, self.model, self.step = o, pathlib.Path(directory), load(path, o), 0
        self.parameters = [p for p in self.model.parameters() if p.requires_grad]
        self.fresh()
        builder = ArithmeticDatasetBuilder(batch_size=o.groups, model_name_for_tokenizer=NAME, renderer_name="macaron/lines", n_batches=o.leg, group_size=o.group)
        self.data, _ = asyncio.run(builder())
        ends = json.loads(pathlib.Path(NAME, "generation_config.json").read_text())["eos_token_id"]
        self.ends = set(ends if isinstance(ends, list) else [ends])
        self.dir.mkdir(parents=True, exist_ok=True)
        self.resume()

    def fresh(self):
        self.optimizer = torch.optim.AdamW(self.parameters, lr=self.o.lr, betas=(0.9, 0.95), eps=1e-8, weight_decay=0)

    def resume(self):
        file = self.dir / "state.pt"
        if not file.exists():
            if self.o.init:
                self.take(torch.load(pathlib.Path(self.o.init, "state.pt"))["parameters"])
            return
        state = torch.load(file)
        same = {k: v for k, v in vars(self.o).items() if k not in ("steps", "check")}
        if state["options"] != same:
            sys.exit(f"{file} is of a run with {state['options']}, not {same}: give another RUN")
        self.step = state["step"]
        self.take(state["parameters"])
        self.optimizer.load_state_dict(state["optimizer"])

    def take(self, values):
        for p, value in zip(self.parameters, values, strict=True):
            p.data.copy_(value)

    def save(self):
        same = {k: v for k, v in vars(self.o).items() if k not in ("steps", "check")}
        state = {"options": same, "step": self.step, "parameters": [p.data for p in self.parameters], "optimizer": self.optimizer.state_dict()}
        torch.save(state, self.dir / "state.new")
        os.replace(self.dir / "state.new", self.dir / "state.pt")

    async def rollout(self, generator):
        """The batch of this step: (prompt, answers, results of the environment) by group."""
        groups = [await builder.make_envs() for builder in self.data.get_batch(self.step % self.o.leg)]
        begin = [await envs[0].initial_observation() for envs in groups]
        prompts = [observation.to_ints() for observation, _ in begin]
        sampled = sample(self.model, prompts, self.o.group, self.o.tokens, [self.ends | set(stop) for _, stop in begin], generator)
        return [(prompt, answers, [await env.step(tokens) for env, (tokens, _) in zip(envs, answers)]) for prompt, answers, envs in zip(prompts, sampled, groups)]

    def one(self):
        start, cpu = time.perf_counter(), time.process_time()
        groups = asyncio.run(self.rollout(torch.Generator().manual_seed(self.o.seed * 1_000_003 + self.step)))
        sampled = time.perf_counter()
        rewards = [torch.tensor([r.reward for r in results]) for _, _, results in groups]
        batch = [(prompt, answers, (r - r.mean()).tolist()) for (prompt, answers, _), r in zip(groups, rewards)]
        # A group whose answers have one reward has no gradient: no advantage.
        batch = [group for group in batch if any(group[2])]
        away = backward(self.model, [batch[i : i + 4] for i in range(0, len(batch), 4)])
        row = {"step": self.step, "env/all/reward/total": float(torch.cat(rewards).mean())}
        for key in ("correct", "format"):
            row[f"env/all/{key}"] = float(np.mean([r.metrics[key] for _, _, results in groups for r in results]))
        row["env/all/by_group/frac_mixed"] = len(batch) / len(groups)
        logprobs = [x for _, answers, _ in groups for _, old in answers for x in old]
        row |= {"env/all/ac_tokens_per_turn": len(logprobs) / sum(len(g[1]) for g in groups), "optim/entropy": -float(np.mean(logprobs)), "optim/lr": self.o.lr}
        if away:
            row |= {"grad_norm:mean": float(gradient(self.model).norm()), "reference/kl_sample_train_v1": float(np.mean(away)), "reference/logprobs_differ": max(map(abs, away))}
            self.optimizer.step()
            self.optimizer.zero_grad()
        self.step += 1
        row |= {"time/sampling": sampled - start, "time/total": time.perf_counter() - start, "time/cpu": time.process_time() - cpu}
        return row

    def go(self):
        log = self.dir / "metrics.jsonl"
        kept = [line for line in (log.read_text().splitlines() if log.exists() else []) if json.loads(line)["step"] < self.step]
        log.write_text("".join(line + "\n" for line in kept))
        while self.step < self.o.steps:
            if self.step and self.step % self.o.leg == 0:
                self.fresh()
            row = self.one()
            with log.open("a") as f:
                f.write(json.dumps(row) + "\n")
            self.save()
            print(f"step {row['step']}: reward {row['env/all/reward/total']:.3f}, {row['time/total']:.1f} s ({row['time/cpu']:.1f} s of the processor)", flush=True)

    def check(self):
        """Trains two steps first, since the gradient of A is 0 at the beginning."""
        self.one(), self.one()
        groups = asyncio.run(self.rollout(torch.Generator().manual_seed(0)))
        advantages = torch.linspace(-1, 1, self.o.group).tolist()
        batch = [(prompt, answers, advantages) for prompt, answers, _ in groups[:4]]
        found = []
        for parts in [batch], [[(prompt, [answer], [a])] for prompt, answers, _ in batch for answer, a in zip(answers, advantages)]:
            away = backward(self.model, parts)
            found.append(gradient(self.model).double())
            self.optimizer.zero_grad()
            print(f"log probabilities of sampling and training differ by at most {max(map(abs, away)):.1e}")
        packed, rows = found
        differ = float((packed - rows).norm() / rows.norm())
        print(f"gradient, answers side by side against one by one: relative L2 {differ:.1e}")
        return int(not differ < 1e-3)


def options(pairs):
    o = type("Options", (), {})()
    vars(o).update(DEFAULTS)
    for name, value in (pair.split("=", 1) for pair in pairs):
        if name not in DEFAULTS:
            sys.exit(f"there is no option {name}; there are {', '.join(DEFAULTS)}")
        setattr(o, name, type(DEFAULTS[name])(value))
    return o


def main(path, directory, *pairs):
    run = Run(path, directory, options(pairs))
    return run.check() if run.o.check else run.go()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
