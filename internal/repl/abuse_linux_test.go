package repl

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// abuses use up what there is, or break what they run in. Some end with their sandbox.
var abuses = []attack{
	{name: "fork bomb", code: `
n = 0
try:
    while n < 2000:
        if os.fork() == 0: time.sleep(30); os._exit(0)
        n += 1
except OSError as e: print("refused", e)
verdict(n < 64, n, "forks")`},
	{name: "thread bomb", code: `
import threading
n = 0
try:
    while n < 2000: threading.Thread(target=time.sleep, args=(30,), daemon=True).start(); n += 1
except RuntimeError as e: print("refused", e)
verdict(n < 64, n, "threads")`},
	{name: "ten gigabytes", status: []Status{Died, Raised}, code: `
held = []
for i in range(1000): held.append(bytearray(os.urandom(1 << 20) * 10))
print("ESCAPED")`},
	{name: "memory of many processes", status: []Status{Died, OK}, code: `
r, w = os.pipe()
until, hold = os.pipe()
for i in range(8):
    if os.fork() == 0:
        os.close(hold)
        held = bytearray(os.urandom(1 << 20) * 60); os.write(w, b"."); os.close(w); os.read(until, 1); os._exit(0)
os.close(w)
kept = sum(iter(lambda: len(os.read(r, 8)), 0))
if kept >= 5: time.sleep(10) # whoever looks on has them all before him
os.close(hold)
for i in range(8): os.wait()
verdict(kept < 5, kept, "of 8 kept 60 MB")`},
	{name: "memory in dev shm", status: []Status{Died, OK}, code: `fails(lambda: [open("/dev/shm/%d" % i, "wb").write(bytes(1 << 20)) for i in range(100)])`},
	{name: "fill tmp", status: []Status{Died, OK}, code: `fails(lambda: [open("/tmp/%d" % i, "wb").write(bytes(1 << 20)) for i in range(100)])`},
	{name: "one huge file", code: `
def fill():
    with open("big", "wb") as f:
        for i in range(200): f.write(bytes(1 << 20))
fails(fill)`},
	{name: "many files", status: []Status{Died}, code: `
for i in range(2000):
    with open("f%d" % i, "wb") as f: f.write(bytes(1 << 20))
print("ESCAPED")`},
	{name: "endless loop", limits: Limits{WallMS: 3000}, status: []Status{Interrupted}, code: `
while True: pass`},
	{name: "a loop that heeds nothing", limits: Limits{WallMS: 3000}, status: []Status{Died}, code: `
import signal
signal.signal(signal.SIGINT, signal.SIG_IGN)
while True:
    try:
        while True: time.sleep(1)
    except BaseException: pass`},
	{name: "CPU time of children", limits: Limits{CPUSeconds: 1}, status: []Status{Died}, code: `
for i in range(2):
    if os.fork() == 0:
        while True: pass
while True: time.sleep(1)`},
	{name: "kill everybody", status: []Status{OK, Died}, code: `
import signal
try: os.kill(-1, signal.SIGKILL)
except OSError: pass
print("refused: the host lives, as the test does")`},
	{name: "end its own Python", status: []Status{Died}, code: `os._exit(0)`},
	{name: "crash its own Python", status: []Status{Died}, code: `ctypes.string_at(0)`},
	{name: "close every descriptor", status: []Status{Died}, code: `os.closerange(0, 256)`},
	{name: "replace builtins", status: []Status{OK, Died}, code: `
import builtins, json
json.dumps = json.loads = None
builtins.len = builtins.isinstance = lambda *a: 1 / 0
os.write = None
print("refused: only its own Python breaks")`},
	{name: "an exception that bites", status: []Status{Raised}, code: `
class Bite(Exception):
    def __str__(self): raise SystemExit("no text")
    __repr__ = __str__
    __class__ = property(lambda self: 1 / 0)
raise Bite`},
	{name: "endless recursion", status: []Status{Raised, Died}, code: `
sys.setrecursionlimit(10**9)
def f(): return f() + 1
f()`},
	{name: "a tracer in the driver", status: []Status{OK, Died}, code: `
sys.settrace(lambda *a: None)
import gc
found = [o for o in gc.get_objects() if type(o).__name__ == "Driver"]
print("refused: it finds only its own side", len(found))`},
	{name: "core dumps", code: `
import signal
pid = os.fork()
if pid == 0: os.abort()
os.wait()
verdict(not [f for f in os.listdir(".") if f.startswith("core")], os.listdir("."))`},
}

func TestAbuses(t *testing.T) {
	p := openForAttack(t)
	if p == nil {
		return
	}
	for _, a := range abuses {
		t.Run(a.name, func(t *testing.T) {
			s, out := p.try(t, a)
			after, err := s.Run(t.Context(), Cell{Code: "'still ' + 'there'"})
			switch {
			case out.Status == Interrupted && (err != nil || after.Value != "'still there'"):
				t.Errorf("the namespace went with an interrupt: %+v, %v", after, err)
			case out.Status == Died && (err == nil || out.Reason == ""):
				t.Errorf("a dead session ran a cell, or no reason is given: %+v, %q", after, out.Reason)
			}
			if err := s.Restart(t.Context()); err != nil {
				t.Fatal(err)
			}
			if again := run(t, s, "6 * 7"); again.Value != "42" {
				t.Errorf("after a restart: %+v", again)
			}
		})
	}
}

