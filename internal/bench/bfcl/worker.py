"""The side of BFCL that is Python: reads tasks from the bfcl-eval wheel, runs the simulated
APIs of multi-turn tasks, and scores with the package's own checkers. Started as

    python3 -I -S -c <this file> WHEEL...

with the wheels on the path; one JSON request a line on standard input, one reply a line on
standard output. What the package prints goes to standard error."""
import contextlib
import copy
import functools
import importlib
import importlib.resources
import inspect
import json
import sys
import types

sys.path[:0] = sys.argv[1:]

# The checkers ask the table of models only whether names were served with '_' for '.';
# the table itself needs the SDKs of twenty vendors, which nothing here calls.
MODEL = "macaron"
models = types.ModuleType("bfcl_eval.constants.model_config")
models.MODEL_CONFIG_MAPPING = {MODEL: types.SimpleNamespace(underscore_to_dot=True)}
sys.modules[models.__name__] = models

from bfcl_eval.constants import default_prompts, executable_backend_config as backend  # noqa: E402
from bfcl_eval.constants.enums import Language  # noqa: E402
from bfcl_eval.eval_checker.ast_eval.ast_checker import ast_checker  # noqa: E402
from bfcl_eval.eval_checker.multi_turn_eval import multi_turn_checker as multi  # noqa: E402

data = importlib.resources.files("bfcl_eval") / "data"
TYPES = {"dict": "object", "float": "number", "tuple": "array", "any": "string"}
KNOWN = {"string", "integer", "number", "boolean", "array", "object"}
entries, answers, live = {}, {}, {}


@functools.cache
def lines(*path):
    """The objects of a file, which nobody changes."""
    return [json.loads(x) for x in data.joinpath(*path).read_text("utf-8").splitlines() if x.strip()]


def schema(node):
    """JSON Schema of a description: the package's types become JSON's, other keys go."""
    kind = TYPES.get(node.get("type"), node.get("type"))
    out = {"type": kind if kind in KNOWN else "string"}
    if node.get("description"):
        out["description"] = node["description"]
    if out["type"] == "object" and "properties" in node:
        out["properties"] = {k: schema(v) for k, v in node["properties"].items()}
        if node.get("required"):
            out["required"] = [k for k in node["required"] if k in out["properties"]]
    if out["type"] == "array" and isinstance(node.get("items"), dict):
        out["items"] = schema(node["items"])
    if node.get("enum") and all(type(v) in (str, int, float, bool) for v in node["enum"]):
        out["enum"] = node["enum"]
    return out


def tool(doc):
    parameters = schema({**doc["parameters"], "type": "dict"})
    parameters.setdefault("properties", {})
    return {"name": doc["name"].replace(".", "_"), "description": doc.get("description", ""), "parameters": parameters}


def load(category):
    """The tasks of a category: for each its requests, and the tools that are there from then on."""
    many = category.startswith("multi_turn")
    gold = {}
    if category != "irrelevance":
        gold = {a["id"]: a["ground_truth"] for a in lines("possible_answer", f"BFCL_v4_{category}.json")}
    out = []
    for e in copy.deepcopy(lines(f"BFCL_v4_{category}.json")):
        if many:
            e["function"] = [d for c in e["involved_classes"]
                             for d in lines("multi_turn_func_doc", backend.MULTI_TURN_FUNC_DOC_FILE_MAPPING[c])]
        late = {n: int(turn) for turn, names in e.get("missed_function", {}).items() for n in names}
        turns = []
        for i, messages in enumerate(e["question"]):
            text = "\n\n".join(m["content"] for m in messages)
            turns.append({"text": text or default_prompts.DEFAULT_USER_PROMPT_FOR_ADDITIONAL_FUNCTION_FC,
                          "tools": [tool(d) for d in e["function"] if late.get(d["name"], 0) <= i]})
        entries[e["id"]], answers[e["id"]] = e, gold.get(e["id"], [])
        cluster = e["involved_classes"] if many else [d["name"] for d in e["function"]]
        out.append({"id": e["id"], "turns": turns, "cluster": ",".join(sorted(cluster))})
    return out


def begin(task):
    """Fresh instances of the APIs of a multi-turn task."""
    e = entries[task]
    methods = {}
    for name in e["involved_classes"]:
        instance = getattr(importlib.import_module(backend.CLASS_FILE_PATH_MAPPING[name]), name)()
        if name not in backend.STATELESS_CLASSES:
            instance._load_scenario(copy.deepcopy(e.get("initial_config", {}).get(name, {})), long_context="long_context" in task)
        for method, function in inspect.getmembers(instance, predicate=inspect.ismethod):
            if not method.startswith("_"):
                methods[method] = function
    live[task] = methods


def call(task, name, arguments):
    try:
        return {"value": json.loads(json.dumps(live[task][name](**arguments), default=str))}
    except Exception as x:  # what the simulated API raises is its answer
        return {"value": {"error": str(x)}}


def text(name, arguments):
    return f"{name}({', '.join(f'{k}={v!r}' for k, v in arguments.items())})"


def score(task, turns):
    """turns: for each request the calls that were made, as [name, arguments] in order."""
    category = task.rsplit("_", 1)[0]
    e, gold = entries[task], answers[task]
    if category == "irrelevance":
        return {"valid": not turns[0], "error": ["a call was made"] if turns[0] else []}
    if not category.startswith("multi_turn"):
        made = [{name: arguments} for name, arguments in turns[0]]
        return ast_checker(copy.deepcopy(e["function"]), made, copy.deepcopy(gold), Language.PYTHON, category, MODEL)
    made = [[[text(n, a)] for n, a in t] for t in turns]
    made += [[]] * (len(gold) - len(made))
    verdict = multi.multi_turn_checker(made, gold, e, category, f"{MODEL}_{score.n}")
    score.n += 1  # the package keeps its instances by name
    if verdict["valid"]:
        verdict = multi.multi_turn_irrelevance_checker(made, gold)
    return verdict


score.n = 0


def first(options):
    """The first of the accepted values; inside of objects each value has its own list."""
    v = next((o for o in options if o != ""), "")
    if isinstance(v, dict):
        return {k: first(o) for k, o in v.items() if "" not in o}
    if isinstance(v, list) and v and all(isinstance(x, dict) for x in v):
        return [{k: first(o) for k, o in x.items() if "" not in o} for x in v]
    return v


def golden(task):
    """The calls of the package's own answer, in score's form, or as Python source."""
    if task.startswith("multi_turn"):
        return {"source": answers[task]}
    calls = []
    for answer in answers[task]:
        for name, options in answer.items():
            need = next(d["parameters"].get("required", []) for d in entries[task]["function"] if d["name"] == name)
            calls.append([name.replace(".", "_"), {k: first(o) for k, o in options.items() if k in need or "" not in o}])
    return {"turns": [calls]}


def source(task, turns):
    """Scores calls that are written as Python, as the package's answers are."""
    verdict = multi.multi_turn_checker([[[c] for c in t] for t in turns], answers[task], entries[task], task.rsplit("_", 1)[0], f"{MODEL}_{score.n}")
    score.n += 1
    return verdict


for line in sys.stdin:
    request = json.loads(line)
    verb = {"load": load, "begin": begin, "call": call, "score": score, "golden": golden, "source": source}[request.pop("do")]
    with contextlib.redirect_stdout(sys.stderr):
        try:
            reply = {"ok": verb(**request)}
        except Exception as x:
            reply = {"error": f"{type(x).__name__}: {x}"[:500]}
    sys.stdout.write(json.dumps(reply, default=str) + "\n")
    sys.stdout.flush()
