"""Greedy answers and summaries of an adapter: python sample.py L2 --model-dir DIR [--adapter DIR] "request" ..."""
import argparse
import json
import pathlib
import sys

import torch

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "data")]

from base import load_base, load_lora  # noqa: E402
from contract import ROOT, Contract, chatml  # noqa: E402


def generate(model, tok, messages, limit):
    ids = torch.tensor([tok(chatml(messages, generate=True), add_special_tokens=False).input_ids])
    end = tok.convert_tokens_to_ids("<|im_end|>")
    with torch.no_grad():
        out = model.generate(input_ids=ids, attention_mask=torch.ones_like(ids), max_new_tokens=limit, do_sample=False,
                             repetition_penalty=1.0, eos_token_id=end, pad_token_id=end, use_cache=True)
    return tok.decode(out[0, ids.shape[1]:], skip_special_tokens=True)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("label")
    ap.add_argument("requests", nargs="+")
    ap.add_argument("--model-dir", required=True)
    ap.add_argument("--adapter")
    ap.add_argument("--tools", help="JSON list of OpenAI tools")
    ap.add_argument("--client", default="")
    ap.add_argument("--threads", type=int, default=1)
    args = ap.parse_args()
    torch.set_num_threads(args.threads)
    contract = Contract()
    model, tok = load_base(args.model_dir)
    model = load_lora(model, args.adapter or str(ROOT / "adapters" / args.label)).eval()
    tools = json.loads(args.tools) if args.tools else None
    for request in args.requests:
        messages = [{"role": "system", "content": contract.system(args.label, args.client, tools)},
                    {"role": "user", "content": request}]
        answer = generate(model, tok, messages, 260)
        messages += [{"role": "assistant", "content": answer}, {"role": "user", "content": contract.summary()}]
        print(f"USER {request}\n{answer}\nSUMMARY {generate(model, tok, messages, 90)}\n---", flush=True)


if __name__ == "__main__":
    main()
