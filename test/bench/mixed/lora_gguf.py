#!/usr/bin/env python3
"""Writes PEFT adapters of the default model as GGUF LoRA files, for llama-server.

    lora_gguf.py OUT_DIR ADAPTER_DIR...     (needs the packages gguf, numpy and safetensors)

The rows of B of q and k are put side by side by rotation pair, which is the order of
GGUF files of the llama architecture.
"""
import json
import pathlib
import sys

import gguf
from safetensors.numpy import load_file

HEAD = 64
NAMES = {"self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output",
         "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down"}


def paired(b):
    """[heads * 64, r], halves of a head apart -> pairs side by side"""
    heads = b.shape[0] // HEAD
    return b.reshape(heads, 2, HEAD // 2, b.shape[1]).swapaxes(1, 2).reshape(b.shape)


def write(source, target):
    config = json.loads((source / "adapter_config.json").read_text())
    w = gguf.GGUFWriter(target, "llama")
    w.add_type("adapter")
    w.add_string("adapter.type", "lora")
    w.add_float32("adapter.lora.alpha", config["lora_alpha"])
    for name, tensor in sorted(load_file(source / "adapter_model.safetensors").items()):
        parts = name.split(".layers.")[1].split(".")
        layer, module, half = parts[0], ".".join(parts[1:3]), parts[3]
        if half == "lora_B" and module in ("self_attn.q_proj", "self_attn.k_proj"):
            tensor = paired(tensor)
        w.add_tensor(f"blk.{layer}.{NAMES[module]}.weight.{half.lower()}", tensor)
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()


out = pathlib.Path(sys.argv[1])
out.mkdir(parents=True, exist_ok=True)
for d in map(pathlib.Path, sys.argv[2:]):
    write(d, out / f"{d.name}.gguf")
