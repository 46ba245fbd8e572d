"""What can be checked of the data without a model: python check_data.py

Python fences compile, bash fences parse (bash -n), JSON fences and tool calls parse. Cards are checked by the
program's own compiler and grammar: go test -run Recipe ./internal/ui4a/grammar ./cmd/macaron.
"""
import json
import pathlib
import random
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "data")]

import acting  # noqa: E402
import conv  # noqa: E402
import route  # noqa: E402
from contract import Contract  # noqa: E402

FENCE = re.compile(r"```(\w*)\n(.*?)```", re.S)


def answers(convs):
    for c, _ in convs:
        for i in c.supervised:
            yield c.messages[i]["content"]


def check_code(contract, rng):
    n = 0
    for name in ("code.python.txt", "code.shell.txt", "code.more.txt", "code.extra.txt"):
        for text in answers(conv.load(contract, "L2", name, rng)):
            for lang, code in FENCE.findall(text):
                if lang == "python":
                    compile(code, name, "exec")
                elif lang == "bash":
                    subprocess.run(["bash", "-n"], input=code.encode(), check=True)
                elif lang == "json" and code.lstrip().startswith("{"):
                    json.loads(code)
                n += 1
    return n


def check_calls(contract, rng):
    n = 0
    for text in answers(acting.conversations(contract, rng, sets=26)):
        if text.startswith("<tool_call>"):
            call = json.loads(text.removeprefix("<tool_call>").removesuffix("</tool_call>"))
            assert set(call) == {"name", "arguments"}, text
            assert "{" not in json.dumps(call["arguments"], ensure_ascii=False)[1:], text
            n += 1
        else:
            assert "{" not in text, text
    return n


def check_routes(contract, rng):
    rows = route.rows(contract, rng)
    for r in rows:
        assert "{" not in r.text.split("{\"adapter\"")[0] or r.label == "L2" or "|" not in r.text, r.text
    train, dev = {r.text for r in rows if not r.dev and not r.entries}, {r.text for r in rows if r.dev and not r.entries}
    return len(rows), len(dev & train)


def main():
    contract, rng = Contract(), random.Random(1)
    print("code fences", check_code(contract, rng))
    print("tool calls", check_calls(contract, rng))
    print("routing rows, development texts that training has too", check_routes(contract, rng))


if __name__ == "__main__":
    main()
