"""A conversation with a running server through the `llm` command.

usage: llm_cli.py BASE_URL SCENARIO,...

The command has no option that forces a tool; macaron/L1, which calls what it is offered,
is asked instead.
"""

import json
import os
import subprocess
import sys
import tempfile

from sdk import check

CITIES = ["Paris", "Rome", "Oslo", "Lima", "Cairo"]
FUNCTIONS = '''
def get_weather(city: str) -> str:
    "The weather of a city, today."
    return '{"sky": "clear", "celsius": 21}'
'''


class Command:
    """`llm` with a home of its own, in which two models of the server are known."""

    def __init__(self, base):
        self.home = tempfile.mkdtemp()
        models = [
            {"model_id": name.replace("/", "-"), "model_name": name, "api_base": base, "supports_tools": True} for name in ("macaron", "macaron/L1")
        ]
        with open(os.path.join(self.home, "extra-openai-models.yaml"), "w") as f:
            json.dump(models, f)  # JSON is YAML too

    def __call__(self, *arguments):
        env = dict(os.environ, LLM_USER_PATH=self.home, OPENAI_API_KEY="none")
        done = subprocess.run([sys.executable, "-m", "llm", *arguments], env=env, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        check(done.returncode == 0, arguments, done.stdout, done.stderr)
        return done.stdout

    def logged(self):
        """What the command has kept of its conversation, oldest first."""
        return json.loads(self("logs", "list", "--json", "-n", "0"))


def conversation(base, *more):
    llm = Command(base)
    for n, city in enumerate(CITIES):
        follow = ["-c"] if n else []
        text = llm("prompt", "-m", "macaron-L1", "--functions", FUNCTIONS, "-o", "temperature", "0", "-o", "max_tokens", "48", *follow, *more, f"What is the weather in {city}? Use the tool.")
        check(text.strip(), "an empty answer to turn", n)
    logged = llm.logged()
    check(len({entry["conversation_id"] for entry in logged}) == 1, "conversations", logged)
    calls = [c for entry in logged for c in entry.get("tool_calls", [])]
    check(len(calls) >= len(CITIES) and all(c["name"] == "get_weather" for c in calls), len(calls), "calls:", calls)
    return " ".join(str(c["arguments"].get("city")) for c in calls)


SCENARIOS = {
    "streamed": lambda base: conversation(base),
    "whole": lambda base: conversation(base, "--no-stream"),
}

if __name__ == "__main__":
    base, names = sys.argv[1:]
    for name in names.split(","):
        print(name + ":", SCENARIOS[name](base))
