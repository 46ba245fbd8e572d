"""Writes dequantised.json: blocks of every quantised format and the values that the
package gguf, made by the authors of the format, gives for them.

    python make_dequantised.py [MODEL.gguf]

"random" rows are arbitrary bytes with scales of ordinary size, "wild" ones are arbitrary
throughout, "real" ones are the first blocks of a row of each tensor type in MODEL (the
committed file: gemma-3-270m-it-Q4_K_M.gguf). Values are float32, little endian.
"""
import base64
import json
import pathlib
import sys

import gguf
import numpy as np

FORMATS = ["BF16", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q4_K", "Q5_K", "Q6_K"]
HALVES = {"Q4_1": [0, 2], "Q5_1": [0, 2], "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208], "BF16": []}


def case(kind, name, rows):
    """rows: uint8 [rows, bytes]"""
    values = gguf.quants.dequantize(rows, gguf.GGMLQuantizationType[name])
    text = lambda a: base64.b64encode(a.tobytes()).decode()
    return {"kind": kind, "format": name, "rows": len(rows), "raw": text(rows), "values": text(values.astype("<f4"))}


def random_rows(rng, name, rows, wild):
    block, size = gguf.GGML_QUANT_SIZES[gguf.GGMLQuantizationType[name]]
    blocks = 64 if block == 1 else 2 if block == 32 else 1
    raw = rng.integers(0, 256, (rows, blocks, size), dtype=np.uint8)
    for at in [] if wild else HALVES.get(name, [0]):
        scale = rng.normal(0, 0.02, (rows, blocks)).astype("<f2")
        raw[:, :, at:at + 2] = scale.view(np.uint8).reshape(rows, blocks, 2)
    return raw.reshape(rows, blocks * size)


def main():
    rng, cases = np.random.default_rng(4), []
    for name in FORMATS:
        cases.append(case("random", name, random_rows(rng, name, 3, False)))
        cases.append(case("wild", name, random_rows(rng, name, 3, True)))
    seen = set()
    for t in gguf.GGUFReader(sys.argv[1]).tensors if len(sys.argv) > 1 else []:
        name = t.tensor_type.name
        if name in FORMATS and name not in seen:
            seen.add(name)
            block, size = gguf.GGML_QUANT_SIZES[t.tensor_type]
            raw = np.ascontiguousarray(t.data[1:3, :256 // block * size])
            cases.append(case("real", name, raw))
    out = pathlib.Path(__file__).with_name("dequantised.json")
    out.write_text(json.dumps(cases, indent=0) + "\n")


main()
