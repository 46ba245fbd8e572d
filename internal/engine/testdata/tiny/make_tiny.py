"""Makes everything else in this directory:

    python make_tiny.py LLAMA_CPP_SOURCE

model.gguf        a llama of two layers with random weights in F16
a, b, activated   PEFT directories for it with random weights: plain, rank-stabilised, aLoRA
*.gguf            the same adapters as llama.cpp's convert_lora_to_gguf.py writes them
goldens.json      for each case the prompt and the log probability of every next token,
                  computed by transformers and PEFT in double precision

Needs torch, transformers, peft, safetensors and gguf.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import gguf
import numpy as np
import torch
from peft import LoraConfig, PeftModel, get_peft_model
from peft.tuners.lora.variants import calculate_alora_offsets
from safetensors.torch import load_file, save_file
from transformers import LlamaConfig, LlamaForCausalLM

HERE = pathlib.Path(__file__).resolve().parent
LAYERS, WIDTH, HEADS, KV, FF, VOCAB = 2, 64, 4, 2, 96, 260
ALL = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
CALL = [60, 61, 62]  # invocation tokens


def base():
    torch.manual_seed(1)
    config = LlamaConfig(vocab_size=VOCAB, hidden_size=WIDTH, intermediate_size=FF, num_hidden_layers=LAYERS, num_attention_heads=HEADS,
                         num_key_value_heads=KV, max_position_embeddings=1024, rms_norm_eps=1e-5, rope_theta=10000.0,
                         tie_word_embeddings=True, attn_implementation="eager", bos_token_id=0, eos_token_id=2)
    model = LlamaForCausalLM(config).eval()
    with torch.no_grad():
        for p in model.parameters():
            if p.dim() == 2:
                p.normal_(std=0.15).copy_(p.half().float())
    return model


def rows_of_gguf(w, heads):
    """Rows of q and k as files of this architecture hold them: i and i+c/2 side by side."""
    return w.reshape(heads, 2, w.shape[0] // heads // 2, *w.shape[1:]).swapaxes(1, 2).reshape(w.shape)


def write_model(model):
    w = gguf.GGUFWriter(HERE / "model.gguf", "llama")
    w.add_name("Tiny")
    w.add_block_count(LAYERS)
    w.add_context_length(1024)
    w.add_embedding_length(WIDTH)
    w.add_feed_forward_length(FF)
    w.add_head_count(HEADS)
    w.add_head_count_kv(KV)
    w.add_rope_dimension_count(WIDTH // HEADS)
    w.add_rope_freq_base(10000.0)
    w.add_layer_norm_rms_eps(1e-5)
    w.add_tokenizer_model("gpt2")
    w.add_tokenizer_pre("smollm")
    visible = [b for b in range(256) if 33 <= b <= 126 or 161 <= b <= 172 or b >= 174]
    hidden = [b for b in range(256) if b not in visible]
    w.add_token_list(["<|endoftext|>", "<|im_start|>", "<|im_end|>"] + [chr(b) if b in visible else chr(256 + hidden.index(b)) for b in range(256)] + ["aa"])
    w.add_token_types([3] * 3 + [1] * 257)
    w.add_token_merges(["a a"])
    w.add_eos_token_id(2)
    names = {"self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output",
             "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down",
             "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm"}
    for name, p in model.state_dict().items():
        value = p.numpy()
        if name == "lm_head.weight":
            continue
        if name == "model.embed_tokens.weight":
            w.add_tensor("token_embd.weight", value.astype(np.float16))
        elif name == "model.norm.weight":
            w.add_tensor("output_norm.weight", value.astype(np.float32))
        else:
            layer, module = name.removeprefix("model.layers.").removesuffix(".weight").split(".", 1)
            if module.endswith("q_proj"):
                value = rows_of_gguf(value, HEADS)
            if module.endswith("k_proj"):
                value = rows_of_gguf(value, KV)
            w.add_tensor(f"blk.{layer}.{names[module]}.weight", value.astype(np.float32 if "norm" in module else np.float16))
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()


def write_adapter(name, seed, **cfg):
    out = HERE / name
    torch.manual_seed(seed)
    peft = get_peft_model(base(), LoraConfig(task_type="CAUSAL_LM", **cfg))
    for n, p in peft.named_parameters():
        if "lora_" in n:
            torch.nn.init.normal_(p, std=0.15)
    peft.peft_config["default"].base_model_name_or_path = "tiny"
    peft.save_pretrained(out)
    (out / "README.md").unlink(missing_ok=True)
    weights = {k: v.half().contiguous() for k, v in load_file(out / "adapter_model.safetensors").items()}
    save_file(weights, out / "adapter_model.safetensors", metadata={"format": "pt"})


def convert(source, name):
    with tempfile.TemporaryDirectory() as d:
        base().config.save_pretrained(d)
        config = json.loads((pathlib.Path(d) / "config.json").read_text())
        config["architectures"] = ["LlamaForCausalLM"]
        (pathlib.Path(d) / "config.json").write_text(json.dumps(config))
        subprocess.run([sys.executable, source / "convert_lora_to_gguf.py", "--base", d, "--outtype", "f16", "--outfile", HERE / f"{name}.gguf", HERE / name], check=True)


def logprobs(model, prompt, **kw):
    with torch.no_grad():
        logits = model(torch.tensor([prompt]), **kw).logits[0].log_softmax(-1)
    return [round(logits[i, prompt[i + 1]].item(), 9) for i in range(len(prompt) - 1)]


def loaded():
    model = PeftModel.from_pretrained(base(), HERE / "a", adapter_name="a")
    model.load_adapter(HERE / "b", adapter_name="b")
    model.load_adapter(HERE / "activated", adapter_name="activated")
    return model


def cases():
    g = torch.Generator().manual_seed(7)
    prompt = torch.randint(70, VOCAB, (150,), generator=g).tolist()
    model = loaded().double().eval()
    with model.disable_adapter():
        yield {"name": "base", "prompt": prompt, "mix": [], "logprobs": logprobs(model, prompt)}
    for name in ("a", "b"):
        model.set_adapter(name)
        yield {"name": name, "prompt": prompt, "mix": [[name, 1.0]], "logprobs": logprobs(model, prompt)}
    for i, weights in enumerate(([0.75, 0.5], [1.5, -0.25])):
        model.add_weighted_adapter(["a", "b"], weights, f"mix{i}", combination_type="cat")
        model.set_adapter(f"mix{i}")
        model.double()
        yield {"name": f"mix{i}", "prompt": prompt, "mix": [["a", weights[0]], ["b", weights[1]]], "logprobs": logprobs(model, prompt)}
    for name in ("a", "mix0"):  # the same with the adapters merged into the base
        merged = loaded().double().eval()
        merged.add_weighted_adapter(["a", "b"], [0.75, 0.5], "mix0", combination_type="cat")
        merged.set_adapter(name)
        yield {"name": name + " merged", "prompt": prompt, "mix": {"a": [["a", 1.0]], "mix0": [["a", 0.75], ["b", 0.5]]}[name],
               "logprobs": logprobs(merged.double().merge_and_unload(), prompt)}
    model.set_adapter("activated")
    for name, at in (("inside a page", [70]), ("at a page", [64]), ("twice", [10, 100]), ("first", [0]), ("overlapping", [30, 32]), ("never", [])):
        called = list(prompt)
        for p in at:
            called[p:p + len(CALL)] = CALL
        offsets = calculate_alora_offsets(model.peft_config, "activated", torch.tensor([called]))
        yield {"name": "activated " + name, "prompt": called, "mix": [["activated", 1.0]],
               "start": None if offsets[0] is None else len(called) - int(offsets[0]), "logprobs": logprobs(model, called, alora_offsets=offsets)}


def main():
    source = pathlib.Path(sys.argv[1])
    write_model(base())
    write_adapter("a", 11, r=4, lora_alpha=8, target_modules=ALL)
    write_adapter("b", 12, r=8, lora_alpha=6, use_rslora=True, target_modules=["q_proj", "v_proj", "down_proj"])
    write_adapter("activated", 13, r=8, lora_alpha=8, target_modules=ALL, alora_invocation_tokens=CALL)
    convert(source, "a")
    convert(source, "activated")
    with open(HERE / "goldens.json", "w") as f:
        f.write("[\n" + ",\n".join(json.dumps(c) for c in cases()) + "\n]\n")


if __name__ == "__main__":
    main()
