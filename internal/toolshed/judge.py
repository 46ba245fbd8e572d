"""What the judge runs in a sandbox; the cell that follows calls one of these.

A tool runs here with the arguments of cases and never with what is wanted of it: that
stays on the other side, where the answers are compared.
"""

import json as _json

# Events of Python's audit hooks (PEP 578) that a tool without effects has no use for.
_EFFECTS = ("subprocess.", "socket.", "ctypes.", "shutil.", "pty.", "os.system", "os.exec", "os.fork", "os.posix_spawn", "os.remove", "os.rename",
            "os.mkdir", "os.rmdir", "os.link", "os.symlink", "os.truncate", "os.chmod", "os.chown", "os.utime", "os.kill", "os.listdir", "os.scandir")


def _watch(seen):
    import sys

    def hook(event, args):
        bad = event.startswith(_EFFECTS)
        if event == "open":
            path, mode, flags = args
            bad = any(c in (mode or "") for c in "wax+") or (flags or 0) & 3 or str(path).startswith(("/workspace", "/tmp"))
        if bad:
            seen.append(event)
            raise PermissionError("a tool that is declared pure has the effect " + event)

    sys.addaudithook(hook)


def _try(sources, name, pure, roots, cases):
    """Runs one function of the sources on each case and reports what it gave."""
    space = {"__name__": "tool", **{r: globals()[r] for r in roots}}
    seen, out, tell, step, dumps, loads = [], [], report, advance, _json.dumps, _json.loads
    codes = [compile(s, "<tool>", "exec") for s in sources]
    if pure:
        _watch(seen)
    for c in codes:
        exec(c, space)
    f = space[name]
    for args in cases:
        try:
            out.append({"value": loads(dumps(f(**args), allow_nan=False))})
        except Exception as e:
            out.append({"error": type(e).__name__ + ": " + str(e)[:200]})
        step()
    tell(results=out, effects=sorted(set(seen)))


def _signature(source, name):
    """Reports the parameters of a function as a JSON Schema, and its docstring."""
    import ast

    tree = ast.parse(source)
    defs = [n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == name]
    if len(defs) != 1:
        raise ValueError("the source does not define the function " + name + " once")
    a = defs[0].args
    if a.vararg or a.kwarg or a.posonlyargs:
        raise ValueError("a tool takes named parameters only")
    kinds = {"int": "integer", "float": "number", "str": "string", "bool": "boolean", "list": "array", "dict": "object"}
    names, needed = [], [p.arg for p in a.args[: len(a.args) - len(a.defaults)]]
    needed += [p.arg for p, d in zip(a.kwonlyargs, a.kw_defaults) if d is None]
    properties = {}
    for p in a.args + a.kwonlyargs:
        note = p.annotation
        base = note.value if isinstance(note, ast.Subscript) else note
        kind = kinds.get(getattr(base, "id", None))
        properties[p.arg] = {"type": kind} if kind else {}
    report(parameters={"type": "object", "properties": properties, "required": needed, "additionalProperties": False}, doc=ast.get_docstring(defs[0]) or "")


def _generate(source, seed):
    """Reports the cases that an operator's generator makes."""
    import random

    space = {"__name__": "generator"}
    exec(compile(source, "<generator>", "exec"), space)
    report(cases=[{"args": a, "want": space["expected"](**a)} for a in space["generate"](random.Random(seed))])


def _mutants(source, most):
    """Reports copies of the source with one small change each."""
    import ast
    import copy

    swaps = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In,
             ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
             ast.Mod: ast.Add, ast.Pow: ast.Mult, ast.And: ast.Or, ast.Or: ast.And}

    def negate(n):
        n.test = ast.UnaryOp(op=ast.Not(), operand=n.test)

    def constant(n):
        v = n.value
        n.value = (not v) if isinstance(v, bool) else v + "x" if isinstance(v, str) else v + 1

    def changes(n):
        if isinstance(n, ast.Compare) and type(n.ops[0]) in swaps:
            yield lambda m: m.ops.__setitem__(0, swaps[type(m.ops[0])]())
        if isinstance(n, (ast.BinOp, ast.AugAssign, ast.BoolOp)) and type(n.op) in swaps:
            yield lambda m: setattr(m, "op", swaps[type(m.op)]())
        if isinstance(n, (ast.If, ast.While, ast.IfExp)):
            yield negate
        if isinstance(n, ast.comprehension) and n.ifs:
            yield lambda m: m.ifs.clear()
        if isinstance(n, ast.Return) and n.value is not None:
            yield lambda m: setattr(m, "value", ast.Constant(None))
        if isinstance(n, ast.Constant) and isinstance(n.value, (bool, int, float, str)):
            yield constant
        if isinstance(n, ast.Call) and len(n.args) > 1:
            yield lambda m: m.args.reverse()
        for i, s in enumerate(getattr(n, "body", []) if isinstance(getattr(n, "body", None), list) else []):
            if isinstance(s, (ast.AugAssign, ast.Expr)) and not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant)):
                yield lambda m, i=i: m.body.__setitem__(i, ast.Pass())

    tree = ast.parse(source)
    for n in ast.walk(tree):  # docstrings say nothing of what a tool does
        b = getattr(n, "body", None)
        if isinstance(b, list) and b and isinstance(b[0], ast.Expr) and isinstance(b[0].value, ast.Constant):
            b[0] = ast.Pass()
    before, out = ast.unparse(tree), []
    for at, n in enumerate(ast.walk(tree)):
        for change in changes(n):
            other = copy.deepcopy(tree)
            change(list(ast.walk(other))[at])
            text = ast.unparse(ast.fix_missing_locations(other))
            if text != before and text not in out:
                out.append(text)
    if len(out) > most:
        out = [out[i * len(out) // most] for i in range(most)]
    report(mutants=out)
