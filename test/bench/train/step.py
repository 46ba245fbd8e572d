"""PyTorch's side of a contest (main.go): python step.py CASE MODEL.gguf THREADS

A line on standard input, a step, a line of JSON on standard output. Weights are those of
the GGUF file, dequantised to float32; LoRA by PEFT, rank 16 on all linear layers; AdamW.

    plain        4 sequences of 256 tokens at once
    grpo         16 sequences of a shared prompt and an answer at once, each with its own
                 copy of the prompt; logits of the answers only
    grpo-micro   the same by 4, gradients accumulated
    grpo-one     the same one by one
"""

import json
import os
import sys
import time
import warnings

os.environ["TQDM_DISABLE"] = "1"
warnings.simplefilter("ignore")

import torch
import torch.nn.functional as F
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM

case, path, threads = sys.argv[1], sys.argv[2], int(sys.argv[3])
torch.set_num_threads(threads)
torch.manual_seed(1)
answers = os.dup(1)
os.dup2(2, 1)  # what libraries print is no answer


def token(j, i):
    return (j * 7919 + i * 104729 + i * i * 31) % 40000


def sequence(prompt, answer, j):
    return [token(0 if i < prompt else j, i) for i in range(prompt + answer + 1)]


def batch():
    if case == "plain":
        return torch.tensor([sequence(0, 256, j + 1) for j in range(4)]), torch.ones(4), 256
    return torch.tensor([sequence(200, 50, j + 1) for j in range(16)]), torch.tensor([j % 4 - 1.5 for j in range(16)]), 51


base = AutoModelForCausalLM.from_pretrained(os.path.dirname(path), gguf_file=os.path.basename(path), dtype=torch.float32)
targets = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
model = get_peft_model(base, LoraConfig(r=16, lora_alpha=32, target_modules=targets, task_type="CAUSAL_LM"))
model.train()
optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-4, betas=(0.9, 0.95), eps=1e-12, weight_decay=0)
ids, weights, keep = batch()
rows = {"grpo-micro": 4, "grpo-one": 1}.get(case, len(ids))


def step():
    total = 0.0
    for lo in range(0, len(ids), rows):
        part = ids[lo:lo + rows]
        logits = model(input_ids=part[:, :-1], logits_to_keep=keep, use_cache=False).logits
        losses = F.cross_entropy(logits.flatten(0, 1), part[:, -keep:].flatten(), reduction="none").view(len(part), keep)
        loss = (losses.sum(1) * weights[lo:lo + rows]).sum()
        loss.backward()
        total += loss.item()
    optimizer.step()
    optimizer.zero_grad()
    return total


def peak():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))


for _ in sys.stdin:
    start, cpu = time.perf_counter(), time.process_time()
    loss = step()
    answer = dict(seconds=time.perf_counter() - start, cpu=time.process_time() - cpu, loss=loss, peak_kb=peak())
    os.write(answers, (json.dumps(answer) + "\n").encode())
