"""The Responses API of a running server through the official OpenAI SDK.

usage: responses.py BASE_URL SCENARIO [STATE_FILE]
"""

import json
import sys
import time

import openai
from pydantic import BaseModel

from sdk import check, facts

WEATHER = {
    "type": "function",
    "name": "get_weather",
    "description": "The weather of a city, today.",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string", "maxLength": 12}},
        "required": ["city"],
        "additionalProperties": False,
    },
    "strict": True,
}


# An answer that lasts: it has at least 400 items.
LONG = {
    "model": "macaron/L0",
    "input": "Colours.",
    "background": True,
    "max_output_tokens": 1800,
    "text": {"format": {"type": "json_schema", "name": "long", "schema": {"type": "array", "items": {"enum": ["red", "green"]}, "minItems": 400, "maxItems": 500}}},
}


def plain(client):
    first = client.responses.create(
        model="macaron", input="Which planet is the largest?", instructions="Be brief.", max_output_tokens=24, metadata={"k": "v"}, temperature=0
    )
    check(first.status in ("completed", "incomplete"), "status", first.status)
    check(first.output_text, "an empty answer")
    m = facts(first)
    check([h["hop"] for h in m["hops"]] == ["route", "answer"], "hops", m["hops"])
    check(first.usage.input_tokens == sum(h["prompt_tokens"] for h in m["hops"]), "usage", first.usage, m["hops"])
    check(first.usage.output_tokens == sum(h["output_tokens"] for h in m["hops"]), "usage", first.usage, m["hops"])
    check(first.metadata == {"k": "v"}, "metadata", first.metadata)
    again = client.responses.retrieve(first.id)
    check(again.to_json() == first.to_json(), "told again:", again.to_json(), "was", first.to_json())
    items = client.responses.input_items.list(first.id)
    check([i.content[0].text for i in items] == ["Which planet is the largest?"], "input items", items)
    second = client.responses.create(model="macaron", input="And the smallest?", previous_response_id=first.id, max_output_tokens=16)
    check(facts(second)["session"] == m["session"], "session", facts(second)["session"], "was", m["session"])
    client.responses.delete(first.id)
    for gone in (client.responses.retrieve, client.responses.delete):
        try:
            gone(first.id)
            check(False, "a deleted response is there")
        except openai.NotFoundError as e:
            check(e.code == "not_found", "code", e.code)
    return first.output_text


def streamed(client):
    events = list(client.responses.create(model="macaron", input="Say hello in five languages.", max_output_tokens=32, stream=True))
    check([e.sequence_number for e in events] == list(range(len(events))), "numbers", [e.sequence_number for e in events])
    last = events[-1]
    check(last.type in ("response.completed", "response.incomplete"), "the last event is", last.type)
    text = "".join(e.delta for e in events if e.type == "response.output_text.delta")
    check(text and text == last.response.output_text, "deltas", text, "of", last.response.output_text)
    for after in (None, 0, 5, len(events) - 2):
        more = {} if after is None else {"starting_after": after}
        again = list(client.responses.retrieve(last.response.id, stream=True, **more))
        want = events if after is None else events[after + 1 :]
        check([e.to_json() for e in again] == [e.to_json() for e in want], "after", after, again, want)
    with client.responses.stream(model="macaron/L0", input="Count to five.", max_output_tokens=128, temperature=0) as stream:
        for _ in stream:
            pass
        final = stream.get_final_response()
    check(final.output_text, "an empty answer")
    return f"{len(events)} events"


def five_turns(client, state=None):
    """A conversation with a forced call in each second turn; a state lets it go on later."""
    previous, turns, calls = (state or {}).get("previous"), [], []
    for city in ("Paris", "Rome", "Oslo", "Bern", "Wien")[(state or {}).get("done", 0) :]:
        asked = client.responses.create(
            model="macaron/L1", input=f"What is the weather in {city}?", previous_response_id=previous, tools=[WEATHER],
            tool_choice={"type": "function", "name": "get_weather"}, max_output_tokens=48, temperature=0,
        )
        found = [o for o in asked.output if o.type == "function_call"]
        check(len(found) == 1 and found[0].name == "get_weather", "output", asked.output)
        calls.append(json.loads(found[0].arguments)["city"])
        answered = client.responses.create(
            model="macaron", previous_response_id=asked.id, tools=[WEATHER], tool_choice="none", max_output_tokens=24, temperature=0,
            input=[{"type": "function_call_output", "call_id": found[0].call_id, "output": '{"sky": "clear"}'}],
        )
        a, b = facts(asked), facts(answered)
        check(a["turn"] == b["turn"] and b["adapter"] == "L1" and b["reason"] == "sticky", "the results went to", b)
        check(answered.id != asked.id and answered.output_text, "answered", answered)
        previous = answered.id
        turns.append(a["turn"])
        if state is not None:
            return {"previous": previous, "done": state.get("done", 0) + 1, "asked": asked.id, "text": answered.output_text, "call": found[0].arguments}
    check(len(set(turns)) == 5, "turns", turns)
    return " ".join(calls)


