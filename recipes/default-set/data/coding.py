"""L2: hand-written snippets, commands and fixes; every fence is checked by check_data.py where it can be."""
import conv
from packing import encode


def samples(contract, tok, rng, stage=1):
    train, dev = [], []
    for name in ("code.python.txt", "code.shell.txt", "code.more.txt", "code.extra.txt"):
        for c, is_dev in conv.load(contract, "L2", name, rng):
            s = encode(tok, c.messages, c.supervised, group=c.messages[0]["content"])
            (dev if is_dev else train).append(s)
    return train, dev
