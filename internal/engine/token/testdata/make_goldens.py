"""Encodes 2,000 random texts with the transformers library and writes goldens.jsonl.gz.

Run: python make_goldens.py DIRECTORY FILE.gguf   (made with transformers 5.24.0, tokenizers 0.23.3)
where DIRECTORY/FILE.gguf is the default model. A line of the output is a JSON list: the text; the number of its
tokens and the first 16 hex digits of the SHA-256 of its ids (int32, little-endian) with control tokens recognised;
the same two with control tokens taken as plain text.

A tokenizer that transformers builds from a GGUF file has the vocabulary and merges of the file, but always GPT-2's
pre-tokeniser: it does not read tokenizer.ggml.pre. The model's is Digits(individual_digits) followed by ByteLevel,
so this script puts that in place, and checks what follows from it: each digit is a token of its own, and the blanks
before a digit stay together, apart from it.
"""
import gzip
import hashlib
import json
import pathlib
import struct
import sys

from tokenizers import pre_tokenizers
from transformers import AutoTokenizer

from texts import Texts

COUNT = 2000


def digest(ids):
    return hashlib.sha256(struct.pack(f"<{len(ids)}i", *ids)).hexdigest()[:16]


def main():
    tok = AutoTokenizer.from_pretrained(sys.argv[1], gguf_file=sys.argv[2])
    tok.backend_tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)])
    assert tok.backend_tokenizer.normalizer is None
    assert [tok.decode([i]) for i in tok.encode("2026 12")] == ["2", "0", "2", "6", " ", "1", "2"]
    assert [tok.decode([i]) for i in tok.encode("x   7")] == ["x", "   ", "7"]

    # The same tokenizer without its added tokens takes their text as plain text.
    state = json.loads(tok.backend_tokenizer.to_str())
    state["added_tokens"] = []
    without_added = type(tok.backend_tokenizer).from_str(json.dumps(state))

    lines = []
    for text in Texts(20260102).distinct(COUNT):
        special = tok.encode(text, add_special_tokens=False)
        plain = without_added.encode(text, add_special_tokens=False).ids
        lines.append(json.dumps([text, len(special), digest(special), len(plain), digest(plain)], ensure_ascii=False))
    out = pathlib.Path(__file__).parent / "goldens.jsonl.gz"
    with open(out, "wb") as raw, gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as f:
        f.write(("\n".join(lines) + "\n").encode("utf-8"))


main()