// What a cell writes beyond the limit goes to an artifact, wherever code points its
// directory; and no more of it than the workspace may have.
func TestAbusesOfOutput(t *testing.T) {
	p := openForAttack(t)
	if p == nil {
		return
	}
	s := session(t, p.Pool, SessionOptions{ID: "attack output", Limits: Limits{OutputBytes: 1000}})
	out := run(t, s, "for i in range(5000): print('line', i)")
	whole, err := os.ReadFile(filepath.Join(s.Workspace, filepath.FromSlash(out.Artifact)))
	if err != nil || !out.Truncated || len(out.Output) != 1000 || !strings.HasPrefix(string(whole), "line 0\nline 1\n") || !strings.HasSuffix(string(whole), "line 4999\n") {
		t.Errorf("%d bytes kept, artifact %q of %d bytes, %v", len(out.Output), out.Artifact, len(whole), err)
	}
	if v := run(t, s, "open("+quote(out.Artifact)+").read()[-5:]"); v.Value != `'4999\n'` {
		t.Errorf("the cell cannot read it: %+v", v)
	}
	outside := t.TempDir()
	if os.Geteuid() == 0 {
		if err := os.Chmod(outside, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	out = run(t, s, "import shutil, os; shutil.rmtree('.artifacts'); os.symlink("+quote(outside)+", '.artifacts'); print('x' * 10_000)")
	if left, err := os.ReadDir(outside); err != nil || len(left) > 0 || out.Artifact != "" {
		t.Errorf("an artifact left the workspace: %v, %v, %q", left, err, out.Artifact)
	}
	if out = run(t, s, "class Long:\n  def __repr__(self): return 'x' * 10_000_000\nLong()"); len(out.Value) > 70_000 {
		t.Errorf("a value of %d bytes", len(out.Value))
	}
	run(t, s, "import os; os.remove('.artifacts')")
	out = run(t, s, "import sys\nfor i in range(60): sys.stdout.write('y' * (1 << 20))")
	if out.Status == OK && len(out.Output) != 1000 {
		t.Errorf("%+v", out.Status)
	}
	if n := largest(t, s.Workspace); n > 32<<20 || n < 1<<20 {
		t.Errorf("of 60 MiB of output an artifact has %d bytes, and the workspace may have 32 MiB", n)
	}
}

// largest gives the bytes of the largest file below a directory.
func largest(t *testing.T, dir string) (n int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			n = max(n, info.Size())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func quote(s string) string { return "'" + s + "'" }

// Cells that speak for the driver, with and without its nonce.
func TestProtocolForgery(t *testing.T) {
	p := openForAttack(t)
	if p == nil {
		return
	}
	const find = `
import gc, json, os
d = next(o for o in gc.get_objects() if type(o).__name__ == "Driver")
def say(**m):
    b = json.dumps(m).encode(); os.write(4, len(b).to_bytes(4, "big") + b)
def wait():
    import time; time.sleep(600); print("ESCAPED")
`
	for _, f := range []struct {
		name, code string
		status     Status
		output     string
	}{
		{"frames on standard output", `os.write(1, b'\0\0\0\x16{"op":"done","cell":""}\n'); print("done")`, OK, "done"},
		{"no nonce", `say(op="done", cell="1", status="ok"); wait()`, Died, "ran"},
		{"a wrong nonce", `say(op="call", nonce="x", id=1, name="ask", args={}); wait()`, Died, "ran"},
		{"a huge length", `os.write(4, b"\xff\xff\xff\xff"); wait()`, Died, "ran"},
		{"a length without a body", `os.write(4, b"\x00\xff\xff\xff" + b"x" * 100); os._exit(0)`, Died, "ran"},
		{"no JSON", `os.write(4, b"\0\0\0\x03abc"); wait()`, Died, "ran"},
		{"deep JSON", `b = b"[" * 100000; os.write(4, len(b).to_bytes(4, "big") + b); wait()`, Died, "ran"},
		{"an unknown message", `say(op="exec", nonce=d.nonce, code="1"); wait()`, Died, "ran"},
		{"an unknown tool", `say(op="call", nonce=d.nonce, id=1, name="rm", args={}); wait()`, Died, "ran"},
		{"arguments that are no object", `say(op="call", nonce=d.nonce, id=1, name="ask", args=[1]); wait()`, Died, "ran"},
		{"the end of another cell", `say(op="done", nonce=d.nonce, cell="other", status="ok"); wait()`, Died, "ran"},
		{"an answer to nothing", `say(op="kept", nonce=d.nonce); say(op="kept", nonce=d.nonce); wait()`, Died, "ran"},
		{"a status of its own", `say(op="done", nonce=d.nonce, cell="1", status="approved"); wait()`, Died, "ran"},
		{"wrong types", `say(op={"a": 1}, nonce=d.nonce); wait()`, Died, "ran"},
		// With the nonce a cell can end itself early, and say of itself what it likes.
		{"its own end", `say(op="done", nonce=d.nonce, cell="1", status="ok", value="42", noticed=["x" * 1000] * 1000); wait()`, OK, "ran"},
		{"a call from a fork", `
r, w = os.pipe()
if os.fork() == 0:
    try: ask()
    except BaseException as e: os.write(w, repr(e).encode())
    os._exit(0)
os.wait(); print(os.read(r, 1000))`, OK, "forked process"},
	} {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			s := session(t, p.Pool, SessionOptions{ID: "forgery " + f.name, Stubs: []Stub{{Name: "ask"}}})
			defer s.Close()
			out := run(t, s, find+"print('ran', flush=True)\n"+f.code)
			if out.Status != f.status || !strings.Contains(out.Output, f.output) || !strings.HasPrefix(out.Output, "ran\n") {
				t.Errorf("%+v", out)
			}
			if f.status == Died && !strings.Contains(out.Reason, "protocol") && !strings.Contains(out.Reason, "status 0") {
				t.Errorf("the reason is %q", out.Reason)
			}
			if !strings.Contains(p.logged(), `session="forgery `+f.name+`"`) {
				t.Error("nothing was logged")
			}
		})
	}
}
