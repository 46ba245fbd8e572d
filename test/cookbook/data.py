"""Writes data sets for the cookbook's recipes from the talk that the default adapters are trained on.

    data.py DIR

Recipes load public data sets by name, and a directory of that name below the working directory goes before:

    Anthropic/hh-rlhf   for DPO: of two answers one was given to what was asked, and one to something else
    talk.jsonl          for chat_sl: the same conversations
"""

import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def talk(split):
    """The first question and answer of each conversation with the specialists for talk and for code."""
    with tempfile.TemporaryDirectory() as out:
        subprocess.run([sys.executable, ROOT / "recipes/default-set/export.py", out, "L0", "L2"], check=True, stdout=subprocess.DEVNULL)
        rows = [json.loads(line)["messages"] for name in ("L0", "L2") for line in open(f"{out}/{name}.{split}.jsonl")]
    return [row[1:3] for row in rows if not row[0]["content"].startswith("Pick the specialist")]


def pair(rows, i):
    ask, answer = rows[i]
    other = rows[(i + len(rows) // 2) % len(rows)][1]
    as_text = lambda said: f"\n\nHuman: {ask['content']}\n\nAssistant: {said['content']}"
    return {"chosen": as_text(answer), "rejected": as_text(other)}


def write(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def main(out):
    out = pathlib.Path(out)
    train, dev = talk("train"), talk("dev")
    write(out / "talk.jsonl", [{"messages": row} for row in train])
    for name, rows in ("train", train), ("test", dev[:8]):
        write(out / "Anthropic/hh-rlhf" / f"{name}.jsonl", [pair(rows, i) for i in range(len(rows))])
    print(f"{len(train)} conversations, {len(dev[:8])} pairs held out")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
