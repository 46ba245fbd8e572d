"""The frozen base: the GGUF's dequantised weights in f32, and LoRA on top of it."""
import hashlib
import json
import os
import pathlib
import tomllib

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM, AutoTokenizer

HERE = pathlib.Path(__file__).resolve().parent


def recipe():
    with open(HERE / "recipe.toml", "rb") as f:
        return tomllib.load(f)


def sha256(path):
    h = hashlib.sha256()
    with open(path, "rb") as f:
        while block := f.read(1 << 20):
            h.update(block)
    return h.hexdigest()


def load_base(model_dir):
    """model_dir holds the GGUF named in recipe.toml."""
    r = recipe()["base"]
    path = os.path.join(model_dir, r["file"])
    if sha256(path) != r["sha256"]:
        raise SystemExit(f"{r['file']}: SHA-256 differs from recipe.toml")
    model = AutoModelForCausalLM.from_pretrained(
        model_dir, gguf_file=r["file"], dtype=torch.float32, attn_implementation="sdpa")
    tok = AutoTokenizer.from_pretrained(model_dir, gguf_file=r["file"])
    model.config.use_cache = False
    return model, tok


def new_lora(model):
    r = recipe()["lora"]
    cfg = LoraConfig(r=r["rank"], lora_alpha=r["alpha"], target_modules=r["targets"],
                     lora_dropout=0.0, bias="none", task_type="CAUSAL_LM")
    return get_peft_model(model, cfg)


def load_lora(model, directory, trainable=False):
    return PeftModel.from_pretrained(model, directory, is_trainable=trainable)


def save_lora(peft_model, directory):
    """Write a PEFT directory: f16 tensors that name their base by digest, no path of this machine in the config."""
    pathlib.Path(directory).mkdir(parents=True, exist_ok=True)
    cfg = peft_model.peft_config["default"]
    cfg.base_model_name_or_path = recipe()["base"]["name"]
    cfg.target_modules = sorted(cfg.target_modules)
    readme = pathlib.Path(directory) / "README.md"
    kept = readme.read_text() if readme.exists() else None
    peft_model.save_pretrained(directory)
    if kept is None:
        readme.unlink(missing_ok=True)
    else:
        readme.write_text(kept)
    path = os.path.join(directory, "adapter_model.safetensors")
    tensors = {k: v.to(torch.float16).contiguous() for k, v in load_file(path).items()}
    save_file(tensors, path, metadata={"format": "pt", "base": "sha256:" + recipe()["base"]["sha256"]})
    os.chmod(path, 0o644)
    config = os.path.join(directory, "adapter_config.json")
    with open(config) as f:
        text = json.dumps(json.load(f), indent=2, sort_keys=True)
    with open(config, "w") as f:
        f.write(text + "\n")
    return sha256(path)
