"""The contract's prompts, rendered exactly as the server renders them.

Nothing here holds prompt text: all of it is read from macaron.toml.
"""
import json
import pathlib
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Contract:
    def __init__(self, path=ROOT / "macaron.toml"):
        with open(path, "rb") as f:
            self.raw = tomllib.load(f)
        self.prompts = self.raw["prompts"]
        self.router = self.raw["router"]
        self.adapters = self.raw["adapters"]

    def labels(self):
        return [a["name"] for a in self.adapters]

    def descriptions(self):
        return [(a["name"], a["description"]) for a in self.adapters]

    # --- route hop -------------------------------------------------------------
    def route_system(self, entries=None, order=None):
        """entries: [(label, description)], order: labels by priority."""
        entries = entries or self.descriptions()
        order = order or self.router["order"]
        text = self.prompts["route"]
        text = text.replace("{{adapters}}", "\n".join(f"{n}: {d}" for n, d in entries))
        return text.replace("{{order}}", ", ".join(order)).strip()

    def route_user(self, text, previous=None):
        """previous: None or (label, text of the previous user turn)."""
        out = ""
        if previous:
            out = f"Previous: {previous[0]} {quote(clip(previous[1], self.router['context_chars']))}\n"
        return out + "Request: " + quote(clip(text, self.router["request_chars"]))

    # --- answer and summary hops ------------------------------------------------
    def system(self, adapter, client="", tools=None, compact=False):
        """compact: clients write their tools' JSON with or without spaces."""
        prompt = next(a["prompt"] for a in self.adapters if a["name"] == adapter)
        text = self.prompts["system"].replace("{{specialist}}", prompt)
        if client:
            text += "\n\n" + client
        if tools:
            lines = "\n".join(json.dumps(t, ensure_ascii=False, separators=(",", ":") if compact else None) for t in tools)
            text += "\n" + self.prompts["tools"].replace("{{tools}}", lines)
        return text

    def summary(self):
        return self.prompts["summary"]

    def foreign(self, summary):
        return self.prompts["foreign"].replace("{{summary}}", summary)


def quote(s):
    """A JSON string as Go's encoding/json writes it with HTML escaping off."""
    q = json.dumps(s, ensure_ascii=False)
    return q.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def clip(s, limit):
    """Keep the first and the last half of the budget when s is longer than it."""
    if len(s) <= limit:
        return s
    half = limit // 2
    return s[:half] + " ... " + s[len(s) - half:]


def chatml(messages, generate=False):
    """The base model's own template; messages always start with a system message."""
    text = "".join(f"<|im_start|>{m['role']}\n{m['content']}<|im_end|>\n" for m in messages)
    return text + ("<|im_start|>assistant\n" if generate else "")
