"""L0's conversation, identity and summaries: the hand-written blocks of chat.*.txt."""
import conv


def conversations(contract, adapter, rng):
    out = []
    for name in ("chat.en.txt", "chat.other.txt"):
        out += conv.load(contract, adapter, name, rng)
    return out
