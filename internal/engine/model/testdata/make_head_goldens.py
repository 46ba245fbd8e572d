"""Makes adapters of the output head for the tiny checkpoints beside this file:

    python make_head_goldens.py

head/NAME/       checkpoints of arch/ with the head tied to the embedding where it is not
                 there, or apart where it is tied
head/NAME-lora/  a PEFT adapter of lm_head and, so that both act, of q_proj, with random
                 weights, as PEFT saves it in half precision; golden.safetensors has tokens,
                 the positions that are kept, and logits at these

Every architecture has both kinds. Needs torch, transformers, peft and the checkpoints that
make_arch_goldens.py made. The reference is transformers and PEFT in float32.
"""
import json
import shutil

import torch
from peft import LoraConfig, get_peft_model
from safetensors.torch import load_file, save_file
from transformers import AutoConfig, AutoModelForCausalLM

from make_arch_goldens import HERE, golden

OUT = HERE.parent / "head"
KEPT = ["llama", "llama3", "mistral", "qwen2", "qwen3", "gemma3"]
OTHERS = {"mistral-tied": "mistral", "qwen2-apart": "qwen2", "qwen3-tied": "qwen3", "gemma3-apart": "gemma3"}


def load(path):
    return AutoModelForCausalLM.from_pretrained(path, dtype=torch.float32, attn_implementation="eager").eval()


def other(name, source):
    """The checkpoint with its head tied, or with one of its own."""
    dtype = next(iter(load_file(next((HERE / source).glob("*.safetensors"))).values())).dtype
    config = AutoConfig.from_pretrained(HERE / source)
    config.tie_word_embeddings = name.endswith("tied")
    model = AutoModelForCausalLM.from_config(config, dtype=torch.float32).eval()
    weights = load(HERE / source).state_dict()
    if not config.tie_word_embeddings:
        weights["lm_head.weight"] = torch.randn_like(weights["lm_head.weight"]) * 0.3
    else:
        weights["lm_head.weight"] = weights["model.embed_tokens.weight"]
    model.load_state_dict(weights)
    model.to(dtype).save_pretrained(OUT / name)
    (OUT / name / "generation_config.json").unlink(missing_ok=True)


def adapter(name, path, tokens):
    out = OUT / f"{name}-lora"
    model = load(path)
    peft = get_peft_model(model, LoraConfig(task_type="CAUSAL_LM", r=3, lora_alpha=5, target_modules=["lm_head", "q_proj"]))
    for key, p in peft.named_parameters():
        if "lora_" in key:
            torch.nn.init.normal_(p, std=0.25)
    peft.peft_config["default"].base_model_name_or_path = path.name
    peft.save_pretrained(out)
    (out / "README.md").unlink(missing_ok=True)
    weights = {k: v.half() for k, v in load_file(out / "adapter_model.safetensors").items()}
    save_file(weights, out / "adapter_model.safetensors", metadata={"format": "pt"})
    for key, p in peft.named_parameters():  # what is served are the rounded values
        if "lora_" in key:
            p.data = p.data.half().float()
    golden(out / "golden.safetensors", peft.eval(), tokens)
    print(name, json.dumps(sorted(k for k in weights if "lm_head" in k)))


def main():
    shutil.rmtree(OUT, ignore_errors=True)
    for seed, name in enumerate([*KEPT, *OTHERS]):
        torch.manual_seed(200 + seed)
        path = HERE / name
        if name in OTHERS:
            other(name, OTHERS[name])
            path = OUT / name
        adapter(name, path, torch.randint(0, 128, (100,)).tolist())
    for path in OUT.rglob("*.*"):
        path.chmod(0o644)


if __name__ == "__main__":
    main()
