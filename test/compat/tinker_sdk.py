"""The training service through the SDK of the Tinker protocol, or through MinT's on top of
it, whichever version PYTHONPATH has.

usage: tinker_sdk.py BASE_URL SCENARIO[,SCENARIO...]
"""

import atexit
import io
import json
import math
import os
import sys
import tarfile
import urllib.request

BASE = "HuggingFaceTB/SmolLM2-135M-Instruct"
MINT = os.environ.get("MACARON_MINT")
ELSEWHERE = os.environ.get("MACARON_ELSEWHERE")  # the base is trained by a backend of the server
KEY = os.environ.get("MACARON_KEY") or ("sk-mint-anything" if MINT else "tml-anything")

url = sys.argv[1].removesuffix("/v1")
os.environ.update(TINKER_BASE_URL=url, TINKER_API_KEY=KEY, MINT_BASE_URL=url, MINT_API_KEY=KEY)
if MINT:
    import mint as tinker
    from tinker import types
else:
    import tinker
    from tinker import types

import tinker as sdk

VERSION = tuple(int(x) for x in sdk.__version__.split(".")[:2])
TEXT = [504, 3575, 282, 4649, 314, 7042, 30]  # of the default model: any tokens will do


def check(condition, *told):
    if not condition:
        raise SystemExit("failed: " + " ".join(str(x) for x in told))


def refused(call, *words):
    try:
        got = call()
    except Exception as e:  # each version has classes of its own
        check(all(w in str(e) for w in words), "refused with", repr(e), "not with", words)
        return
    raise SystemExit(f"failed: not refused: {got}")


def datum(tokens=TEXT, weight=1.0, **more):
    return types.Datum(
        model_input=types.ModelInput.from_ints(tokens[:-1]),
        loss_fn_inputs={"target_tokens": tokens[1:], "weights": [weight] * (len(tokens) - 1), **more},
    )


def logprobs(output):
    return [list(o["logprobs"].data) for o in output.loss_fn_outputs]


def near(a, b, by=1e-4):
    return abs(a - b) <= by * max(1, abs(b))


def now(made):
    """What newer versions give as a future, and older ones at once."""
    return made.result() if hasattr(made, "result") else made


def adapter(service, **more):
    return now(service.create_lora_training_client(base_model=BASE, rank=4, seed=1, **more))


def same(a, b):
    """Equal as float32: bit for bit what the server has computed."""
    import numpy as np

    return np.array_equal(np.asarray(a, dtype=np.float32), np.asarray(b, dtype=np.float32))


def train(service):
    """Exact sums, accumulation until the step, and what is posted before it is awaited."""
    names = [m.model_name for m in service.get_server_capabilities().supported_models]
    check(BASE in names, "capabilities", names)
    client = adapter(service)
    info = client.get_info()
    check(info.lora_rank == 4 and info.is_lora and info.model_data.tokenizer_id, "info", info)
    data = [datum(), datum(TEXT[::-1], weight=-0.5)]
    backward = client.forward_backward(data, "cross_entropy")
    step = client.optim_step(types.AdamParams(learning_rate=1e-3))
    one = backward.result()
    step.result()
    values = logprobs(one)
    expected = -sum(values[0]) + 0.5 * sum(values[1])
    check(near(one.metrics["loss:sum"], expected), "a sum over all tokens, with signs", one.metrics, expected)
    check(all(k.count(":") == 1 for k in one.metrics), "names of metrics", one.metrics)
    losses = []
    for _ in range(3):
        backward = client.forward_backward([datum()], "cross_entropy")
        step = client.optim_step(types.AdamParams(learning_rate=1e-3))
        losses.append(backward.result().metrics["loss:sum"])
        step.result()
    check(losses[0] > losses[1] > losses[2], "the loss does not fall", losses)
    return f"loss {losses[0]:.2f} -> {losses[-1]:.2f}"


def forward_only(service):
    """An evaluation leaves no gradient behind."""
    client = adapter(service)
    before = logprobs(client.forward([datum()], "cross_entropy").result())
    client.optim_step(types.AdamParams(learning_rate=1e-1)).result()
    after = logprobs(client.forward([datum()], "cross_entropy").result())
    check(same(before, after), "an evaluation was trained on", before, after)


