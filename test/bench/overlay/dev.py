"""Writes the development split of the default set's routing data as JSON lines, the default label set only:

    python test/bench/overlay/dev.py > dev.jsonl

{"text", "previous"?: {"label", "text"}, "label"}. The test split is not read.
"""
import json
import pathlib
import sys

RECIPE = pathlib.Path(__file__).resolve().parents[3] / "recipes" / "default-set"
sys.path[:0] = [str(RECIPE), str(RECIPE / "data")]

from contract import Contract  # noqa: E402
from evaluate import read_dev  # noqa: E402

for row in read_dev(Contract()):
    if row["entries"]:
        continue
    out = {"text": row["text"], "label": row["label"]}
    if row["before"]:
        out["previous"] = {"label": row["before"][0], "text": row["before"][1]}
    print(json.dumps(out, ensure_ascii=False))
