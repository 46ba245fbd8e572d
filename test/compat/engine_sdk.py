"""The engine's own server through the official OpenAI SDK.

usage: engine_sdk.py BASE_URL SCENARIO
"""

import asyncio
import json
import math
import sys

import openai

HELLO = [{"role": "user", "content": "Hello! Who are you?"}]
WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather of a city, today.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}


def check(condition, *told):
    if not condition:
        raise SystemExit("failed: " + " ".join(str(x) for x in told))


def models(client):
    cards = {m.id: m for m in client.models.list()}
    check(set(cards) == {"base", "L0", "L1", "L2", "L3", "encoder"}, "models", sorted(cards))
    check(cards["L2"].parent == "base" and cards["base"].max_model_len == 8192, "cards", cards)
    check(client.models.retrieve("L1").id == "L1", "L1 cannot be retrieved")
    return " ".join(cards)


def chat(client):
    said = {}
    for model in ("base", "L0", "L1", "L2", "L3"):
        a = client.chat.completions.create(model=model, messages=HELLO, max_tokens=24, temperature=0)
        check(a.model == model and a.choices[0].message.content, "answer", a)
        check(a.usage.total_tokens == a.usage.prompt_tokens + a.usage.completion_tokens, "usage", a.usage)
        said[model] = a.choices[0].message.content
    again = client.chat.completions.create(model="L0", messages=HELLO, max_tokens=24, temperature=0, n=2, logprobs=True, top_logprobs=2)
    check([c.message.content for c in again.choices] == [said["L0"]] * 2, "two greedy choices", again)
    content = again.choices[0].logprobs.content
    check("".join(t.token for t in content).startswith(said["L0"]), "tokens", content)
    check(all(len(t.top_logprobs) == 2 and t.logprob <= 0 for t in content), "log probabilities", content)
    return said["L0"]


def chat_streamed(client):
    whole = client.chat.completions.create(model="L3", messages=HELLO, max_tokens=24, temperature=0.8, seed=4)
    text, finish, usage = "", None, None
    for chunk in client.chat.completions.create(
        model="L3", messages=HELLO, max_tokens=24, temperature=0.8, seed=4, stream=True, stream_options={"include_usage": True}
    ):
        usage = chunk.usage or usage
        for choice in chunk.choices:
            text += choice.delta.content or ""
            finish = choice.finish_reason or finish
    check(text == whole.choices[0].message.content, "streamed", text, "whole", whole)
    check(finish == whole.choices[0].finish_reason and usage.completion_tokens == whole.usage.completion_tokens, "end", finish, usage)
    return text


def adapters_together(client):
    async def one(c, model):
        a = await c.completions.create(model=model, prompt="The best way to", max_tokens=16, temperature=0)
        return a.choices[0].text

    async def all_of_them():
        async with openai.AsyncOpenAI(base_url=client.base_url, api_key="none", max_retries=0) as c:
            return await asyncio.gather(*(one(c, m) for m in ["base", "L0", "L1", "L2", "L3"] * 2))

    together = asyncio.run(all_of_them())
    check(together[:5] == together[5:], "one adapter, two answers", together)
    alone = client.completions.create(model="L2", prompt="The best way to", max_tokens=16, temperature=0).choices[0].text
    check(alone == together[3], "alone", alone, "together", together[3])
    return f"{len(set(together))} different"


def completions(client):
    a = client.completions.create(
        model="base", prompt=["The capital of France is", "Two and two make"], max_tokens=4, temperature=0, echo=True, logprobs=2, stop=["\n"],
        extra_body={"return_token_ids": True, "min_tokens": 1, "cache_salt": "x"},
    )
    check([c.index for c in a.choices] == [0, 1] and a.choices[0].text.startswith("The capital of France is"), "choices", a)
    for c in a.choices:
        l = c.logprobs
        check(len(l.tokens) == len(l.token_logprobs) == len(l.text_offset) == len(l.top_logprobs), "lists", l)
        check(l.token_logprobs[0] is None and all(x <= 0 for x in l.token_logprobs[1:]), "log probabilities", l)
        check(len(c.prompt_token_ids) + len(c.token_ids) == len(l.tokens), "token ids", c)
    return a.choices[0].text


def scores(client):
    """Scoring a text as evaluation harnesses do: echo, nothing generated."""

    def score(text):
        l = client.completions.create(model="base", prompt=text, max_tokens=0, echo=True, logprobs=0).choices[0].logprobs
        return sum(l.token_logprobs[1:])

    right, wrong = score("The capital of France is Paris"), score("The capital of France is Bach")
    check(right > wrong, "Paris", right, "Bach", wrong)
    ids = client.completions.create(model="base", prompt=[504, 3575, 282, 4649, 314], max_tokens=1, extra_body={"prompt_logprobs": 1}).choices[0]
    check(ids.prompt_logprobs[0] is None and "314" in ids.prompt_logprobs[4], "prompt_logprobs", ids)
    return f"{right:.2f} > {wrong:.2f}"


