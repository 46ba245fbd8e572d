"""Conversations with a running server through LangChain's OpenAI class.

usage: langchain_sdk.py BASE_URL SCENARIO,...
"""

import json
import sys

from langchain_core.messages import AIMessageChunk, HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from pydantic import BaseModel, Field

from sdk import check

CITIES = ["Paris", "Rome", "Oslo", "Lima", "Cairo"]


class City(BaseModel):
    city: str = Field(max_length=12)


@tool(args_schema=City)
def get_weather(city: str) -> str:
    """The weather of a city, today."""
    return json.dumps({"city": city, "sky": "clear", "celsius": 21})


def invoke(model, history, stream):
    """An answer, streamed or not; streamed ones are added up by LangChain itself."""
    if not stream:
        return model.invoke(history)
    answer, pieces = None, 0
    for chunk in model.stream(history):
        check(isinstance(chunk, AIMessageChunk), "chunk", chunk)
        pieces += bool(chunk.content or chunk.tool_call_chunks)
        answer = chunk if answer is None else answer + chunk
    check(pieces > 1, pieces, "pieces of", answer)
    return answer


def conversation(base, stream, responses):
    common = dict(base_url=base, api_key="none", max_retries=0, timeout=300, temperature=0, stream_usage=True, include_response_headers=True, use_responses_api=responses)
    ask = ChatOpenAI(model="macaron/L1", max_tokens=64, **common).bind_tools([get_weather], tool_choice="get_weather")
    tell = ChatOpenAI(model="macaron", max_tokens=24, **common).bind_tools([get_weather], tool_choice="none")
    history, session, turns, said = [], None, set(), []
    for city in CITIES:
        history.append(HumanMessage(f"What is the weather in {city}? (LangChain, {stream}, {responses})"))
        first = invoke(ask, history, stream)
        check(len(first.tool_calls) == 1 and not first.invalid_tool_calls, "calls", first)
        call = first.tool_calls[0]
        check(call["name"] == "get_weather" and isinstance(call["args"]["city"], str), "call", call)
        check(first.usage_metadata["output_tokens"] > 0, "usage", first.usage_metadata)
        history += [first, get_weather.invoke(call)]
        check(isinstance(history[-1], ToolMessage), "result", history[-1])
        then = invoke(tell, history, stream)
        check(then.text, "an empty answer", then)
        history.append(then)
        if not (stream and responses):  # there LangChain gives no headers
            place = [m.response_metadata["headers"] for m in (first, then)]
            session = session or place[0]["x-macaron-session"]
            check({p["x-macaron-session"] for p in place} == {session}, "sessions", place, "were", session)
            check(place[0]["x-macaron-turn"] == place[1]["x-macaron-turn"] not in turns, "turns", place, turns)
            turns.add(place[0]["x-macaron-turn"])
        said.append(call["args"]["city"])
    return " ".join(said)


def structured(base, *_):
    """A model held to a schema, as most programs use this class."""
    model = ChatOpenAI(base_url=base, api_key="none", max_retries=0, model="macaron/L0", temperature=0, max_tokens=64)
    for method in ("json_schema", "function_calling"):
        found = model.with_structured_output(City, method=method).invoke("The capital of France?")
        check(isinstance(found, City), method, "gave", found)
    return found.city


SCENARIOS = {
    "chat": lambda base: conversation(base, False, False),
    "chat_streamed": lambda base: conversation(base, True, False),
    "responses": lambda base: conversation(base, False, True),
    "responses_streamed": lambda base: conversation(base, True, True),
    "structured": structured,
}

if __name__ == "__main__":
    base, names = sys.argv[1:]
    for name in names.split(","):
        print(name + ":", SCENARIOS[name](base))
