"""Conversations with a running server through the official OpenAI SDK.

usage: sdk.py BASE_URL SCENARIO
"""

import asyncio
import json
import sys

import openai

QUESTIONS = [
    "Hi there! What can you do for me?",
    "Write a bash one-liner that counts the files in a directory.",
    "Which planet is the largest?",
    "Book a table for two on Friday evening.",
    "Thanks. Please repeat my first question.",
]
WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather of a city, today.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string", "maxLength": 12}},
            "required": ["city"],
        },
    },
}


def check(condition, *told):
    if not condition:
        raise SystemExit("failed: " + " ".join(str(x) for x in told))


def facts(answer):
    """The macaron object of an answer or a chunk."""
    found = (answer.model_extra or {}).get("macaron")
    check(found, "no macaron object in", answer)
    return found


def check_routed(m):
    check(m["reason"] == "model", "routed by", m["reason"])
    check(abs(sum(m["probabilities"].values()) - 1) < 1e-3, "probabilities", m["probabilities"])
    check(m["adapter"] in m["probabilities"], m["adapter"], "is not among", m["probabilities"])
    check([h["hop"] for h in m["hops"]] == ["route", "answer"], "hops", m["hops"])


def models(client):
    names = [m.id for m in client.models.list()]
    check("macaron" in names and "macaron/L2" in names, "models", names)
    check(client.models.retrieve("macaron").id == "macaron", "macaron cannot be retrieved")
    return " ".join(names)


def five_turns(client):
    history, session, turns, adapters = [], None, set(), []
    for question in QUESTIONS:
        history.append({"role": "user", "content": question})
        raw = client.chat.completions.with_raw_response.create(model="macaron", messages=history, max_tokens=24)
        answer = raw.parse()
        m, choice = facts(answer), answer.choices[0]
        check_routed(m)
        session = session or m["session"]
        check(m["session"] == session, "session", m["session"], "was", session)
        check(m["turn"] not in turns, "turn", m["turn"], "came twice")
        check(raw.headers["x-macaron-adapter"] == m["adapter"], "headers", dict(raw.headers))
        check(choice.finish_reason in ("stop", "length"), "finish", choice.finish_reason)
        check(choice.message.content, "an empty answer to", question)
        check(answer.usage.completion_tokens > 0 and answer.usage.prompt_tokens > 0, "usage", answer.usage)
        turns.add(m["turn"])
        adapters.append(m["adapter"])
        history.append({"role": "assistant", "content": choice.message.content})
    return " ".join(adapters)


def five_turns_streamed(client):
    history, session, adapters = [{"role": "system", "content": "Be brief."}], None, []
    for question in QUESTIONS:
        history.append({"role": "user", "content": question + " (in short)"})
        text, pieces, finish, m, usage = "", 0, None, None, None
        stream = client.chat.completions.create(
            model="macaron", messages=history, max_tokens=24, stream=True, stream_options={"include_usage": True}
        )
        for chunk in stream:
            m = (chunk.model_extra or {}).get("macaron", m)
            usage = chunk.usage or usage
            for choice in chunk.choices:
                finish = choice.finish_reason or finish
                if choice.delta.content:
                    text += choice.delta.content
                    pieces += 1
        check(finish in ("stop", "length"), "finish", finish)
        check(pieces > 1, pieces, "pieces:", text)
        check(usage and usage.completion_tokens > 0, "usage", usage)
        check_routed(m)
        session = session or m["session"]
        check(m["session"] == session, "session", m["session"], "was", session)
        adapters.append(m["adapter"])
        history.append({"role": "assistant", "content": text})
    return " ".join(adapters)


def forced(client):
    for label in ("L0", "L1", "L2", "L3"):
        answer = client.chat.completions.create(
            model="macaron/" + label, messages=[{"role": "user", "content": "Hello, " + label}], max_tokens=8, temperature=0, seed=1
        )
        m = facts(answer)
        check(m["adapter"] == label and m["reason"] == "forced", label, "was asked for, answered by", m)
        check([h["hop"] for h in m["hops"]] == ["answer"], "a forced turn has hops", m["hops"])
    return "L0 L1 L2 L3"