def background(client):
    r = client.responses.create(**LONG)
    check(r.status == "queued" and r.background, "status", r.status)
    seen = []
    for e in client.responses.retrieve(r.id, stream=True):
        seen.append(e)
        if len(seen) == 12:
            break
    check(client.responses.retrieve(r.id).status == "in_progress", "it is not in progress")
    check(client.responses.cancel(r.id).status == "cancelled", "it was not cancelled")
    check(client.responses.retrieve(r.id).status == "cancelled", "it is not cancelled any more")
    again = list(client.responses.retrieve(r.id, stream=True))
    check([e.to_json() for e in again[:12]] == [e.to_json() for e in seen], "another beginning", again[:12], seen)
    r = client.responses.create(model="macaron/L0", input="Say hello.", background=True, max_output_tokens=12)
    for _ in range(600):
        r = client.responses.retrieve(r.id)
        if r.status not in ("queued", "in_progress"):
            break
        time.sleep(0.1)
    check(r.status in ("completed", "incomplete") and r.output_text, "status", r.status)
    return r.output_text


class Place(BaseModel):
    city: str
    large: bool


def structured(client):
    r = client.responses.parse(model="macaron/L0", input="Describe Paris. Use a short name.", text_format=Place, max_output_tokens=200, temperature=0)
    if r.status == "completed":
        check(isinstance(r.output_parsed, Place), "parsed", r.output_parsed)
    r = client.responses.create(
        model="macaron/L0", input="A colour.", max_output_tokens=32, temperature=0,
        text={"format": {"type": "json_schema", "name": "colour", "schema": {"enum": ["red", "green"]}}},
    )
    check(json.loads(r.output_text) in ("red", "green"), "colour", r.output_text)
    return r.output_text


def conversation(client):
    c = client.conversations.create(metadata={"topic": "x"})
    for question in ("Hello!", "What did I say?"):
        r = client.responses.create(model="macaron/L0", input=question, conversation=c.id, max_output_tokens=12)
        check(r.conversation.id == c.id, "conversation", r.conversation)
    items = list(client.conversations.items.list(c.id, order="asc"))
    check([i.role for i in items] == ["user", "assistant"] * 2, "items", items)
    check(client.conversations.retrieve(c.id).metadata == {"topic": "x"}, "metadata")
    check(client.conversations.delete(c.id).deleted, "not deleted")
    return c.id


def errors(client):
    for field, kind, body in (
        ("model", openai.NotFoundError, {"model": "gpt-4", "input": "x"}),
        ("model", openai.NotFoundError, {"model": "gpt-4", "input": "x", "stream": True}),
        ("tools[0].type", openai.BadRequestError, {"model": "macaron", "input": "x", "tools": [{"type": "web_search"}]}),
        ("previous_response_id", openai.NotFoundError, {"model": "macaron", "input": "x", "previous_response_id": "resp_01ARZ3NDEKTSV4RRFFQ69G5FAV"}),
    ):
        try:
            client.responses.create(**body)
            check(False, body, "was answered")
        except kind as e:
            check(e.param == field, "param", e.param)
    return "told by code and field"


def before(client, path):
    """Two turns, and one in the background that the server will not live to end."""
    state = five_turns(client, {})
    state = five_turns(client, state)
    running = client.responses.create(**LONG)
    for n, _ in enumerate(client.responses.retrieve(running.id, stream=True)):
        if n == 8:
            break
    state["running"] = running.id
    with open(path, "w") as f:
        json.dump(state, f)
    return "two turns, one under way"


def after(client, path):
    with open(path) as f:
        state = json.load(f)
    check(client.responses.retrieve(state["previous"]).output_text == state["text"], "another answer")
    call = [o for o in client.responses.retrieve(state["asked"]).output if o.type == "function_call"][0]
    check(call.arguments == state["call"], "another call", call)
    cut = client.responses.retrieve(state["running"])
    check(cut.status == "failed", "status", cut.status)
    events = list(client.responses.retrieve(state["running"], stream=True, starting_after=500))
    check([(e.type, e.sequence_number) for e in events] == [("response.failed", 501)], "events", events)
    while state["done"] < 5:
        state = five_turns(client, state)
    return "five turns"


if __name__ == "__main__":
    base, name, *rest = sys.argv[1:]
    print(globals()[name](openai.OpenAI(base_url=base, api_key="none", max_retries=0, timeout=300), *rest))
