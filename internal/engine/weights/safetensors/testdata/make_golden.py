"""Writes golden.safetensors with the reference Python library, one tensor of each type.

Run: python make_golden.py   (needs numpy, torch, safetensors; made with safetensors 0.8.0)
"""
import pathlib

import torch
from safetensors.torch import save_file

values = [0.0, -0.0, 1.0, -2.5, 65504.0, 6.0e-08, float("inf"), 0.333251953125]
tensors = {
    "f64": torch.tensor(values, dtype=torch.float64).reshape(2, 4),
    "f32": torch.tensor(values, dtype=torch.float32).reshape(4, 2),
    "f16": torch.tensor(values, dtype=torch.float16),
    "bf16": torch.tensor(values, dtype=torch.bfloat16).reshape(2, 2, 2),
    "i64": torch.tensor([-1, 2**40], dtype=torch.int64),
    "i32": torch.tensor([-7, 7], dtype=torch.int32),
    "i8": torch.tensor([-128, 127], dtype=torch.int8),
    "u8": torch.tensor([0, 255], dtype=torch.uint8),
    "bool": torch.tensor([True, False]),
    "scalar": torch.tensor(3.5, dtype=torch.float32),
    "empty": torch.zeros((0, 3), dtype=torch.float32),
    'quoted "name" é': torch.tensor([1.5], dtype=torch.float32),
}
here = pathlib.Path(__file__).parent
save_file(tensors, here / "golden.safetensors", metadata={"format": "pt", "note": "made by make_golden.py"})
