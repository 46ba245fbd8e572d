"""Makes the goldens of Gemma 3 270M beside this file from its GGUF:

    python make_gemma_goldens.py GGUF [--libllama]

gemma.json     prompts (token ids), the rows that are stored, figures of llama.cpp
gemma.f32.gz   every STRIDE-th logit of those rows, little-endian float32

The reference is transformers in float32 on the dequantised weights of the file; the long
prompt is longer than the model's window. --libllama as in ../../testdata/make_goldens.py.
"""
import argparse
import gzip
import json
import pathlib
import sys

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "testdata"))
import make_goldens as common

STRIDE = 257
PROMPTS = {
    "chat": "<start_of_turn>user\nWhat is the capital of France, and which river runs through it?<end_of_turn>\n<start_of_turn>model\n",
    "code": common.PROMPTS["code"],
    "languages": common.PROMPTS["languages"],
    "long": "<start_of_turn>user\n" + common.LONG + "\n" + common.LONG[700::-1] + "<end_of_turn>\n<start_of_turn>model\n",
}
SHORT = ["chat", "code", "languages"]  # whose every position is compared in int8


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("gguf", type=pathlib.Path)
    ap.add_argument("--libllama", action="store_true")
    args = ap.parse_args()
    where = dict(pretrained_model_name_or_path=args.gguf.parent, gguf_file=args.gguf.name)
    model = AutoModelForCausalLM.from_pretrained(**where, dtype=torch.float32, attn_implementation="eager").eval()
    print(model.config)
    tok = AutoTokenizer.from_pretrained(**where)
    prompts = {n: [2] + tok(text, add_special_tokens=False)["input_ids"] for n, text in PROMPTS.items()}
    doc, stored, reference = {"stride": STRIDE, "prompts": prompts, "rows": []}, [], {}
    for name, ids in prompts.items():
        out = reference[name] = common.logits(model, ids)
        n = len(ids)
        for r in sorted({0, 1, n // 3, n - 1} | {p for p in (64, 511, 512, 513, 640) if p < n}):
            doc["rows"].append({"prompt": name, "adapter": "", "position": r, "argmax": int(out[r].argmax()), "norm": float(out[r].double().logsumexp(-1))})
            stored.append(out[r, ::STRIDE].contiguous())
    if args.libllama:
        doc["llama_cpp"] = common.llama_figures(None, args.gguf, {n: prompts[n] for n in SHORT}, reference)
    elif (HERE / "gemma.json").exists():
        doc["llama_cpp"] = json.loads((HERE / "gemma.json").read_text()).get("llama_cpp")
    (HERE / "gemma.json").write_text(json.dumps(doc, separators=(",", ":")).replace('{"prompt"', '\n{"prompt"') + "\n")
    with gzip.GzipFile(HERE / "gemma.f32.gz", "wb", mtime=0) as f:
        f.write(torch.cat(stored).numpy().astype("<f4").tobytes())
    print({n: len(p) for n, p in prompts.items()}, len(doc["rows"]), doc.get("llama_cpp"))


if __name__ == "__main__":
    main()
