"""Makes gradients that end at the keys and values of prompts, with PyTorch and PEFT:

    python make_detached.py [NAME ...]

gradients/NAME/detached.safetensors  of the checkpoints of make_gradients.py, with its adapters and sequences

The prompt of a sequence is the positions before its first slope. It is run without
autograd; its keys and values enter the response as constants.
"""
import json
import sys

import torch
from peft import PeftModel
from safetensors.torch import save_file
from transformers import AutoModelForCausalLM, DynamicCache

from make_gradients import ARCH, NAMES, OUT, named


def main():
    sequences = json.loads((OUT / "cases.json").read_text())
    for name in sys.argv[1:] or ["llama", "mistral", "qwen3", "gemma3"]:
        model = AutoModelForCausalLM.from_pretrained(ARCH / name, dtype=torch.float32, attn_implementation="eager").eval()
        model = PeftModel.from_pretrained(model, OUT / name, is_trainable=True).eval()
        for p in named(model).values():
            p.data = p.data.float()
        for s in sequences:
            n, k = len(s["tokens"]), s["k"]
            slopes = torch.tensor(s["slopes"]).view(n, k)
            prompt = int((slopes != 0).any(1).nonzero()[0])
            tokens = torch.tensor([s["tokens"]])
            cache = DynamicCache()  # without the configuration: windows are masks, nothing is dropped
            if prompt:
                with torch.no_grad():
                    model(tokens[:, :prompt], past_key_values=cache, use_cache=True)
            out = model(tokens[:, prompt:], past_key_values=cache, use_cache=True).logits[0].float()
            targets = torch.tensor(s["targets"]).view(n, k)[prompt:]
            p = torch.log_softmax(out, -1).gather(1, targets.clamp(min=0)) * (targets >= 0)
            (p * slopes[prompt:]).sum().backward()
        out = {n: p.grad.contiguous() for n, p in named(model).items()}
        save_file(out, OUT / name / "detached.safetensors")
        (OUT / name / "detached.safetensors").chmod(0o644)
        print(name)


if __name__ == "__main__":
    main()
