"""The fields of requests that the official SDKs publish, one file for each API.

usage: fields.py [BASE_URL] write|check ROOT

The lists are kept beside the code that treats each of their fields; `check` says whether the
SDKs that are installed still publish the same ones.
"""

import os
import sys
import typing

from anthropic.types import message_create_params as messages
from openai.types.chat import completion_create_params as chat
from openai.types.responses import response_create_params as responses

PUBLISHED = {
    "openai": chat.CompletionCreateParamsBase,
    "responses": responses.ResponseCreateParamsBase,
    "anthropic": messages.MessageCreateParamsBase,
}

if __name__ == "__main__":
    what, root = sys.argv[-2:]
    for room, params in PUBLISHED.items():
        path = os.path.join(root, "internal/wire", room, "testdata/published.txt")
        text = "".join(name + "\n" for name in sorted(set(typing.get_type_hints(params)) | {"stream"}))
        if what == "write":
            with open(path, "w") as f:
                f.write(text)
            continue
        with open(path) as f:
            if f.read() != text:
                raise SystemExit(f"{path} is not what the SDK publishes: run fields.py write {root}, and treat each new field")
    print("the published fields are those that are known")
