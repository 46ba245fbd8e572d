"""Makes tiny random checkpoints of every architecture beside this file:

    python make_arch_goldens.py LLAMA_CPP_SOURCE

arch/NAME/                   config.json and weights, as transformers saves them
arch/NAME/golden.safetensors tokens, the positions that are kept, logits at these
arch/NAME.gguf               the same weights through llama.cpp's converter
arch/qwen3-lora/             a PEFT adapter with random weights for qwen3, and its logits

Needs torch, transformers, peft and a source tree of llama.cpp. The reference is
transformers in float32, eager attention. Weights are large enough for attention to be
peaked; normalisations are not 1, biases not 0, windows shorter than the prompt.
"""
import json
import pathlib
import shutil
import sys

import torch
from peft import LoraConfig, get_peft_model
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM
from transformers import Gemma3TextConfig, LlamaConfig, MistralConfig, Qwen2Config, Qwen3Config

HERE = pathlib.Path(__file__).resolve().parent / "arch"
TOKENS = 100
VOCAB = 128
SMALL = dict(vocab_size=VOCAB, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=2,
             num_key_value_heads=1, max_position_embeddings=256, bos_token_id=1, eos_token_id=2, pad_token_id=None)

MODELS = {
    "llama": (torch.float16, LlamaConfig(**SMALL, rms_norm_eps=1e-5)),
    "llama3": (torch.float16, LlamaConfig(**SMALL, tie_word_embeddings=True, rope_parameters={
        "rope_type": "llama3", "rope_theta": 20000.0, "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
        "original_max_position_embeddings": 32})),
    "mistral": (torch.bfloat16, MistralConfig(**{**SMALL, "num_attention_heads": 4, "num_key_value_heads": 2}, head_dim=16, sliding_window=9)),
    "qwen2": (torch.float16, Qwen2Config(**SMALL, tie_word_embeddings=True)),
    "qwen2-window": (torch.float32, Qwen2Config(**SMALL, use_sliding_window=True, sliding_window=7, max_window_layers=1, tie_word_embeddings=True)),
    "qwen3": (torch.float16, Qwen3Config(**{**SMALL, "num_attention_heads": 3}, head_dim=32)),
    "gemma3": (torch.float32, Gemma3TextConfig(**{**SMALL, "num_hidden_layers": 3},
               head_dim=32, query_pre_attn_scalar=24, sliding_window=10,
               layer_types=["sliding_attention", "full_attention", "sliding_attention"],
               rope_parameters={"full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 50000.0},
                                "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0}})),
}
SHARDED = {"qwen3"}
NO_GGUF = {"qwen2-window"}  # llama.cpp does not compute it


def randomise(model):
    for name, p in model.named_parameters():
        if name.endswith("norm.weight") or "layernorm" in name:
            centre = 0 if "gemma" in model.config.model_type else 1
            torch.nn.init.normal_(p, mean=centre, std=0.3)
        elif p.dim() == 1:
            torch.nn.init.normal_(p, std=0.5)
        elif "embed" in name:
            torch.nn.init.normal_(p, std=0.3)
        else:
            torch.nn.init.normal_(p, std=1.6 * p.shape[1] ** -0.5)


def golden(path, model, tokens):
    rows = sorted({*range(0, TOKENS, 7), 63, 64, TOKENS - 1})
    with torch.no_grad():
        logits = model(torch.tensor([tokens])).logits[0]
    save_file({"tokens": torch.tensor(tokens, dtype=torch.int32), "rows": torch.tensor(rows, dtype=torch.int32),
               "logits": logits[rows].contiguous()}, path)
    print(path.parent.name, "largest", float(logits.abs().max()), "spread", float(logits.std()))


def convert(name):
    """llama.cpp's converter without its vocabulary part: these models have none. It leaves
    the layers with a window to a default that this small Gemma does not follow."""
    import gguf
    from conversion import ModelBase, get_model_class
    hparams = ModelBase.load_hparams(HERE / name, False)
    cls = get_model_class(hparams["architectures"][0])
    plain = cls.set_gguf_parameters

    def parameters(self):
        plain(self)
        if name == "gemma3":
            self.gguf_writer.add_sliding_window_pattern([t == "sliding_attention" for t in hparams["layer_types"]])

    cls.set_vocab, cls.set_gguf_parameters = (lambda self: None), parameters
    vocabulary = HERE / name / "tokenizer.json"  # which the converter counts
    vocabulary.write_text(json.dumps({"model": {"vocab": {str(i): i for i in range(VOCAB)}}, "added_tokens": []}))
    kind = {torch.float16: gguf.LlamaFileType.MOSTLY_F16}.get(MODELS[name][0], gguf.LlamaFileType.ALL_F32)
    cls(HERE / name, kind, HERE / f"{name}.gguf").write()
    cls.set_gguf_parameters = plain
    vocabulary.unlink()


def main():
    llama_cpp = pathlib.Path(sys.argv[1])
    sys.path[:0] = [str(llama_cpp), str(llama_cpp / "gguf-py")]  # its own gguf, not the published one
    shutil.rmtree(HERE, ignore_errors=True)
    for seed, (name, (dtype, config)) in enumerate(MODELS.items()):
        torch.manual_seed(seed)
        model = AutoModelForCausalLM.from_config(config, dtype=torch.float32).eval()
        randomise(model)
        tokens = torch.randint(0, VOCAB, (TOKENS,)).tolist()
        model.to(dtype).save_pretrained(HERE / name, max_shard_size="40KB" if name in SHARDED else "1GB")
        (HERE / name / "generation_config.json").unlink(missing_ok=True)
        # read back: what was stored, computed in float32, tables of the rotary embedding too
        model = AutoModelForCausalLM.from_pretrained(HERE / name, dtype=torch.float32, attn_implementation="eager").eval()
        golden(HERE / name / "golden.safetensors", model, tokens)
        if name == "qwen3":
            adapter(model, tokens)
        if name not in NO_GGUF:
            convert(name)
    for path in HERE.rglob("*.*"):
        path.chmod(0o644)


def adapter(model, tokens):
    out = HERE / "qwen3-lora"
    torch.manual_seed(100)
    peft = get_peft_model(model, LoraConfig(task_type="CAUSAL_LM", r=4, lora_alpha=6,
                          target_modules=["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]))
    for name, p in peft.named_parameters():
        if "lora_" in name:
            torch.nn.init.normal_(p, std=0.25)
    peft.peft_config["default"].base_model_name_or_path = "qwen3"
    peft.save_pretrained(out)
    (out / "README.md").unlink(missing_ok=True)
    weights = {k: v.half() for k, v in load_file(out / "adapter_model.safetensors").items()}
    save_file(weights, out / "adapter_model.safetensors", metadata={"format": "pt"})
    for name, p in peft.named_parameters():  # what is served are the rounded values
        if "lora_" in name:
            p.data = p.data.half().float()
    golden(out / "golden.safetensors", peft.eval(), tokens)


if __name__ == "__main__":
    main()