def losses(service):
    """Losses of reinforcement learning, against their formulas."""
    client = adapter(service)
    p = logprobs(client.forward([datum()], "cross_entropy").result())[0]
    q = [x - 0.1 * (-1) ** i for i, x in enumerate(p)]
    a = [1.0, -1.0, 0.5, 2.0, 0.0, -0.25]
    r = [math.exp(x - y) for x, y in zip(p, q)]
    clip = lambda x, low, high: min(max(x, low), high)
    one = types.Datum(
        model_input=types.ModelInput.from_ints(TEXT[:-1]),
        loss_fn_inputs={"target_tokens": TEXT[1:], "logprobs": q, "advantages": a},
    )
    expected = {
        "importance_sampling": -sum(x * y for x, y in zip(r, a)),
        "ppo": -sum(min(x * y, clip(x, 0.95, 1.05) * y) for x, y in zip(r, a)),
    }
    for name, want in expected.items():
        more = {"loss_fn_config": {"clip_low_threshold": 0.95, "clip_high_threshold": 1.05}} if name == "ppo" and VERSION >= (0, 15) else {}
        if name == "ppo" and not more:
            want = -sum(min(x * y, clip(x, 0.8, 1.2) * y) for x, y in zip(r, a))
        got = client.forward_backward([one], name, **more).result()
        check(near(got.metrics["loss:sum"], want, 1e-3), name, got.metrics, want)
        check(same(logprobs(got)[0], p), name, "gives other log probabilities")


def checkpoints(service):
    """What is saved comes back, with the optimizer: the next step gives the same bits."""
    client = adapter(service)
    adam = types.AdamParams(learning_rate=1e-3)

    def learn(c):
        out = c.forward_backward([datum()], "cross_entropy")
        c.optim_step(adam).result()
        return logprobs(out.result())

    learn(client)
    path = client.save_state("one").result().path
    check(path.startswith("tinker://") and path.endswith("/weights/one"), path)
    on = [learn(client), learn(client)]
    if VERSION >= (0, 15):
        again = now(service.create_training_client_from_state_with_optimizer(path))
    else:
        again = adapter(service)
        again.load_state_with_optimizer(path).result()
    check(same([learn(again), learn(again)], on), "after a load with the optimizer")
    bare = now(service.create_training_client_from_state(path))
    check(same(learn(bare), on[0]) and not same(learn(bare), on[1]), "after a load without the optimizer")
    return path


def samples(service):
    """One engine: what is sampled, scored and trained on has the same log probabilities."""
    client = adapter(service)
    for _ in range(2):
        client.forward_backward([datum()], "cross_entropy")
        client.optim_step(types.AdamParams(learning_rate=1e-3)).result()
    durable = client.save_weights_for_sampler("one").result().path
    check(durable.endswith("/sampler_weights/one"), durable)
    by_path = now(service.create_sampling_client(model_path=durable))
    ephemeral = now(client.save_weights_and_get_sampling_client("ignored"))
    trained = logprobs(client.forward([datum()], "cross_entropy").result())[0]
    prompt = types.ModelInput.from_ints(TEXT)
    for sampler in (by_path, ephemeral):
        scored = sampler.compute_logprobs(prompt).result()
        check(scored[0] is None and same(scored[1:], trained), "scores", scored, trained)
    params = types.SamplingParams(max_tokens=6, seed=7, temperature=1.0)
    got = [s.sample(prompt=prompt, num_samples=2, sampling_params=params, include_prompt_logprobs=True).result() for s in (by_path, by_path, ephemeral)]
    tokens = [[list(q.tokens) for q in g.sequences] for g in got]
    check(tokens[0] == tokens[1] == tokens[2], "a seed gives the same", tokens)
    check(tokens[0][0] != tokens[0][1], "two samples of one seed", tokens)
    check(same(got[0].prompt_logprobs[1:], trained), "prompt log probabilities")
    for q in got[0].sequences:
        check(q.stop_reason in ("stop", "length") and len(q.logprobs) == len(q.tokens) and all(x <= 0 for x in q.logprobs), q)
        whole = TEXT + list(q.tokens)
        replayed = logprobs(client.forward([datum(whole)], "cross_entropy").result())[0]
        check(same(replayed[len(TEXT) - 1 :], list(q.logprobs)), "sampled and trained on", replayed[len(TEXT) - 1 :], q.logprobs)
    short = by_path.sample(prompt=prompt, num_samples=1, sampling_params=types.SamplingParams(max_tokens=4, stop=tokens[0][0][:1], seed=7)).result().sequences[0]
    check(short.stop_reason == "stop" and list(short.tokens) == tokens[0][0][:1], "a stop token belongs to the answer", short)
    top = by_path.sample(prompt=prompt, num_samples=1, sampling_params=params, include_prompt_logprobs=True, topk_prompt_logprobs=3).result().topk_prompt_logprobs
    check(len(top) == len(TEXT) and not top[0] and all(len(row) == 3 for row in top[1:]), "alternatives", top)
    base = now(service.create_sampling_client(base_model=BASE))
    check(not same(base.compute_logprobs(prompt).result()[1:], trained), "the base is the adapter")