def tools(client):
    messages = [{"role": "user", "content": "What is the weather in Paris? Use the tool."}]
    answer = client.chat.completions.create(model="macaron/L1", messages=messages, tools=[WEATHER], max_tokens=64, temperature=0)
    first, said = facts(answer), answer.choices[0].message
    check(said.tool_calls, "the model called no tool but said", said.content)
    call = said.tool_calls[0]
    check(answer.choices[0].finish_reason == "tool_calls", "finish", answer.choices[0].finish_reason)
    check(call.function.name == "get_weather", "called", call.function.name)
    messages.append(said.model_dump(exclude_none=True))
    messages += [{"role": "tool", "tool_call_id": c.id, "content": '{"sky": "clear", "celsius": 21}'} for c in said.tool_calls]
    answer = client.chat.completions.create(model="macaron", messages=messages, tools=[WEATHER], max_tokens=48, temperature=0)
    then = facts(answer)
    check(then["turn"] == first["turn"], "the results went to turn", then["turn"], "not", first["turn"])
    check(then["adapter"] == "L1", "the results went to", then["adapter"])
    check(answer.choices[0].message.content or answer.choices[0].message.tool_calls, "an empty answer")
    return f"{call.function.name}({call.function.arguments})"


def forced_tools(client):
    """Five turns, each with a call that is forced and its result, whole and streamed."""
    said = []
    for stream in (False, True):
        history, session, turns = [], None, set()
        for n, city in enumerate(("Paris", "Rome", "Oslo", "Lima", "Cairo")):
            history.append({"role": "user", "content": f"What is the weather in {city}? (Python, {stream})"})
            request = dict(model="macaron/L1", tools=[WEATHER], tool_choice={"type": "function", "function": {"name": "get_weather"}}, max_tokens=64, temperature=0)
            choice, first = finished(client, stream, messages=history, **request)
            check(len(choice.message.tool_calls) == 1, "calls", choice)
            call = choice.message.tool_calls[0]
            city = json.loads(call.function.arguments)["city"]
            check(call.function.name == "get_weather" and isinstance(city, str), "call", call)
            history.append(choice.message.model_dump(exclude_none=True, include={"role", "content", "tool_calls"}))
            history.append({"role": "tool", "tool_call_id": call.id, "content": json.dumps({"sky": "clear", "celsius": 20 + n})})
            request.update(model="macaron", tool_choice="none", max_tokens=24)
            choice, then = finished(client, stream, messages=history, **request)
            session = session or first["session"]
            check(first["session"] == then["session"] == session, "sessions", first, then)
            check(first["turn"] == then["turn"] not in turns, "turns", first, then)
            turns.add(first["turn"])
            history.append({"role": "assistant", "content": choice.message.content})
            said.append(city)
    return " ".join(said)


def finished(client, stream, **request):
    """The choice of an answer and its macaron object; the SDK adds streams up."""
    if not stream:
        answer = client.chat.completions.create(**request)
        return answer.choices[0], facts(answer)
    m, pieces = None, 0
    with client.chat.completions.stream(**request) as events:
        for e in events:
            if e.type == "chunk":
                m = (e.chunk.model_extra or {}).get("macaron", m)
            pieces += e.type in ("content.delta", "tool_calls.function.arguments.delta")
        answer = events.get_final_completion()
    check(pieces > 1, pieces, "pieces of", answer)
    return answer.choices[0], m


def errors(client):
    try:
        client.chat.completions.create(model="macaron/L9", messages=[{"role": "user", "content": "hi"}])
        check(False, "an unknown adapter answered")
    except openai.NotFoundError as e:
        check(e.code in ("adapter_not_found", "model_not_found"), "code", e.code)
    try:
        client.chat.completions.create(model="macaron", messages=[])
        check(False, "an empty conversation was answered")
    except openai.BadRequestError as e:
        check(e.param == "messages", "param", e.param)
    try:
        client.chat.completions.create(model="macaron", messages=[{"role": "user", "content": "hi"}], temperature=-1)
        check(False, "a negative temperature was taken")
    except openai.BadRequestError as e:
        check(e.param == "temperature", "param", e.param)
    return "told by code and field"


def async_together(client):
    async def one(n):
        async with openai.AsyncOpenAI(base_url=client.base_url, api_key="none", max_retries=0) as c:
            text = ""
            stream = await c.chat.completions.create(
                model="macaron/L0", messages=[{"role": "user", "content": f"Say the number {n}."}], max_tokens=12, stream=True
            )
            async for chunk in stream:
                text += chunk.choices[0].delta.content or "" if chunk.choices else ""
            return text

    async def all_of_them():
        return await asyncio.gather(*(one(n) for n in range(4)))

    answers = asyncio.run(all_of_them())
    check(all(answers), "answers", answers)
    return f"{len(answers)} streams at once"


SCENARIOS = [models, five_turns, five_turns_streamed, forced, tools, forced_tools, errors, async_together]

if __name__ == "__main__":
    base, name = sys.argv[1:]
    by_name = {s.__name__: s for s in SCENARIOS}
    print(by_name[name](openai.OpenAI(base_url=base, api_key="none", max_retries=0, timeout=300)))
