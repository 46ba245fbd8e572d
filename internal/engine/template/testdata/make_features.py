"""Renders the snippets of features.txt with Python Jinja, as the transformers library sets it up, and writes
features.json: pairs of a snippet and its text, null where Python fails.

Run: python make_features.py   (made with transformers 5.24.0 and jinja2 3.1.6)
"""
import datetime
import json
import pathlib

from transformers.utils import chat_template_utils

here = pathlib.Path(__file__).parent
MESSAGES = [
    {"role": "system", "content": "Be kind."},
    {"role": "user", "content": "Hi  there\n\n<b>Grüße</b> 'x' \"y\" \\ z "},
    {"role": "assistant", "content": "<think>a</think>b"},
]


def render(source):
    compiled = chat_template_utils._compile_jinja_template(source)
    compiled.globals["strftime_now"] = datetime.datetime(2026, 1, 2, 15, 4, 5).strftime
    return compiled.render(messages=MESSAGES, tools=None, documents=None, add_generation_prompt=True, bos_token="<s>", eos_token="</s>")


rows = []
for snippet in (here / "features.txt").read_text(encoding="utf-8").split("\n====\n"):
    try:
        rows.append([snippet, render(snippet)])
    except Exception as err:
        print(type(err).__name__, str(err)[:80], "|", snippet[:80])
        rows.append([snippet, None])
(here / "features.json").write_text("[\n" + ",\n".join(json.dumps(r, ensure_ascii=False) for r in rows) + "\n]\n", encoding="utf-8")
