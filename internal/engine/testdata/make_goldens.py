"""Makes the goldens beside this file from the default model's GGUF:

    python make_goldens.py MODEL_DIR [--adapter DIR ...] [--libllama PATH]

goldens.json   prompts (token ids), the rows that are stored, figures of llama.cpp
logits.f32.gz  every STRIDE-th logit of those rows, little-endian float32
lora-r4, lora-rs   PEFT directories with random weights, made once and kept

Needs torch, transformers and peft; with --libllama also llama_cpp's Python bindings.
The reference is transformers in float32 on the dequantised weights of the file.
"""
import argparse
import ctypes
import gzip
import json
import math
import pathlib

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM, AutoTokenizer

HERE = pathlib.Path(__file__).resolve().parent
FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
STRIDE = 13

LONG = """The lighthouse keeper wrote in the same book every evening: the wind, the height of the water, the ships that
passed and what they carried. In the spring of 1911 he began to add a line about birds. At first only the kinds, then how
many, then where they had come from, as far as he could tell from the wind of the day before. By autumn the line about birds
had become a page, and the line about ships had become a word. The harbour office sent a letter. He answered it politely,
with a table of arrivals: 214 terns, 37 gannets, 3 steamers, 1 barque without a name. Nobody wrote to him again, and the book
went on for eleven years, until the lamp was made electric and the island had no need of a keeper. It is now kept in the
museum of the town, between a stuffed gannet and a model of the barque, open at the page of the great storm, where he wrote
only: "Wind from every side. No birds. I counted the waves until it was light, 9,412 of them, and then I slept."
What did the keeper count, in which order did his interests change, and why does the page of the storm differ from the others?"""

PROMPTS = {
    "chat": "<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n<|im_start|>user\nWhat is the capital of France, and which river runs through it?<|im_end|>\n<|im_start|>assistant\n",
    "code": "def fibonacci(n: int) -> list[int]:\n    \"\"\"Return the first n numbers.\"\"\"\n    out = [0, 1]\n    while len(out) < n:\n        out.append(out[-1] + out[-2])\n    return out[:n]\n\n\ndef test_fibonacci():\n    assert fibonacci(10) ==",
    "languages": "El tren sale a las 7:45. Der Zug hat Verspätung. 今天天气很好，我们去公园吧。 電車は遅れています。 Le train est annulé, désolé !",
    "route": "<|im_start|>system\nPick the specialist for the quoted request. Answer with the label only.\nL0: talk\nL1: act\nL2: code\nL3: interface<|im_end|>\n<|im_start|>user\nRequest: \"why does my loop never end?\"<|im_end|>\n<|im_start|>assistant\nL",
    "long": "<|im_start|>user\n" + LONG + "<|im_end|>\n<|im_start|>assistant\n",
}


