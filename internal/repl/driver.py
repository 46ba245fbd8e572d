"""The interpreter's side of the protocol; docs/formats/repl.md describes it.

Runs as the only program of a sandbox: reads frames from descriptor 3, writes frames to
descriptor 4, and gives cells the namespace of __main__. Nothing here is a boundary: code
of a cell can change any of it, and the host believes no frame.

What it imports decides how long a start takes: the C parts of json, queue, signal and
threading are used without the modules around them, and the rest waits until nobody does.
"""

import itertools
import os
import resource
import select
import sys
import time
import _ast
import _json
import _queue
import _signal
import _thread

IN, OUT = 3, 4
WAITS = 0.01  # seconds after which nobody waits for a start
FILE = "<macaron>"  # the name under which this file is compiled
LONGEST = 16 << 20  # bytes of a frame, both ways
SHOWN = 64 << 10  # characters of an echoed value or a traceback

# What the log says of a cell that did it; refused or not is the kernel's matter.
NOTICED = frozenset((
    "ctypes.dlopen", "ctypes.dlsym", "os.chown", "os.exec", "os.fork", "os.forkpty", "os.kill", "os.killpg", "os.link", "os.mknod", "os.posix_spawn", "os.putenv", "os.setxattr",
    "os.symlink", "os.system", "pickle.find_class", "resource.prlimit", "resource.setrlimit", "socket.__new__", "socket.bind", "socket.connect", "socket.getaddrinfo",
    "socket.gethostbyname", "socket.sendto", "subprocess.Popen", "sys.addaudithook", "sys.settrace", "gc.get_objects", "gc.get_referrers"))


class ToolError(Exception):
    """A tool call that failed; code is machine-readable, retryable says whether to try again."""

    def __init__(self, message, code="tool_failed", retryable=False):
        super().__init__(message)
        self.code = code
        self.retryable = retryable


class Strict:
    """The settings of json.loads, in the form that its C part takes."""

    strict, object_hook, object_pairs_hook, parse_float, parse_int, memo = True, None, None, float, int, {}

    def parse_constant(self):
        raise ValueError("a number that JSON does not have")


def odd(value):
    raise TypeError("an object of type %s cannot be sent to the host" % type(value).__name__)


scan = _json.make_scanner(Strict())


def encode(value):
    """JSON as json.dumps writes it, without NaN."""
    return "".join(_json.make_encoder({}, odd, _json.encode_basestring_ascii, None, ": ", ", ", False, False, False)(value, 0)).encode()


def decode(body):
    try:
        return scan(body.decode(), 0)[0]
    except StopIteration:
        raise ValueError("not JSON") from None


def read_exactly(n):
    parts = []
    while n:
        part = os.read(IN, min(n, 1 << 20))
        if not part:
            os._exit(0)  # the host is gone
        parts.append(part)
        n -= len(part)
    return b"".join(parts)


def read_frame():
    n = int.from_bytes(read_exactly(4), "big")
    if n > LONGEST:
        os._exit(3)
    return decode(read_exactly(n))