def listings(service):
    """What REST clients see, and an archive that PEFT reads."""
    client = adapter(service)
    run = client.model_id if hasattr(client, "model_id") else client.get_info().model_id
    saved = client.save_state("kept").result().path
    durable = client.save_weights_for_sampler("served").result().path
    rest = service.create_rest_client()
    runs = rest.list_training_runs().result()
    check(run in [r.training_run_id for r in runs.training_runs] and runs.cursor.total_count >= 1, "runs", runs)
    one = rest.get_training_run(run).result()
    check(one.base_model == BASE and one.lora_rank == 4 and one.last_checkpoint.tinker_path == saved, "run", one)
    kinds = {c.checkpoint_type: c for c in rest.list_checkpoints(run).result().checkpoints}
    check(set(kinds) == {"training", "sampler"} and kinds["sampler"].tinker_path == durable, "checkpoints", kinds)
    check(len(rest.list_user_checkpoints().result().checkpoints) >= 2, "all checkpoints")
    info = now(rest.get_weights_info_by_tinker_path(saved))
    check(info.base_model == BASE and info.lora_rank == 4, "weights_info", info)
    if ELSEWHERE:
        refused(lambda: rest.publish_checkpoint_from_tinker_path(saved).result(), "elsewhere")
    else:
        rest.publish_checkpoint_from_tinker_path(saved).result()
        check([c.public for c in rest.list_checkpoints(run).result().checkpoints if c.tinker_path == saved] == [True], "published")
        rest.unpublish_checkpoint_from_tinker_path(saved).result()
    if VERSION == (0, 22):
        files = ["adapter_config.json", "adapter_model.safetensors"]  # its own request for an archive fails in the SDK
    elif hasattr(rest, "get_checkpoint_archive_url_from_tinker_path"):
        place = rest.get_checkpoint_archive_url_from_tinker_path(durable).result().url
        files = tarfile.open(fileobj=io.BytesIO(urllib.request.urlopen(place).read())).getnames()
    else:
        external = client.save_weights_external("out").result().path
        files = rest.get_external_weights_urls(external).result().urls
        place = files["adapter_config.json"]
        check(b'"r"' in urllib.request.urlopen(place).read(), place)
    check({"adapter_config.json", "adapter_model.safetensors"} <= set(files), "archive", files)
    if hasattr(rest, "set_checkpoint_ttl_from_tinker_path"):
        rest.set_checkpoint_ttl_from_tinker_path(saved, 7200).result()
        kept = [c for c in rest.list_checkpoints(run).result().checkpoints if c.tinker_path == saved]
        check(kept[0].expires_at is not None, "time to live", kept)
    if hasattr(rest, "search_sessions"):
        check(rest.search_sessions(types.SessionSearchRequest(limit=5)).result().sessions, "search")
    check(rest.list_sessions().result().sessions, "sessions")
    rest.delete_checkpoint_from_tinker_path(durable).result()
    left = [c.tinker_path for c in rest.list_checkpoints(run).result().checkpoints]
    check(durable not in left and saved in left, "after a deletion", left)


