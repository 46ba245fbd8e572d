"""How often a run of math_rl env=arithmetic adds rightly in the end: pairs that it was trained on, and pairs that it was not.

    unseen.py RUN PAIRS

A pair whose numbers were asked for in the other order counts as trained on. Prompts and marks are those of the recipe's own
environment; 8 answers of 5 tokens at most at temperature 1, and the likeliest one. Prints rows of a table, with 95 %
t intervals in which a pair is the unit; the t is that of 200 pairs, so that intervals of fewer are too narrow.
"""

import asyncio
import json
import random
import statistics
import sys

import tinker
from tinker_cookbook.recipes.math_rl.arithmetic_env import ArithmeticDatasetBuilder, ArithmeticEnv

import recipe  # registers macaron/lines

NAME = "HuggingFaceTB/SmolLM2-135M-Instruct"  # a directory with the tokenizer, where this runs
ANSWERS, BATCHES, GROUPS = 8, 100, 16


def asked(data):
    """Every pair of the recipe's batches, the smaller number first."""
    pairs = set()
    for index in range(BATCHES):
        for builder in data.get_batch(index):
            env = builder.env_thunk()
            pairs.add((min(env.x, env.y), max(env.x, env.y)))
    return pairs


async def right(client, renderer, pair, temperature, answers):
    """The share of answers to a pair that are right."""
    env = ArithmeticEnv(*pair, renderer=renderer, convo_prefix=ArithmeticEnv.standard_fewshot_prefix())
    prompt, stop = await env.initial_observation()
    drawn = tinker.SamplingParams(max_tokens=5, temperature=temperature, stop=stop, seed=pair[0] * 101 + pair[1])
    out = await client.sample_async(prompt=prompt, num_samples=answers, sampling_params=drawn)
    results = [await env.step(list(s.tokens)) for s in out.sequences]
    return statistics.mean(r.metrics["correct"] for r in results)


def told(shares):
    mean, half = statistics.mean(shares), 1.97 * statistics.stdev(shares) / len(shares) ** 0.5
    return f"{mean:.3f} [{mean - half:.3f}, {mean + half:.3f}]"


async def main(run, pairs):
    data, _ = await ArithmeticDatasetBuilder(batch_size=GROUPS, model_name_for_tokenizer=NAME, renderer_name="macaron/lines", n_batches=BATCHES, group_size=1)()
    seen, rng = asked(data), random.Random(1)
    fresh = [(x, y) for x in range(101) for y in range(x, 101) if (x, y) not in seen]
    with open(f"{run}/checkpoints.jsonl") as f:
        path = [json.loads(row)["sampler_path"] for row in f][-1]
    client = tinker.ServiceClient().create_sampling_client(model_path=path)
    for name, among in (("trained on", sorted(seen)), ("new", fresh)):
        drawn = [pair if rng.random() < 0.5 else pair[::-1] for pair in rng.sample(among, int(pairs))]
        often = await asyncio.gather(*(right(client, data.renderer, pair, 1.0, ANSWERS) for pair in drawn))
        likeliest = await asyncio.gather(*(right(client, data.renderer, pair, 0.0, 1) for pair in drawn))
        print(f"| {run} | {name}, {len(drawn)} of {len(among)} | {told(often)} | {told(likeliest)} |", flush=True)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
