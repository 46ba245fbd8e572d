"""Loads an exported tokenizer with the transformers library and compares its ids with the goldens beside this file.

Run: python verify_export.py DIRECTORY default|gemma3|minilm   (with transformers 5.24.0)
where DIRECTORY was written by `macaron model export-tokenizer` for that model. The goldens were made without the
export; see make_goldens.py and make_model_goldens.py.
"""
import gzip
import hashlib
import json
import pathlib
import struct
import sys

from transformers import AutoTokenizer, PreTrainedTokenizerFast

here = pathlib.Path(__file__).parent


def digest(ids, n):
    return hashlib.sha256(struct.pack(f"<{len(ids)}i", *ids)).hexdigest()[:n]


def goldens(name):
    """Yields texts and the digest of their ids with special tokens."""
    if name == "default":
        for line in gzip.open(here / "goldens.jsonl.gz", "rt", encoding="utf-8"):
            text, _, want, _, _ = json.loads(line)
            yield text, want
        return
    for line in gzip.open(here / "model_goldens.jsonl.gz", "rt", encoding="utf-8"):
        model, text, want = json.loads(line)
        if model == name:
            yield text, want[:8]


def main():
    directory, name = sys.argv[1:]
    for tok in (AutoTokenizer.from_pretrained(directory), PreTrainedTokenizerFast.from_pretrained(directory)):
        equal = total = 0
        for text, want in goldens(name):
            ids = tok.encode(text, add_special_tokens=False)
            total += 1
            if digest(ids, len(want)) == want:
                equal += 1
            elif total - equal < 5:
                print(repr(text), ids)
        print(f"{type(tok).__name__}: {equal} of {total} texts are equal, {len(tok)} tokens, BOS {tok.bos_token!r}, EOS {tok.eos_token!r}")
        if tok.chat_template:
            print(repr(tok.apply_chat_template([{"role": "user", "content": "Hi"}], tokenize=False, add_generation_prompt=True)))
        if equal != total:
            sys.exit(1)


main()
