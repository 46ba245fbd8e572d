"""Exact label probabilities: every label's tokens and <|im_end|> scored, normalised over the labels.

Requests that start alike and the labels themselves share their tokens in a trie, computed in one
forward pass with a mask by which each token sees its ancestors only.
"""
import torch

from contract import chatml


def trie(sequences):
    """-> ids, parents, positions, and for each sequence its node per token."""
    ids, parents, positions, paths, children = [], [], [], [], {}
    for seq in sequences:
        node, path = -1, []
        for depth, token in enumerate(seq):
            key = (node, token)
            if key not in children:
                children[key] = len(ids)
                ids.append(token)
                parents.append(node)
                positions.append(depth)
            node = children[key]
            path.append(node)
        paths.append(path)
    return ids, parents, positions, paths


def sequence_logprobs(model, sequences, starts):
    """Sum of log p of the tokens from starts[i] on, for every sequence."""
    ids, parents, positions, paths = trie([s[:-1] for s in sequences])   # a last token is only predicted
    n = len(ids)
    visible = torch.zeros(n, n, dtype=torch.bool)
    for i, p in enumerate(parents):
        if p >= 0:
            visible[i] = visible[p]
        visible[i, i] = True
    mask = torch.zeros(1, 1, n, n).masked_fill_(~visible, torch.finfo(torch.float32).min)
    inner = model.get_base_model() if hasattr(model, "get_base_model") else model
    with torch.no_grad():
        hidden = inner.model(input_ids=torch.tensor([ids]), position_ids=torch.tensor([positions]),
                             attention_mask=mask, use_cache=False)[0][0]
        wanted = sorted({paths[i][j - 1] for i, s in enumerate(sequences) for j in range(starts[i], len(s))})
        logp = torch.log_softmax(inner.lm_head(hidden[wanted]).double(), dim=-1)
    row = {node: k for k, node in enumerate(wanted)}
    return [sum(logp[row[paths[i][j - 1]], s[j]].item() for j in range(starts[i], len(s)))
            for i, s in enumerate(sequences)]


def label_probabilities(model, tok, contract, requests, labels, entries=None, order=None, batch=12):
    """requests: [(text, previous or None)] -> [{label: probability}]"""
    encode = lambda text: tok(text, add_special_tokens=False).input_ids
    tails = [encode(label + "<|im_end|>") for label in labels]
    heads = []
    for text, previous in requests:
        heads.append(encode(chatml([
            {"role": "system", "content": contract.route_system(entries, order)},
            {"role": "user", "content": contract.route_user(text, previous)}], generate=True)))
    by_length = sorted(range(len(heads)), key=lambda i: len(heads[i]))
    out = [None] * len(heads)
    for k in range(0, len(by_length), batch):
        chosen = by_length[k:k + batch]
        sequences = [heads[i] + t for i in chosen for t in tails]
        starts = [len(heads[i]) for i in chosen for _ in tails]
        scores = sequence_logprobs(model, sequences, starts)
        for j, i in enumerate(chosen):
            own = torch.tensor(scores[j * len(tails):(j + 1) * len(tails)], dtype=torch.float64)
            out[i] = dict(zip(labels, torch.softmax(own, 0).tolist()))
    return out