class Driver:
    def __init__(self):
        self.main = sys.modules["__main__"].__dict__
        self.main_thread = _thread.get_ident()
        self.writing = _thread.allocate_lock()
        self.pending = {}  # id of a call -> [lock that its caller waits for, answer]
        self.ids = itertools.count(1)
        self.requests = _queue.SimpleQueue()  # frames for the main thread
        self.seed = None
        self.frozen = False
        self.cell = None  # id of the running cell
        self.interruptible = False
        self.early = None  # the cell that was interrupted last, perhaps before it began
        self.forked = False
        self.nonce = ""
        self.now = None  # the frozen clock, in seconds
        self.sources = {}  # file name of a cell -> its text
        self.noticed = set()  # events of NOTICED that the cell caused
        self.given = {}  # names that the session put into the namespace

    def audit(self, event, args):
        if event in NOTICED and self.cell is not None:
            self.noticed.add(event)

    def send(self, frame):
        frame["nonce"] = self.nonce
        body = encode(frame)
        if len(body) > LONGEST:
            raise ValueError("a message to the host would have %d bytes; %d is the most" % (len(body), LONGEST))
        with self.writing:
            data = memoryview(len(body).to_bytes(4, "big") + body)
            while data:
                data = data[os.write(OUT, data):]

    def listen(self):
        """Runs in its own thread, so that answers and interrupts arrive while a cell runs."""
        while True:
            frame = read_frame()
            op = frame["op"]
            if op == "return":
                slot = self.pending.pop(frame["id"], None)
                if slot:
                    slot[1] = frame
                    slot[0].release()
            elif op == "interrupt":
                self.early = frame["cell"]
                if self.cell == frame["cell"]:
                    _signal.pthread_kill(self.main_thread, _signal.SIGINT)
            else:
                self.requests.put(frame)

    def interrupted(self, _signal, _frame):
        if self.interruptible:
            raise KeyboardInterrupt

    def after_fork(self):
        self.forked = True
        for fd in IN, OUT:
            try:
                os.close(fd)
            except OSError:
                pass

    def call(self, name, args):
        if self.forked:
            raise ToolError("tools cannot be called from a forked process: call them in the session's own process, threads may", "forked")
        slot = [_thread.allocate_lock(), None]
        slot[0].acquire()
        number = next(self.ids)
        self.pending[number] = slot
        try:
            self.send({"op": "call", "id": number, "name": name, "args": args})
            slot[0].acquire()
        finally:
            self.pending.pop(number, None)
        answer = slot[1]
        if "error" in answer:
            e = answer["error"]
            raise ToolError(e["message"], e["code"], e["retryable"])
        return answer["value"]

    def stub(self, name, params, doc):
        def tool(*args, **kwargs):
            if len(args) > len(params):
                raise TypeError("%s takes %d positional arguments (%s), %d were given" % (name, len(params), ", ".join(params), len(args)))
            given = dict(zip(params, args))
            for key, value in kwargs.items():
                if key in given:
                    raise TypeError("%s got more than one value for %s" % (name, key))
                given[key] = value
            return self.call(name, given)

        tool.__name__ = tool.__qualname__ = name.rpartition(".")[2]
        tool.__doc__ = doc
        return tool

    def give(self, name, value):
        """Puts a value at a dotted name of the namespace."""
        *path, last = name.split(".")
        if not path:
            self.main[last] = self.given[last] = value
            return
        at = self.main.get(path[0])
        if not isinstance(at, Group):
            at = Group()
            self.main[path[0]] = self.given[path[0]] = at
        for part in path[1:]:
            at = at.__dict__.setdefault(part, Group())
        setattr(at, last, value)

    def hello(self, frame):
        self.nonce = frame["nonce"]
        self.seed, self.frozen = frame["seed"], frame["frozen"]
        self.main.clear()
        self.main.update(__name__="__main__", __builtins__=__builtins__, ToolError=ToolError)
        self.given["ToolError"] = ToolError
        for s in frame.get("stubs", ()):
            self.give(s["name"], self.stub(s["name"], s["params"], s["doc"]))
        self.send({"op": "ready"})

    def load_modules(self):
        """Imports what the first cell needs; a sandbox that waits has it done already."""
        global linecache, random, traceback
        import linecache
        import random
        import traceback

    def prepare(self):
        """Makes the namespace what was asked for, before anything runs in it."""
        self.load_modules()
        random.seed(self.seed)
        if self.frozen:
            self.freeze()

    def freeze(self):
        """The clock stands at the time that came with the cell; what measures spans counts calls."""
        import datetime

        ticks = itertools.count(1)
        driver, real = self, datetime.datetime
        time.time = lambda: driver.now
        time.time_ns = lambda: int(driver.now * 1e9)
        time.monotonic = time.perf_counter = lambda: next(ticks) * 1e-6
        time.monotonic_ns = time.perf_counter_ns = lambda: next(ticks) * 1000
        gmtime, strftime = time.gmtime, time.strftime
        time.gmtime = time.localtime = lambda secs=None: gmtime(driver.now if secs is None else secs)
        time.strftime = lambda form, t=None: strftime(form, t or time.gmtime())

        class Frozen(real):
            @classmethod
            def now(cls, tz=None):
                return cls.fromtimestamp(driver.now, tz)

            @classmethod
            def utcnow(cls):
                return cls.fromtimestamp(driver.now, datetime.timezone.utc).replace(tzinfo=None)

            @classmethod
            def today(cls):
                return cls.now()

        Frozen.__name__ = Frozen.__qualname__ = "datetime"
        datetime.datetime = Frozen
        day = datetime.date
        datetime.date = type("date", (day,), {"today": classmethod(lambda cls: cls.fromtimestamp(driver.now))})

    def run(self, frame):
        """Runs a cell; the value of its last statement, if that is an expression, is echoed."""
        name = "<cell %s>" % frame["cell"]
        code = self.sources[name] = frame["code"]
        linecache.cache[name] = (len(code), None, code.splitlines(True), name)
        done = {"op": "done", "cell": frame["cell"], "status": "ok"}
        self.noticed.clear()
        self.now, self.cell = float(frame["now"]), frame["cell"]
        cpu = time.process_time()
        try:
            self.interruptible = True
            if self.early == frame["cell"]:
                raise KeyboardInterrupt
            tree = compile(code, name, "exec", 0x400)
            last = tree.body.pop() if tree.body and isinstance(tree.body[-1], _ast.Expr) else None
            exec(compile(tree, name, "exec"), self.main)
            if last is not None:
                value = eval(compile(_ast.Expression(last.value), name, "eval"), self.main)
                if value is not None:
                    self.main["_"] = value
                    done["value"] = repr(value)[:SHOWN]
            self.interruptible = False
        except BaseException as e:
            self.interruptible = False
            done["status"] = "interrupted" if issubclass(type(e), KeyboardInterrupt) else "error"
            done["exception"] = type(e).__name__[:200]
            done["traceback"] = shown(e)
        finally:
            self.cell = self.early = None
        done["noticed"] = sorted(self.noticed)[:32]
        done["cpu"] = max(0.0, time.process_time() - cpu)
        flush()
        self.send(done)

    def serve(self):
        _signal.signal(_signal.SIGINT, self.interrupted)
        _signal.signal(_signal.SIGPIPE, _signal.SIG_IGN)
        sys.addaudithook(self.audit)
        os.register_at_fork(after_in_child=self.after_fork)
        self.send({"op": "up", "python": sys.version.split()[0]})
        if not select.select([IN], [], [], WAITS)[0]:
            self.load_modules()
        hello = read_frame()
        _thread.start_new_thread(self.listen, ())  # before ready: libc tries clone3 for it, which is refused
        self.hello(hello)
        self.prepare()
        ops = {"run": self.run, "keep": self.keep, "load": self.load}
        while True:
            frame = self.requests.get()
            try:
                ops[frame["op"]](frame)
            except BaseException as e:  # of ours, or of a cell that damaged us
                self.send({"op": "failed", "of": frame["op"], "message": repr(e)[:2000]})

    def keep(self, frame):
        """Sends what of the namespace can be kept without running the cells again."""
        import base64
        import pickle
        import types

        plain, modules, sources, lost = {}, {}, {}, []
        for name, value in list(self.main.items()):
            if name.startswith("__") or name == "_" or value is self.given.get(name, Driver):
                continue
            if isinstance(value, types.ModuleType) and sys.modules.get(value.__name__) is value:
                modules[name] = value.__name__
            elif isinstance(value, (types.FunctionType, type)) and self.source(name, value) is not None:
                sources[name] = self.source(name, value)
            elif is_plain(value):
                plain[name] = value
            else:
                lost.append(name)
        try:
            data = pickle.dumps(plain, 4)
        except Exception:  # such as a list nested deeper than pickle goes
            data, lost, plain = pickle.dumps({}, 4), lost + sorted(plain), {}
        self.send({"op": "kept", "data": base64.b64encode(data).decode(), "modules": modules,
                   "sources": [[k, *sources[k]] for k in sorted(sources, key=lambda k: sources[k][0])],
                   "random": repr(random.getstate()), "lost": sorted(lost)})

    def source(self, name, value):
        """Order and text of a top-level definition that stands as it was written, else None."""
        if value.__module__ != "__main__" or value.__name__ != name:
            return None
        if not isinstance(value, type) and (value.__closure__ or value.__dict__):
            return None
        code = getattr(value, "__code__", None)
        for order, (file, text) in reversed(list(enumerate(self.sources.items()))):
            if code is not None and code.co_filename != file:
                continue
            try:
                tree = compile(text, file, "exec", 0x400)
            except (SyntaxError, ValueError):
                continue
            for node in reversed(tree.body):
                if isinstance(node, (_ast.FunctionDef, _ast.ClassDef, _ast.AsyncFunctionDef)) and node.name == name:
                    first = min([node.lineno] + [d.lineno for d in node.decorator_list])
                    lines = text.splitlines(True)[first - 1:node.end_lineno]
                    return order * 1000000 + first, "".join(lines)
        return None

    def load(self, frame):
        """Brings back what keep sent. Pickles are read here, inside the sandbox, and nowhere else."""
        import ast
        import base64
        import importlib
        import pickle

        for name, module in frame.get("modules", {}).items():
            self.main[name] = importlib.import_module(module)
        self.main.update(pickle.loads(base64.b64decode(frame["data"])))
        for name, _order, text in frame.get("sources", ()):
            file = "<kept %s>" % name
            self.sources[file] = text
            linecache.cache[file] = (len(text), None, text.splitlines(True), file)
            exec(compile(text, file, "exec"), self.main)
        random.setstate(ast.literal_eval(frame["random"]))
        self.send({"op": "loaded"})


