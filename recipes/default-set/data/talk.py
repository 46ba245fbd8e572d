"""L0: the router's turns and plain conversation."""
import chat
import route
from packing import encode


def samples(contract, tok, rng, stage=1):
    train, dev = [], []
    for row in route.rows(contract, rng, stage):
        msgs = route.messages(contract, row)
        (dev if row.dev else train).append(encode(tok, msgs, [2], group=msgs[0]["content"]))
    for conv, is_dev in (3 - stage) * chat.conversations(contract, "L0", rng):
        (dev if is_dev else train).append(encode(tok, conv.messages, conv.supervised, group=conv.messages[0]["content"]))
    return train, dev
