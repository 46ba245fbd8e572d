"""Conversations with a running server through the official Anthropic SDK.

usage: anthropic_sdk.py BASE_URL SCENARIO,...
"""

import asyncio
import json
import sys

import anthropic
import openai

QUESTIONS = [
    "Good day! What can you do for me?",
    "Write a bash one-liner that lists the largest files.",
    "Which river is the longest?",
    "Book a table for three on Monday evening.",
    "Thanks. Please repeat my first question.",
]
WEATHER = {
    "name": "get_weather",
    "description": "The weather of a city, today.",
    "input_schema": {"type": "object", "properties": {"city": {"type": "string", "maxLength": 12}}, "required": ["city"], "additionalProperties": False},
}
GREEDY = {"temperature": 0}  # a field that the SDK leaves to the body
CITIES = ["Paris", "Rome", "Oslo", "Lima", "Cairo"]


def check(condition, *told):
    if not condition:
        raise SystemExit("failed: " + " ".join(str(x) for x in told))


def facts(answer):
    """The macaron object of a message or of a message_delta."""
    found = (answer.model_extra or {}).get("macaron")
    check(found, "no macaron object in", answer)
    return found


def check_usage(usage, m):
    """The usage sums the hops, and the input leaves out what the cache had."""
    hops = m["hops"]
    cached = sum(h["cached_tokens"] for h in hops)
    check(usage.cache_read_input_tokens == cached, "cached", usage, hops)
    check(usage.input_tokens == sum(h["prompt_tokens"] for h in hops) - cached, "input", usage, hops)
    check(usage.output_tokens == sum(h["output_tokens"] for h in hops) > 0, "output", usage, hops)


def check_routed(m):
    check(m["reason"] == "model", "routed by", m["reason"])
    check(abs(sum(m["probabilities"].values()) - 1) < 1e-3, "probabilities", m["probabilities"])


def check_order(events):
    """The order of a stream's events, beyond what the SDK's accumulator needs."""
    check(events[0].type == "message_start" and events[-1].type == "message_stop" and events[-2].type == "message_delta", "ends", [e.type for e in events])
    check(events[0].message.content == [] and events[0].message.stop_reason is None, "head", events[0])
    opened, count = None, 0
    for e in events[1:-2]:
        if e.type == "content_block_start":
            check(opened is None and e.index == count, "block", e, "while", opened, "is open")
            opened, count = e.index, count + 1
        elif e.type == "content_block_delta":
            check(e.index == opened, "a piece of", e.index, "while", opened, "is open")
        elif e.type == "content_block_stop":
            check(e.index == opened, "end of", e.index, "while", opened, "is open")
            opened = None
        else:
            check(False, "an event", e.type, "between the blocks")
    check(opened is None, "block", opened, "stays open")


def streamed(client, **request):
    """A streamed message: what the SDK accumulates, checked against the raw events."""
    raw = ("message_start", "message_delta", "message_stop", "content_block_start", "content_block_delta", "content_block_stop")
    events = []
    with client.messages.stream(**request) as stream:
        for e in stream:
            if e.type in raw:
                events.append(e)
        message = stream.get_final_message()
    check_order(events)
    m = facts(events[-2])
    check(events[-2].delta.stop_reason == message.stop_reason, "reason", message.stop_reason)
    check(stream.response.headers["x-macaron-adapter"] == m["adapter"], "headers", dict(stream.response.headers))
    return message, m


def models(client):
    names = [m.id for m in client.models.list(limit=2)]  # page after page
    check(names[0] == "macaron" and "macaron/L2" in names and len(names) == len(set(names)) > 2, "models", names)
    card = client.models.retrieve("macaron/L2")
    check(card.id == "macaron/L2" and card.display_name and card.created_at.year > 2000, "card", card)
    return " ".join(names)


def five_turns(client):
    history, session, turns, adapters = [], None, set(), []
    for question in QUESTIONS:
        history.append({"role": "user", "content": question})
        raw = client.messages.with_raw_response.create(model="macaron", messages=history, max_tokens=24, system="Be brief.")
        answer = raw.parse()
        m = facts(answer)
        check_routed(m)
        check_usage(answer.usage, m)
        session = session or m["session"]
        check(m["session"] == session and m["turn"] not in turns, "session", m["session"], "turn", m["turn"])
        check(raw.headers["x-macaron-turn"] == m["turn"] and raw.headers["request-id"] == answer._request_id, "headers", dict(raw.headers))
        check(answer.stop_reason in ("end_turn", "max_tokens") and answer.stop_sequence is None, "reason", answer.stop_reason)
        check(len(answer.content) == 1 and answer.content[0].text, "content", answer.content)
        turns.add(m["turn"])
        adapters.append(m["adapter"])
        history.append(answer.to_param())
    return " ".join(adapters)