def rows_of(n):
    """Some positions of a prompt of n tokens: the edges, a few between, both sides of 64."""
    return sorted({0, 1, n // 3, 2 * n // 3, n - 1} | {p for p in (63, 64, 127, 128, 255, 256) if p < n})


def load(model_dir):
    model = AutoModelForCausalLM.from_pretrained(model_dir, gguf_file=FILE, dtype=torch.float32,
                                                 attn_implementation="eager").eval()
    return model, AutoTokenizer.from_pretrained(model_dir, gguf_file=FILE)


def logits(model, ids):
    with torch.no_grad():
        return model(torch.tensor([ids])).logits[0]


def random_adapter(model_dir, name, dtype, **cfg):
    """A PEFT directory with random A and B, so that it changes the output visibly."""
    out = HERE / name
    if not out.exists():
        torch.manual_seed(len(name) + cfg["r"])
        model, _ = load(model_dir)
        peft = get_peft_model(model, LoraConfig(task_type="CAUSAL_LM", **cfg))
        for n, p in peft.named_parameters():
            if "lora_" in n:
                torch.nn.init.normal_(p, std=0.05)
        peft.peft_config["default"].base_model_name_or_path = "smollm2-135m-instruct"
        peft.save_pretrained(out)
        (out / "README.md").unlink(missing_ok=True)
        weights = {k: v.to(dtype).contiguous() for k, v in load_file(out / "adapter_model.safetensors").items()}
        save_file(weights, out / "adapter_model.safetensors", metadata={"format": "pt"})
    return out


def llama_figures(lib, model_path, prompts, reference):
    """Mean KL divergence and top-1 agreement of llama.cpp against the reference, over
    every position of every prompt, one prompt per context, in one batch."""
    import llama_cpp as lc
    lc.llama_backend_init()
    model = lc.llama_model_load_from_file(str(model_path).encode(), lc.llama_model_default_params())
    vocab = lc.llama_vocab_n_tokens(lc.llama_model_get_vocab(model))
    kls, same = [], []
    for name, ids in prompts.items():
        cp = lc.llama_context_default_params()
        cp.n_ctx, cp.n_batch, cp.n_ubatch, cp.n_threads, cp.n_threads_batch = 1024, 1024, 512, 2, 2
        ctx = lc.llama_init_from_model(model, cp)
        batch = lc.llama_batch_init(len(ids), 0, 1)
        batch.n_tokens = len(ids)
        for i, t in enumerate(ids):
            batch.token[i], batch.pos[i], batch.n_seq_id[i], batch.seq_id[i][0], batch.logits[i] = t, i, 1, 0, 1
        assert lc.llama_decode(ctx, batch) == 0
        got = torch.stack([torch.tensor((ctypes.c_float * vocab).from_address(
            ctypes.addressof(lc.llama_get_logits_ith(ctx, i).contents))) for i in range(len(ids))])
        kls += kl(reference[name], got).tolist()
        same += (reference[name].argmax(-1) == got.argmax(-1)).tolist()
        lc.llama_free(ctx)
    return {"mean_kl": sum(kls) / len(kls), "max_kl": max(kls), "top1": sum(same) / len(same), "positions": len(kls)}


def kl(want, got):
    p, q = want.double().log_softmax(-1), got.double().log_softmax(-1)
    return (p.exp() * (p - q)).sum(-1)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("model_dir", type=pathlib.Path)
    ap.add_argument("--adapter", action="append", default=[], type=pathlib.Path, help="PEFT directory, relative to here")
    ap.add_argument("--libllama", action="store_true", help="also take llama.cpp's figures (LLAMA_CPP_LIB_PATH names its library directory)")
    args = ap.parse_args()
    torch.manual_seed(0)

    r4 = random_adapter(args.model_dir, "lora-r4", torch.float16, r=4, lora_alpha=8, layers_to_transform=[0, 7, 18, 29],
                        layers_pattern="layers", target_modules=["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"])
    rs = random_adapter(args.model_dir, "lora-rs", torch.bfloat16, r=2, lora_alpha=6, use_rslora=True, layers_to_transform=[3],
                        layers_pattern="layers", target_modules=["k_proj", "down_proj"])
    model, tok = load(args.model_dir)
    prompts = {n: tok(text, add_special_tokens=False)["input_ids"] for n, text in PROMPTS.items()}
    doc = {"stride": STRIDE, "prompts": prompts, "rows": []}
    stored, reference = [], {}

    def keep(name, adapter, out, rows):
        for r in rows:
            doc["rows"].append({"prompt": name, "adapter": adapter, "position": r, "argmax": int(out[r].argmax()),
                                "norm": float(out[r].double().logsumexp(-1))})
            stored.append(out[r, ::STRIDE].contiguous())

    for name, ids in prompts.items():
        reference[name] = logits(model, ids)
        keep(name, "", reference[name], rows_of(len(ids)))
    for directory in [r4.relative_to(HERE), rs.relative_to(HERE), *args.adapter]:
        # the stored values are what is served: A and B rounded, then widened to float32
        tuned = PeftModel.from_pretrained(load(args.model_dir)[0], HERE / directory).float().eval()
        for name in ("chat", "long"):
            n = len(prompts[name])
            keep(name, str(directory), logits(tuned, prompts[name]), [0, n // 2, n - 1])
    if args.libllama:
        doc["llama_cpp"] = llama_figures(None, args.model_dir / FILE, prompts, reference)
    elif (HERE / "goldens.json").exists():
        doc["llama_cpp"] = json.loads((HERE / "goldens.json").read_text()).get("llama_cpp")
    (HERE / "goldens.json").write_text(json.dumps(doc, indent=None, separators=(",", ":")).replace('{"prompt"', '\n{"prompt"') + "\n")
    with gzip.GzipFile(HERE / "logits.f32.gz", "wb", mtime=0) as f:
        f.write(torch.cat(stored).numpy().astype("<f4").tobytes())
    print({n: len(p) for n, p in prompts.items()}, len(doc["rows"]), doc.get("llama_cpp"))


if __name__ == "__main__":
    main()
