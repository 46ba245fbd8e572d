package repl

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// What the kernel refuses is named in the outcome, in the log, and counted: from the
// session's own process, its threads, its children, and after a restart.
func TestRefusalsAreNamed(t *testing.T) {
	p := openForAttack(t)
	if p == nil {
		return
	}
	s := session(t, p.Pool, SessionOptions{ID: "named"})
	for range 2 {
		out := run(t, s, weapons(t)+`
import subprocess, threading
nr("unshare", 0x10000000)
t = [threading.Thread(target=nr, args=("mount", b"none", b"/tmp", b"tmpfs", 0, None)) for i in range(3)]
for x in t: x.start()
for x in t: x.join()
if os.fork() == 0: nr("bpf", 0, None, 0); os._exit(0)
os.wait()
subprocess.run(["/usr/bin/python3", "-S", "-c", "import _socket\ntry: _socket.socket()\nexcept OSError as e: print('refused', e)"])
nr("clone", 0x10000000 | 17, 0, 0, 0, 0)
nr("clone3", ctypes.create_string_buffer(88), 88)
for number in 100000, 100001: libc.syscall(ctypes.c_long(number))`)
		threads := out.Refused["clone3"] // libc tries it once, or once for each thread
		delete(out.Refused, "clone3")
		want := Refusals{"unshare": 1, "mount": 3, "bpf": 1, "socket": 1, "clone": 1, unnamed: 2}
		if out.Status != OK || !maps.Equal(out.Refused, want) || threads < 1 || threads > 4 || strings.Count(out.Output, "refused") != 8 || strings.Contains(out.Output, "ESCAPED") {
			t.Errorf("%+v", out)
		}
		if out = run(t, s, "1"); out.Refused != nil {
			t.Errorf("they are told twice: %v", out.Refused)
		}
		if err := s.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if !regexp.MustCompile(`refused="bpf 1, clone 1, clone3 [1-4], mount 3, socket 1, unnamed 2, unshare 1"`).MatchString(p.logged()) {
		t.Error("the log does not name them")
	}
}

// A session's own thread is no cell's: a cell that does nothing has nothing refused. A cell
// with a thread has, in a line that is no warning, since libc does that.
func TestRefusalsThatAreUsual(t *testing.T) {
	p := openForAttack(t)
	if p == nil {
		return
	}
	s := session(t, p.Pool, SessionOptions{ID: "usual"})
	if out := run(t, s, "1"); out.Refused != nil || strings.Contains(p.logged(), "outside a cell") {
		t.Errorf("%+v\n%s", out, p.logged())
	}
	exit, err := p.Exec(t.Context(), Command{Args: []string{"/usr/bin/python3", "-S", "-c", "import _thread; end = _thread.allocate_lock(); end.acquire(); _thread.start_new_thread(lambda: (print('in a thread'), end.release()), ()); end.acquire()"}})
	if err != nil || !strings.Contains(exit.Output, "in a thread") || exit.Refused["clone3"] != 1 || len(exit.Refused) != 1 {
		t.Errorf("%+v %v", exit, err)
	}
	if !strings.Contains(p.logged(), `level=INFO msg="a command was refused system calls" program=/usr/bin/python3 refused="clone3 1"`) {
		t.Error(p.logged())
	}
}

// Threads that outlive their cell are named without one.
func TestRefusalsOutsideACell(t *testing.T) {
	p := openForAttack(t)
	if p == nil {
		return
	}
	s := session(t, p.Pool, SessionOptions{ID: "outside"})
	run(t, s, `
import os, socket, threading
def late():
    while not os.path.exists("go"): pass
    try: socket.socket()
    except OSError: open("late", "w").close()
threading.Thread(target=late, daemon=True).start()`)
	if err := os.WriteFile(filepath.Join(s.Workspace, "go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for there := false; !there; time.Sleep(time.Millisecond) {
		_, err := os.Stat(filepath.Join(s.Workspace, "late"))
		there = err == nil
	}
	if out := run(t, s, "1"); out.Refused != nil {
		t.Errorf("%+v", out)
	}
	if !strings.Contains(p.logged(), `msg="system calls were refused outside a cell" session=outside refused="socket 1"`) {
		t.Error(p.logged())
	}
}

// A flood is counted in full and ends with its cell; commands are told of like cells.
func TestRefusalsInAFlood(t *testing.T) {
	p := openForAttack(t)
	if p == nil {
		return
	}
	var s *Session
	var out Outcome
	for wall := 1500; wall < 100_000 && out.Refused["unshare"] < refusedBurst; wall *= 4 { // a busy machine takes longer to make so many
		s = session(t, p.Pool, SessionOptions{ID: "flood", Limits: Limits{WallMS: wall}})
		out = run(t, s, weapons(t)+`
import threading
def flood():
    while True: libc.syscall(ctypes.c_long(NR["unshare"]), 0x10000000)
for i in range(8): threading.Thread(target=flood, daemon=True).start()
flood()`)
	}
	if n := out.Refused["unshare"]; out.Status != Interrupted || n < refusedBurst || n > 2*refusedBurst+int(out.Wall/refusedGap) {
		t.Errorf("%d calls, %+v", n, out)
	}
	if after := run(t, s, "6 * 7"); after.Value != "42" {
		t.Errorf("%+v", after)
	}
	exit, err := p.Exec(t.Context(), Command{Args: []string{"/usr/bin/unshare", "-U", "true"}})
	if err != nil || exit.Code == 0 || exit.Refused["unshare"] != 1 || !strings.Contains(p.logged(), `program=/usr/bin/unshare refused="unshare 1"`) {
		t.Errorf("%+v, %v", exit, err)
	}
}

// alteredEntry opens a pool whose sandboxes find another text in enter.py.
func alteredEntry(t *testing.T, was, is string) *attacked {
	t.Helper()
	if p := openForAttack(t); p == nil {
		return nil
	}
	a := &attacked{Pool: pool(t, Options{})} // nothing is started in the background
	b := a.backend.(*bubblewrap)
	b.enter = strings.Replace(b.enter, was, is, 1)
	return a
}

// Where no listener is to be had, calls are refused all the same, without a name. A Python
// without ctypes stands for a kernel that has none.
func TestRefusalsWithoutAListener(t *testing.T) {
	p := alteredEntry(t, "import _ctypes", "import _nothing")
	if p == nil {
		return
	}
	layers := p.backend.layers(t.Context())
	if l := layers[7]; l.Holds || l.Needed || !strings.Contains(l.Detail, "_nothing") || !layers[2].Holds || refuse(layers, nil) != nil {
		t.Errorf("%+v", layers)
	}
	exit, err := p.Exec(t.Context(), Command{Args: []string{"/usr/bin/unshare", "-U", "true"}})
	if err != nil || exit.Code == 0 || exit.Refused != nil || !strings.Contains(exit.Output, "not permitted") {
		t.Errorf("%+v, %v", exit, err)
	}
}

// A sandbox never begins under bwrap's filter alone.
func TestRefusalsOrNoSandbox(t *testing.T) {
	p := alteredEntry(t, "if listener < 0:", "if listener >= 0:")
	if p == nil {
		return
	}
	exit, err := p.Exec(t.Context(), Command{Args: []string{"/bin/true"}})
	if err != nil || exit.Code == 0 || !strings.Contains(exit.Output, "no listener") {
		t.Errorf("%+v, %v", exit, err)
	}
	if _, err := p.boot(t.Context(), p.opts.Limits); err == nil {
		t.Error("a Python began without its filter")
	}
}

// The harness's end of a listener goes with it, and the kernel refuses by itself then.
func TestRefusalsWithoutTheHarness(t *testing.T) {
	p := openForAttack(t)
	if p == nil {
		return
	}
	s := session(t, p.Pool, SessionOptions{ID: "alone"})
	s.engine.(*sandboxed).refusals.close()
	out := run(t, s, weapons(t)+`nr("unshare", 0x10000000); nr("mount", b"none", b"/tmp", b"tmpfs", 0, None)`)
	if out.Status != OK || strings.Count(out.Output, "refused") != 2 || !strings.Contains(out.Output, "ENOSYS") {
		t.Errorf("%+v", out)
	}
}