def choices(client):
    for body in ({"structured_outputs": {"choice": ["yes", "no"]}}, {"guided_choice": ["yes", "no"]}):
        a = client.chat.completions.create(
            model="base", messages=[{"role": "user", "content": "Is fire hot?"}], temperature=0, logprobs=True, top_logprobs=2, extra_body=body
        ).choices[0]
        p = a.macaron["choice_probabilities"]
        check(a.message.content == max(p, key=p.get) and abs(sum(p.values()) - 1) < 1e-9, "choice", a)
        said = math.exp(sum(t.logprob for t in a.logprobs.content))
        check(abs(said - p[a.message.content]) < 1e-6, "the tokens say", said, "of", p)
    return json.dumps(p)


def tools_forced(client):
    ask = [{"role": "user", "content": "What is the weather in Paris? Use the tool."}]
    named = {"type": "function", "function": {"name": "get_weather"}}
    a = client.chat.completions.create(model="L1", messages=ask, tools=[WEATHER], tool_choice=named, max_tokens=64, temperature=0).choices[0]
    check(a.message.tool_calls and a.finish_reason == "tool_calls", "the model called nothing:", a)
    call = a.message.tool_calls[0]
    check(call.function.name == "get_weather" and "city" in json.loads(call.function.arguments), "call", call)
    name, arguments = "", ""
    for chunk in client.chat.completions.create(
        model="L1", messages=ask, tools=[WEATHER], tool_choice=named, max_tokens=64, temperature=0, stream=True
    ):
        for piece in chunk.choices[0].delta.tool_calls or []:
            name, arguments = name + (piece.function.name or ""), arguments + (piece.function.arguments or "")
    check((name, arguments) == (call.function.name, call.function.arguments), "streamed", name, arguments)
    none = client.chat.completions.create(model="L1", messages=ask, tools=[WEATHER], tool_choice="none", max_tokens=8, temperature=0)
    check(not none.choices[0].message.tool_calls, "a call that was not allowed", none)
    return f"{name}({arguments})"


def embeddings(client):
    # The SDK asks for base64 of its own accord, and decodes it.
    a = client.embeddings.create(model="encoder", input=["hello world", "a b c"])
    check(len(a.data) == 2 and a.usage.prompt_tokens > 4, "embeddings", a)
    for d in a.data:
        check(len(d.embedding) == 32 and sum(x * x for x in d.embedding) > 0, "vector", d.embedding)
    one = client.embeddings.create(model="encoder", input="hello world", encoding_format="float").data[0].embedding
    check(max(abs(x - y) for x, y in zip(one, a.data[0].embedding)) < 1e-7, "two forms of one vector differ")
    return f"{len(one)} dimensions"


def errors(client):
    def refused(kind, param, call):
        try:
            call()
        except kind as e:
            check(e.body["param"] == param and e.body["code"] == e.status_code, "told as", e.body)
            return
        check(False, "no error for", param)

    refused(openai.NotFoundError, "model", lambda: client.chat.completions.create(model="L9", messages=HELLO))
    refused(openai.BadRequestError, "temperature", lambda: client.chat.completions.create(model="base", messages=HELLO, temperature=-1))
    refused(openai.BadRequestError, "use_beam_search", lambda: client.completions.create(model="base", prompt="a", extra_body={"use_beam_search": True}))
    refused(openai.BadRequestError, "messages", lambda: client.chat.completions.create(model="base", messages=[]))
    refused(openai.BadRequestError, "dimensions", lambda: client.embeddings.create(model="encoder", input="a", dimensions=2))
    refused(openai.BadRequestError, None, lambda: client.completions.create(model="base", prompt="a " * 9000))
    return "told by status and parameter"


def async_together(client):
    async def one(c, n):
        text = ""
        stream = await c.chat.completions.create(
            model=f"L{n % 4}", messages=[{"role": "user", "content": f"Say the number {n}."}], max_tokens=12, stream=True
        )
        async for chunk in stream:
            text += chunk.choices[0].delta.content or "" if chunk.choices else ""
        return text

    async def all_of_them():
        async with openai.AsyncOpenAI(base_url=client.base_url, api_key="none", max_retries=0) as c:
            return await asyncio.gather(*(one(c, n) for n in range(12)))

    answers = asyncio.run(all_of_them())
    check(all(answers), "answers", answers)
    return f"{len(answers)} streams at once"


SCENARIOS = [models, chat, chat_streamed, adapters_together, completions, scores, choices, tools_forced, embeddings, errors, async_together]

if __name__ == "__main__":
    base, name = sys.argv[1:]
    by_name = {s.__name__: s for s in SCENARIOS}
    print(by_name[name](openai.OpenAI(base_url=base, api_key="none", max_retries=0, timeout=300)))
