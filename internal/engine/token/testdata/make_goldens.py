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
import random
import struct
import sys
import unicodedata

from tokenizers import pre_tokenizers
from transformers import AutoTokenizer

COUNT = 2000
rng = random.Random(20260102)
WORDS = ("the quick brown fox I'll you've can't it's We'RE 'S 'tis don't naïve über señor привет мир γειά שלום مرحبا "
         "नमस्ते สวัสดี 你好 世界 こんにちは カタカナ 안녕하세요 import def return self.x != None; x += 1; <div class=\"a\"> http://a.b/c?d=e "
         "<|im_start|> <|im_end|> <|endoftext|> <repo_name> <|im_end <empty_output> assistant system user").split(" ")
BLANKS = [" ", "  ", "   ", "\t", "\n", "\n\n", "\r\n", " \n", "\u00a0", "\u3000", "\u2003", "\u2028", "\u0085", "\x0b", "\x1f"]
RANGES = [(0x20, 0x7E), (0x00, 0x1F), (0x7F, 0xFF), (0x100, 0x24F), (0x300, 0x36F), (0x370, 0x58F), (0x590, 0x6FF),
          (0x900, 0xDFF), (0xE00, 0x10FF), (0x1100, 0x1FFF), (0x2000, 0x2BFF), (0x2E80, 0x33FF), (0x4E00, 0x9FFF),
          (0xAC00, 0xD7A3), (0xE000, 0xE0FF), (0xF900, 0xFFFD), (0x10000, 0x107FF), (0x1D400, 0x1D7FF), (0x1F000, 0x1FAFF),
          (0x20000, 0x2A6DF), (0xE0100, 0xE01EF), (0x10FF00, 0x10FFFF)]


def assigned(c):
    return unicodedata.category(c) not in ("Cn", "Cs")


def some(low, high):
    while not assigned(c := chr(rng.randint(low, high))):
        pass
    return c


def piece():
    kind = rng.randrange(8)
    if kind == 0:
        return rng.choice(WORDS)
    if kind == 1:
        return rng.choice(BLANKS)
    if kind == 2:
        return str(rng.randrange(10 ** rng.randrange(1, 7)))
    if kind == 3:
        return "".join(rng.choice("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~") for _ in range(rng.randrange(1, 5)))
    if kind == 4:
        low, high = rng.choice(RANGES)
        return "".join(some(low, high) for _ in range(rng.randrange(1, 6)))
    if kind == 5:
        return rng.choice(["½", "٣", "Ⅷ", "①", "௧", "²", "😀", "👩‍👩‍👧", "🇩🇪", "e\u0301", "'", "’s", "\u200d", "\ufe0f"])
    if kind == 6:
        return rng.choice(["a", "B", "é", "ß", " ", "  ", "'"]) * rng.randrange(1, 8)
    return " " + rng.choice(WORDS)


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

    seen, lines = set(), []
    while len(lines) < COUNT:
        text = "".join(piece() for _ in range(rng.randrange(1, 14)))
        if text in seen:
            continue
        seen.add(text)
        special = tok.encode(text, add_special_tokens=False)
        plain = without_added.encode(text, add_special_tokens=False).ids
        lines.append(json.dumps([text, len(special), digest(special), len(plain), digest(plain)], ensure_ascii=False))
    out = pathlib.Path(__file__).parent / "goldens.jsonl.gz"
    with open(out, "wb") as raw, gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as f:
        f.write(("\n".join(lines) + "\n").encode("utf-8"))


main()
