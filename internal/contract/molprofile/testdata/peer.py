"""What the Python harness for Mixtures of LoRA sends to its engine, hop by hop.

Starts that harness (a clone of MindLab-Research/Mixture-of-LoRA-Harness at 4dccbf1 and a Python that
has what it requires) on a profile, in front of an engine that says what it is told to, holds two
conversations with it over the Responses API and writes the requests that the engine got:

    python peer.py HARNESS PROFILES NAME > golden.json

The engine routes to the label that the request begins with, answers "answer N" and sums up as "sum N".
"""
import json
import os
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

CONVERSATIONS = [
    {"instructions": None, "turns": ["L2: write a loop\n", "  L1: book \"two\" seats", "L2: go on — {{ROUTE_LABELS}}", "L0: who are you?"]},
    {"instructions": "Be brief.\nAlways.", "turns": ["L3: a form", "L3: another"]},
]

hops, lock = [], threading.Lock()


class Engine(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.answer(200, {"object": "list", "data": []})

    def do_DELETE(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.answer(200, {})

    def do_POST(self):
        q = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with lock:
            kind, text = told(q)
            hops.append({"hop": kind, **q})
        self.answer(200, {"id": "x", "object": "chat.completion", "created": 1, "model": q["model"],
                          "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
                          "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}})


def told(q):
    """The hop that a request is, and what the engine says."""
    if "structured_outputs" in q:
        return "route", q["messages"][0]["content"].strip()[:2]
    kind = "summary" if q.get("max_tokens") == 192 else "answer"
    n = sum(h["hop"] == kind for h in hops) + 1
    return kind, f"{'sum' if kind == 'summary' else 'answer'} {n}"


def free():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def post(url, body):
    r = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(r, timeout=60) as f:
        return json.load(f)


def wait(url):
    for _ in range(300):
        try:
            with urllib.request.urlopen(url, timeout=1):
                return
        except OSError:
            time.sleep(0.1)
    raise SystemExit("the harness did not start")


def main(harness, profiles, name):
    engine = ThreadingHTTPServer(("127.0.0.1", 0), Engine)
    threading.Thread(target=engine.serve_forever, daemon=True).start()
    port = free()
    env = dict(os.environ, PYTHONPATH=harness, PROXY_PORT=str(port), UPSTREAM=f"http://127.0.0.1:{engine.server_port}",
               SERVED_MODEL_NAME=name, MOL_MODEL_CONFIG_ROOT=os.path.abspath(profiles), MOL_METRICS_PORT="0", MOL_ALLOW_UNAUTHENTICATED="1")
    proxy = subprocess.Popen([sys.executable, "-m", "mol_harness.proxy"], env=env, stdout=sys.stderr, stderr=sys.stderr)
    out = []
    try:
        base = f"http://127.0.0.1:{port}"
        wait(base + "/health")
        for c in CONVERSATIONS:
            previous, turns = None, []
            for text in c["turns"]:
                before = len(hops)
                body = {"model": name, "input": text}
                if c["instructions"]:
                    body["instructions"] = c["instructions"]
                if previous:
                    body["previous_response_id"] = previous
                previous = post(base + "/v1/responses", body)["id"]
                turns.append({"input": text, "hops": hops[before:]})
            out.append({"instructions": c["instructions"], "turns": turns})
    finally:
        proxy.terminate()
        proxy.wait()
    json.dump(out, sys.stdout, indent=1, ensure_ascii=False, sort_keys=True)
    print()


if __name__ == "__main__":
    main(*sys.argv[1:])
