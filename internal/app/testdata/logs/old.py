"""Holds conversations with a build of another age over a scripted engine, and packs its log.

    old.py MACARON CONTRACT BENCH_PROXY NAME

MACARON is the binary and CONTRACT the macaron.toml of that age, BENCH_PROXY a build of
test/bench/proxy of today, which plays the engine. NAME.db.gz and NAME.toml are written here;
`go test -run TestGoldenLogs ./internal/app -digest-logs` then adds the digests.
"""
import gzip, json, os, pathlib, signal, socket, sqlite3, subprocess, sys, tempfile, time, urllib.error, urllib.request

macaron, contract, engine, name = sys.argv[1:]
here = pathlib.Path(__file__).parent


def address():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return "127.0.0.1:%d" % s.getsockname()[1]


def ask(path, body):
    """None where that build had no such API."""
    r = urllib.request.Request(f"http://{mine}{path}", json.dumps(body).encode(), {"Content-Type": "application/json"})
    try:
        return json.load(urllib.request.urlopen(r))
    except urllib.error.HTTPError as e:
        if e.code != 404:
            raise
        return None


count = 0


def nonce():
    global count
    count += 1
    return "nonce-%010d" % count


def chat(n, messages, model="macaron"):
    return ask("/v1/chat/completions", {"model": model, "user": f"u{n}", "messages": messages})


def user(text):
    return {"role": "user", "content": f"{text} {nonce()}"}


def conversation(n):
    """Turns of several specialists, feedback, an edit, a retry, results of the client's own tools, responses."""
    said = []
    for i in range(2 + n % 4):
        said.append(user(f"question {n}.{i}"))
        a = chat(n, said, ["macaron", "macaron/L1", "macaron/L0"][(n + i) % 3])
        said.append({"role": "assistant", "content": a["choices"][0]["message"]["content"]})
        if i == 1 and n % 3 == 0:
            ask("/v1/feedback", {"turn": a["macaron"]["turn"], "score": -1, "reason": "no"})
    chat(n, said[:2] + [user("edited")])
    chat(n, said[:-1])
    call = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"i": 1}'}}
    chat(n, [{"role": "system", "content": "be brief"}, user("look"), {"role": "assistant", "content": "", "tool_calls": [call]},
             {"role": "tool", "tool_call_id": "c1", "content": "found"}], "macaron/L1")
    before = {}
    for i in range(n % 3):
        a = ask("/v1/responses", {"model": "macaron", "input": user(f"respond {n}.{i}")["content"], **before})
        before = a and {"previous_response_id": a["id"]} or {}


with tempfile.TemporaryDirectory() as home:
    mine, below, toml = address(), address(), pathlib.Path(home, "macaron.toml")
    toml.write_text(pathlib.Path(contract).read_text().replace('"adapters/', '"model:'))
    env = dict(os.environ, MACARON_HOME=home, MACARON_LISTEN=mine, MACARON_CONTRACT=str(toml), MACARON_UPSTREAM=f"http://{below}/v1", MACARON_UPSTREAM_DIALECT="vllm")
    plays = subprocess.Popen([engine, "-role", "upstream", "-listen", below])
    serves = subprocess.Popen([macaron, "serve"], env=env)
    for _ in range(200):
        try:
            if urllib.request.urlopen(f"http://{mine}/readyz").status == 200:
                break
        except OSError:
            time.sleep(0.1)
    for n in range(12):
        conversation(n)
    time.sleep(3)  # the last summaries
    serves.send_signal(signal.SIGTERM)
    serves.wait()
    plays.terminate()
    log = pathlib.Path(home, "log.db")
    db = sqlite3.connect(log)
    db.execute("pragma wal_checkpoint(truncate)")
    db.close()
    with gzip.open(here / f"{name}.db.gz", "wb", 9) as f:
        f.write(log.read_bytes())
    kept = next(pathlib.Path(home, "blobs", "contracts").glob("*.toml"))
    (here / f"{name}.toml").write_bytes(kept.read_bytes())