class Group:
    """Holds tools whose names have a dot."""


def is_plain(value, depth=0):
    t = type(value)
    if value is None or t in (bool, int, float, complex, str, bytes, bytearray):
        return True
    if depth > 100:
        return False
    if t in (list, tuple, set, frozenset):
        return all(is_plain(v, depth + 1) for v in value)
    if t is dict:
        return all(is_plain(k, depth + 1) and is_plain(v, depth + 1) for k, v in value.items())
    return False


def shown(e):
    """The traceback of a cell without the driver's own frames."""
    try:
        te = traceback.TracebackException(type(e), e, e.__traceback__)
        for part in chain(te):
            part.stack[:] = [f for f in part.stack if f.filename != FILE]
        text = "".join(te.format())
    except BaseException as broken:  # an exception whose own methods fail
        text = "%s (its text cannot be shown: %s)" % (type(e).__name__, type(broken).__name__)
    if len(text) > SHOWN:
        text = text[:SHOWN // 2] + "\n...\n" + text[-SHOWN // 2:]
    return text


def chain(te):
    seen = set()
    todo = [te]
    while todo:
        part = todo.pop()
        if part is None or id(part) in seen:
            continue
        seen.add(id(part))
        yield part
        todo += [part.__cause__, part.__context__, *(getattr(part, "exceptions", None) or [])]


def flush():
    for stream in sys.stdout, sys.stderr:
        try:
            stream.flush()
        except BaseException:  # closed or replaced by the cell
            pass


listener = int(sys.argv.pop())
if listener >= 0:
    enter(listener)
for limit, most in decode(sys.argv.pop().encode()).items():
    hard = resource.getrlimit(getattr(resource, limit))[1]
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(getattr(resource, limit), (most, most))
for fd in IN, OUT:
    os.set_inheritable(fd, False)
sys.path[:] = [p for p in sys.path if p]
sys.path.append(os.getcwd())
sys.stdout.reconfigure(line_buffering=True, errors="backslashreplace")
sys.stderr.reconfigure(errors="backslashreplace")
Driver().serve()
