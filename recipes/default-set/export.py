"""Writes the rows of every recipe here, or of those named, as JSON lines: python export.py DIR [NAME ...].
The standard library is enough.

DIR gets NAME.train.jsonl and NAME.dev.jsonl for L0-1, L0, L1, L2 and L3, as docs/formats/recipe.md
has rows: messages, which of them are learned, and a group of those that begin with the same system text.
"""
import hashlib
import importlib
import json
import pathlib
import random
import sys
import tomllib
import types

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "data")]

# The generators end each sample with packing.encode, which needs a tokenizer and torch; here a
# sample stays messages.
sys.modules["packing"] = types.ModuleType("packing")
sys.modules["packing"].encode = lambda tok, messages, supervised, group=None: {
    "messages": messages, "train": sorted(supervised),
    "group": hashlib.sha256((group or "").encode()).hexdigest()[:16]}

from contract import Contract  # noqa: E402

# Name of the recipe, generator, offset of the seed, stage of the generator: L0 is trained twice.
ROWS = [("L0-1", "talk", 0, 1), ("L0", "talk", 1, 2), ("L1", "acting", 0, 1), ("L2", "coding", 0, 1), ("L3", "cards", 0, 1)]


def main():
    out = pathlib.Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    with open(HERE / "recipe.toml", "rb") as f:
        seed = tomllib.load(f)["train"]["seed"]
    for name, generator, offset, stage in ROWS:
        if sys.argv[2:] and name not in sys.argv[2:]:
            continue
        train, dev = importlib.import_module(generator).samples(Contract(), None, random.Random(seed + offset), stage)
        for split, rows in (("train", train), ("dev", dev)):
            with open(out / f"{name}.{split}.jsonl", "w", encoding="utf-8") as f:
                for row in rows:
                    f.write(json.dumps(row, ensure_ascii=False) + "\n")
        print(f"{name}: {len(train)} rows to train on, {len(dev)} held out")


if __name__ == "__main__":
    main()
