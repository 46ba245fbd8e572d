"""Renders cases.json with Python Jinja, as the transformers library sets it up, and writes goldens.txt.

A line of goldens.txt is: template, case, SHA-256 of the rendered text (or "error"), its length in bytes.
The templates are smollm2.jinja beside this file and those that `make testdata` fetches; give their directory. Some of
these are string literals of a C++ file, in which a name stands before each; their names here begin with "inline:".

Run: python make_goldens.py DIRECTORY   (needs transformers, jinja2; made with 5.24.0 and 3.1.6)
"""
import datetime
import hashlib
import json
import pathlib
import re
import sys

from transformers.utils import chat_template_utils

here = pathlib.Path(__file__).parent
NOW = datetime.datetime(2026, 1, 2, 15, 4, 5)


def as_templates_want(message):
    """Tool arguments are JSON text in the API and mappings in templates; reasoning has two names."""
    message = dict(message)
    for call in message.get("tool_calls", []):
        call = call["function"]
        try:
            call["arguments"] = json.loads(call["arguments"])
        except ValueError:
            pass
    return message


def render(template, case):
    compiled = chat_template_utils._compile_jinja_template(template)
    compiled.globals["strftime_now"] = NOW.strftime
    case = json.loads(json.dumps(case))
    return compiled.render(
        messages=chat_template_utils._alias_reasoning_fields([as_templates_want(m) for m in case["messages"]]),
        tools=case.get("tools"),
        documents=None,
        add_generation_prompt=case.get("add_generation_prompt", True),
        bos_token="<s>",
        eos_token="</s>",
        **case.get("extra", {}),
    )


def inline(path):
    """Yields names and sources of the templates in the C++ file."""
    name = None
    for line in path.read_text(encoding="utf-8").splitlines():
        if m := re.match(r'\s*/\* \.name= \*/ "(.*)",$', line):
            name = "inline:" + re.sub(r"[^A-Za-z0-9.]+", "-", m[1]).strip("-")
        if name and (m := re.match(r'\s*/\* \.template_str= \*/ (?:U8C\()?(?:u8)?"(.*)"\)?,$', line)):
            yield name, re.sub(r"\\(.)", lambda e: {"n": "\n", "t": "\t"}.get(e[1], e[1]), m[1])
            name = None


def main():
    cases = json.loads((here / "cases.json").read_text(encoding="utf-8"))
    fetched = pathlib.Path(sys.argv[1])
    paths = sorted(fetched.glob("*.jinja")) + [here / "smollm2.jinja"]
    templates = [(p.name, p.read_bytes().decode("utf-8")) for p in paths] + list(inline(fetched / "test-chat-template.cpp"))
    lines, texts = [], {}
    for template, source in templates:
        for name, case in cases.items():
            try:
                text = render(source, case)
            except Exception as err:
                print(f"{template} {name}: {type(err).__name__}: {str(err)[:100]}", file=sys.stderr)
                lines.append(f"{template} {name} error 0")
                continue
            data = text.encode("utf-8")
            texts[f"{template} {name}"] = text
            lines.append(f"{template} {name} {hashlib.sha256(data).hexdigest()} {len(data)}")
    (here / "goldens.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    if len(sys.argv) > 2:  # for a person who looks into a difference
        pathlib.Path(sys.argv[2]).write_text(json.dumps(texts, ensure_ascii=False, indent=1), encoding="utf-8")


main()