def both(service):
    """One session trains a model here and one elsewhere, in turns. It is the same base under
    two names, so every bit is the same; neither knows of the other."""
    names = [m.model_name for m in service.get_server_capabilities().supported_models]
    own = [n for n in names if n != BASE]
    check(own and BASE in names, "two bases", names)
    clients = [now(service.create_lora_training_client(base_model=n, rank=4, seed=1)) for n in (own[0], BASE)]
    for _ in range(3):
        posted = [(c.forward_backward([datum()], "cross_entropy"), c.optim_step(types.AdamParams(learning_rate=1e-3))) for c in clients]
        values = [logprobs(backward.result()) for backward, _ in posted]
        for _, step in posted:
            step.result()
        check(same(values[0], values[1]), "the two differ", values)
    paths = [now(c.save_state("both")).path for c in clients]
    check(len(set(paths)) == 2, "paths of checkpoints", paths)
    tokens = []
    for c in clients:
        sampler = now(c.save_weights_and_get_sampling_client("both"))
        params = types.SamplingParams(max_tokens=8, temperature=1.0, seed=3)
        tokens.append(list(sampler.sample(types.ModelInput.from_ints(TEXT), num_samples=1, sampling_params=params).result().sequences[0].tokens))
    check(tokens[0] == tokens[1], "the samples differ", tokens)
    return f"{own[0]} here, {BASE} elsewhere"


def errors(service):
    """Refusals are told, and nothing hangs after them."""
    client = adapter(service)
    refused(lambda: client.forward_backward([datum([9, 10**9, 3])], "cross_entropy").result(), "vocabulary")
    refused(lambda: client.forward_backward([datum()], "importance_sampling").result(), "advantages")
    refused(lambda: now(service.create_lora_training_client(base_model="no/such-model", rank=4)), "no/such-model")
    refused(lambda: client.load_state(f"tinker://{client.get_info().model_id}/weights/none").result(), "none")
    refused(lambda: now(service.create_sampling_client(base_model="no/such-model")).sample(types.ModelInput.from_ints([1]), num_samples=1, sampling_params=types.SamplingParams(max_tokens=1)).result(), "no/such-model")
    client.forward_backward([datum()], "cross_entropy").result()
    client.optim_step(types.AdamParams(learning_rate=1e-3)).result()


def parts(service):
    """One forward_backward in three requests, of which the SDK sends the first one last."""
    client = adapter(service)
    data = [datum([i + 10, i + 11, i + 12]) for i in range(2100)]
    out = client.forward_backward(data, "cross_entropy")
    client.optim_step(types.AdamParams(learning_rate=1e-3))
    got = logprobs(out.result())
    check(len(got) == len(data) and near(out.result().metrics["loss:sum"], -sum(map(sum, got))), "joined", len(got))


def custom(service):
    """A loss that the client computes, for which torch must be there."""
    import torch

    client = adapter(service)

    def loss(data, values):
        total = sum((v**2).sum() for v in values)
        return total, {"squares": float(total)}

    got = client.forward_backward_custom([datum()], loss).result()
    p = logprobs(client.forward([datum()], "cross_entropy").result())[0]
    check(near(got.metrics["squares"], sum(x * x for x in p), 1e-3), got.metrics)


def learn(client, steps):
    """Log probabilities of some steps, as the server has computed them."""
    out = []
    for _ in range(steps):
        passed = client.forward_backward([datum()], "cross_entropy")
        client.optim_step(types.AdamParams(learning_rate=1e-2)).result()
        out.append(logprobs(passed.result())[0])
    return out


def published(service):
    """A revision that was trained, and how the training goes on behind it."""
    client = adapter(service)
    learn(client, 3)
    client.save_state("trained").result()
    client.save_weights_for_sampler("trained").result()
    with open(os.environ["MACARON_TOLD"], "w") as f:
        json.dump(learn(client, 2), f)


def carried(service):
    """The training goes on in another process, from what came there with the revision."""
    with open(os.environ["MACARON_TOLD"]) as f:
        on = json.load(f)
    client = now(service.create_training_client_from_state_with_optimizer(os.environ["MACARON_STATE"]))
    check(same(learn(client, 2), on), "after a move with the optimizer")


def finished(service):
    """A session that has ended takes nothing more, and ends only once."""
    if VERSION < (0, 25):
        return "not in this version"
    with tinker.ServiceClient() as other:
        adapter(other)
    return "left"


def main():
    service = tinker.ServiceClient()
    for name in sys.argv[2].split(","):
        print(f"tinker {sdk.__version__}{' under mint ' + tinker.__version__ if MINT else ''}: {name}: {globals()[name](service) or 'ok'}", flush=True)


main()
# The SDK's threads are daemons with native code in them, and once in many runs the interpreter
# aborts when it takes itself apart around them. What the SDK does at its end is done; the rest,
# in which no server has a part, is left out. Whatever fails above has not come here.
atexit._run_exitfuncs()
os._exit(0)
