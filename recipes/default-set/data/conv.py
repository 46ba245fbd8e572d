"""Conversations written by hand: blocks of `U:` user, `A:` answer, `F:` summary of another specialist's
turn, `R:` tool result, `C:` the client's own system text, `N:` answer shown but not learned, `S:` summary.
Lines without a mark continue the one before."""
import re

from spin import blocks, expand, held_out

MARK = re.compile(r"^([UAFRCNS]): ?(.*)$")


class Conversation:
    """ChatML messages and the indices of the assistant turns that are learned."""
    __slots__ = ("messages", "supervised")

    def __init__(self, contract, adapter, client="", tools=None):
        self.messages = [{"role": "system", "content": contract.system(adapter, client, tools)}]
        self.supervised = []

    def add(self, role, content, learn=False):
        self.messages.append({"role": role, "content": content})
        if learn:
            self.supervised.append(len(self.messages) - 1)
        return self

    def summarise(self, contract, summary):
        return self.add("user", contract.summary()).add("assistant", summary, True)


def parse(block):
    """-> [(mark, text)]"""
    parts = []
    for line in block.split("\n"):
        m = MARK.match(line)
        if m:
            parts.append([m.group(1), m.group(2)])
        else:
            parts[-1][1] += "\n" + line
    return [(k, v.strip("\n")) for k, v in parts]


def build(contract, adapter, parts, rng):
    client = " ".join(v for k, v in parts if k == "C")
    conv = Conversation(contract, adapter, client)
    for kind, text in parts:
        if kind == "U":
            conv.add("user", expand(text, rng) if adapter in ("L0", "L3") else text.rstrip(".?") if rng.random() < 0.2 else text)
        elif kind in "AN":
            conv.add("assistant", text, kind == "A")
        elif kind == "F":
            conv.add("assistant", contract.foreign(text))
        elif kind == "R":
            conv.add("tool", text)
        elif kind == "S":
            conv.summarise(contract, text)
    return conv


def load(contract, adapter, name, rng):
    """-> [(Conversation, is development)]"""
    out = []
    for block in blocks(name):
        parts = parse(block)
        out.append((build(contract, adapter, parts, rng), held_out(parts[0][1] + parts[1][1], 12)))
    return out