def five_turns_streamed(client):
    history, session, adapters = [], None, []
    for question in QUESTIONS:
        history.append({"role": "user", "content": [{"type": "text", "text": question + " (in short)", "cache_control": {"type": "ephemeral"}}]})
        message, m = streamed(client, model="macaron", messages=history, max_tokens=24)
        check_routed(m)
        check_usage(message.usage, m)
        session = session or m["session"]
        check(m["session"] == session, "session", m["session"], "was", session)
        check(m["ignored"] == ["messages[].content[].cache_control"], "ignored", m["ignored"])
        check(message.content[0].text, "content", message.content)
        adapters.append(m["adapter"])
        history.append(message.to_param())
    return " ".join(adapters)


def forced_tools(client):
    """Five turns, each with a call that is forced and its result, streamed by turns."""
    history, session, said = [], None, []
    for n, city in enumerate(CITIES):
        history.append({"role": "user", "content": f"What is the weather in {city}?"})
        request = dict(model="macaron/L1", tools=[WEATHER], tool_choice={"type": "tool", "name": "get_weather", "disable_parallel_tool_use": True}, max_tokens=64, extra_body=GREEDY)
        if n % 2:
            answer, m = streamed(client, messages=history, **request)
        else:
            answer = client.messages.create(messages=history, **request)
            m = facts(answer)
        calls = [b for b in answer.content if b.type == "tool_use"]
        check(answer.stop_reason == "tool_use" and len(calls) == 1, "turn", n, "gave", answer)
        check(calls[0].name == "get_weather" and isinstance(calls[0].input["city"], str), "call", calls[0])
        history.append(answer.to_param())
        result = [{"type": "text", "text": json.dumps({"sky": "clear", "celsius": 20 + n})}]
        history.append({"role": "user", "content": [{"type": "tool_result", "tool_use_id": calls[0].id, "content": result, "is_error": n == 3}]})
        request.update(model="macaron", tool_choice={"type": "none"}, max_tokens=24)
        answer = client.messages.create(messages=history, **request)
        then = facts(answer)
        check(then["turn"] == m["turn"] and then["reason"] == "sticky" and then["adapter"] == "L1", "the results of", m["turn"], "went to", then)
        session = session or m["session"]
        check(m["session"] == then["session"] == session, "session", m["session"], then["session"], "was", session)
        history.append(answer.to_param())
        said.append(calls[0].input["city"])
    return " ".join(said)


def any_tool(client):
    answer, _ = streamed(client, model="macaron/L1", messages=[{"role": "user", "content": "And the weather in Bern?"}], tools=[WEATHER], tool_choice={"type": "any"}, max_tokens=96)
    check(answer.stop_reason == "tool_use" and all(b.type == "tool_use" for b in answer.content), "content", answer.content)
    return json.dumps(answer.content[0].input)


def counting(client):
    history = [{"role": "user", "content": "How long is this, told in tokens?"}]
    for model in ("macaron/L1", "macaron/L3"):
        count = client.messages.count_tokens(model=model, messages=history, system="Be brief.", tools=[WEATHER]).input_tokens
        answer = client.messages.create(model=model, messages=history, system="Be brief.", tools=[WEATHER], tool_choice={"type": "auto"}, max_tokens=1, metadata={"user_id": model})
        used = answer.usage.input_tokens + answer.usage.cache_read_input_tokens
        check(count == used > 20, model, "counted", count, "used", answer.usage)
    longer = client.messages.count_tokens(model="macaron", messages=history + [{"role": "assistant", "content": "So long."}, {"role": "user", "content": "And now?"}]).input_tokens
    return f"{count} {longer}"


