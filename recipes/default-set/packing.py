"""Several samples that start alike, in one sequence: [common prefix | rest 1 | rest 2 | ...].

Every rest sees the prefix and itself only (4-D mask) and continues the prefix's positions, so the
loss and the gradient are those of the samples computed alone; the prefix is computed once.
"""
import torch

from contract import chatml


class Sample:
    """Token ids and, for each, the weight of predicting it (0: not supervised)."""
    __slots__ = ("ids", "weight", "group")

    def __init__(self, ids, weight, group):
        self.ids, self.weight, self.group = ids, weight, group


def encode(tok, messages, supervised, group=None):
    """messages: ChatML turns; supervised: indices of the assistant turns to learn.

    Turns are cut at special tokens, which never merge with their neighbours.
    """
    ids, weight = [], []
    for i, m in enumerate(messages):
        head = tok(f"<|im_start|>{m['role']}\n", add_special_tokens=False).input_ids
        whole = tok(chatml([m]), add_special_tokens=False).input_ids
        w = [0.0] * len(whole)
        if i in supervised:
            # content and <|im_end|>; the newline after it belongs to the template
            for j in range(len(head), len(whole) - 1):
                w[j] = 1.0
        ids += whole
        weight += w
    last = max(supervised)
    if last == len(messages) - 1:      # drop the newline after the last <|im_end|>
        ids, weight = ids[:-1], weight[:-1]
    return Sample(ids, weight, group)


def common_prefix(samples):
    first = samples[0].ids
    n = min(len(s.ids) for s in samples) - 1
    for s in samples:
        supervised = next(i for i, w in enumerate(s.weight) if w)
        n = min(n, supervised - 1)
    for s in samples[1:]:
        k = 0
        while k < n and s.ids[k] == first[k]:
            k += 1
        n = k
    return n


def pack(samples):
    """-> input_ids, position_ids, mask (additive), rows, targets, weights."""
    p = common_prefix(samples) if len(samples) > 1 else 0
    ids, pos, seg = list(samples[0].ids[:p]), list(range(p)), [0] * p
    rows, targets, weights = [], [], []
    for b, s in enumerate(samples, 1):
        start = len(ids)
        rest = s.ids[p:]
        ids += rest
        pos += range(p, p + len(rest))
        seg += [b] * len(rest)
        for j in range(len(rest)):
            if s.weight[p + j]:
                rows.append(start + j - 1)   # p < first supervised, so j >= 1
                targets.append(rest[j])
                weights.append(s.weight[p + j])
    n = len(ids)
    seg_t = torch.tensor(seg)
    visible = (seg_t[None, :] == 0) | (seg_t[None, :] == seg_t[:, None])
    visible &= torch.ones(n, n, dtype=torch.bool).tril()
    mask = torch.zeros(1, 1, n, n).masked_fill_(~visible, torch.finfo(torch.float32).min)
    return (torch.tensor([ids]), torch.tensor([pos]), mask,
            torch.tensor(rows), torch.tensor(targets), torch.tensor(weights))


def loss_sum(model, batch):
    """Weighted sum of token losses; head logits at supervised positions only."""
    ids, pos, mask, rows, targets, weights = batch
    inner = model.get_base_model() if hasattr(model, "get_base_model") else model
    hidden = inner.model(input_ids=ids, position_ids=pos, attention_mask=mask, use_cache=False)[0]
    logits = inner.lm_head(hidden[0, rows])
    losses = torch.nn.functional.cross_entropy(logits, targets, reduction="none")
    return (losses * weights).sum()


def packs(samples, rng, max_tokens, branches):
    """Shuffle, group by equal beginnings, cut into packs of bounded size."""
    groups = {}
    for s in samples:
        groups.setdefault(s.group, []).append(s)
    out = []
    for key in sorted(groups):
        rows = groups[key]
        rng.shuffle(rows)
        current, size = [], 0
        for s in rows:
            # size with sharing is at most this; the prefix is not known yet
            if current and (len(current) >= branches or size + len(s.ids) - common_prefix([current[0], s]) > max_tokens):
                out.append(current)
                current, size = [], 0
            size += len(s.ids) if not current else len(s.ids) - common_prefix([current[0], s])
            current.append(s)
        if current:
            out.append(current)
    rng.shuffle(out)
    return out