def stops(client):
    ask = dict(model="macaron/L0", messages=[{"role": "user", "content": "Count from one to twenty, in words."}], max_tokens=32, extra_body=GREEDY)
    text = client.messages.create(**ask).content[0].text
    stop = text.split()[2]
    answer = client.messages.create(stop_sequences=["never said", stop], **ask)
    check(answer.stop_reason == "stop_sequence" and answer.stop_sequence == stop, "stopped by", answer.stop_reason, answer.stop_sequence, "in", text)
    check(answer.content[0].text == text[: text.index(stop)], "kept", answer.content)
    message, _ = streamed(client, stop_sequences=[stop], **ask)
    check(message.stop_sequence == stop and message.content[0].text == answer.content[0].text, "streamed", message)
    shape = {"type": "object", "properties": {"n": {"type": "integer", "maximum": 9, "minimum": 0}}, "required": ["n"], "additionalProperties": False}
    held = client.messages.create(output_config={"format": {"type": "json_schema", "schema": shape}}, **ask)
    check(set(json.loads(held.content[0].text)) == {"n"}, "held to a schema:", held.content)
    return repr(stop)


def two_sdks(client):
    """One conversation, by turns through the SDKs of two makers."""
    other = openai.OpenAI(base_url=str(client.base_url).rstrip("/") + "/v1", api_key="none", max_retries=0, timeout=300)
    history, sessions = [], set()
    for n, question in enumerate(QUESTIONS):
        history.append({"role": "user", "content": question + " (twice)"})
        if n % 2:
            answer = client.messages.create(model="macaron", messages=history, max_tokens=16)
            text = answer.content[0].text
        else:
            answer = other.chat.completions.create(model="macaron", messages=history, max_tokens=16)
            text = answer.choices[0].message.content
        sessions.add(facts(answer)["session"])
        history.append({"role": "assistant", "content": text})
    check(len(sessions) == 1, "sessions", sessions)
    return sessions.pop()


def errors(client):
    hi = [{"role": "user", "content": "hi"}]
    picture = [{"role": "user", "content": [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}]}]
    for kind, name, param, request in (
        (anthropic.NotFoundError, "not_found_error", "model", dict(model="macaron/L9", messages=hi)),
        (anthropic.NotFoundError, "not_found_error", "model", dict(model="claude", messages=hi)),
        (anthropic.BadRequestError, "invalid_request_error", "messages", dict(model="macaron", messages=[])),
        (anthropic.BadRequestError, "invalid_request_error", "temperature", dict(model="macaron", messages=hi, extra_body={"temperature": 2})),
        (anthropic.BadRequestError, "invalid_request_error", "messages[0].content", dict(model="macaron", messages=picture)),
        (anthropic.BadRequestError, "invalid_request_error", "tools[0].type", dict(model="macaron", messages=hi, tools=[{"type": "web_search_20250305", "name": "web_search"}])),
        (anthropic.BadRequestError, "invalid_request_error", "messages[1].role", dict(model="macaron", messages=hi + [{"role": "assistant", "content": "The answer is"}])),
    ):
        for mode in (False, True):
            try:
                client.messages.create(max_tokens=8, stream=mode, **request)
                check(False, "answered", request)
            except kind as e:
                told = e.body["error"]
                check(told["type"] == name and told["param"] == param and e.request_id == e.body["request_id"], "told", e.body)
    try:
        client.models.retrieve("gpt")
        check(False, "a model that is not there")
    except anthropic.NotFoundError as e:
        check(e.body["type"] == "error", "told", e.body)
    return "told by type and field"


def async_together(client):
    async def one(n):
        async with anthropic.AsyncAnthropic(base_url=client.base_url, api_key="none", max_retries=0) as c:
            async with c.messages.stream(model="macaron/L0", messages=[{"role": "user", "content": f"Say the number {n}."}], max_tokens=12) as stream:
                return "".join([text async for text in stream.text_stream])

    async def all_of_them():
        return await asyncio.gather(*(one(n) for n in range(4)))

    answers = asyncio.run(all_of_them())
    check(all(answers), "answers", answers)
    return f"{len(answers)} streams at once"


SCENARIOS = [models, five_turns, five_turns_streamed, forced_tools, any_tool, counting, stops, two_sdks, errors, async_together]

if __name__ == "__main__":
    base, names = sys.argv[1:]
    by_name = {s.__name__: s for s in SCENARIOS}
    client = anthropic.Anthropic(base_url=base.removesuffix("/v1"), api_key="none", max_retries=0, timeout=300)
    for name in names.split(","):
        print(name + ":", by_name[name](client))
