package repl

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// attack is code that tries what a sandbox must not allow. It prints "ran NAME", which
// proves that it was tried, then "refused" or "ESCAPED".
type attack struct {
	name, code string
	refused    []string // calls that must be named, beside those that nr makes
	limits     Limits
	status     []Status // ways for the cell to end; OK if none is given
}

// weapons go before every attack: raw system calls by number, and ways to tell the end.
func weapons(t *testing.T) string {
	numbers := map[string]int{"ptrace": unix.SYS_PTRACE, "mount": unix.SYS_MOUNT, "umount2": unix.SYS_UMOUNT2, "unshare": unix.SYS_UNSHARE, "setns": unix.SYS_SETNS, "clone": unix.SYS_CLONE,
		"clone3": unix.SYS_CLONE3, "keyctl": unix.SYS_KEYCTL, "add_key": unix.SYS_ADD_KEY, "io_uring_setup": unix.SYS_IO_URING_SETUP, "bpf": unix.SYS_BPF, "perf_event_open": unix.SYS_PERF_EVENT_OPEN,
		"userfaultfd": unix.SYS_USERFAULTFD, "chroot": unix.SYS_CHROOT, "pivot_root": unix.SYS_PIVOT_ROOT, "process_vm_readv": unix.SYS_PROCESS_VM_READV, "pidfd_getfd": unix.SYS_PIDFD_GETFD,
		"pidfd_open": unix.SYS_PIDFD_OPEN, "open_by_handle_at": unix.SYS_OPEN_BY_HANDLE_AT, "name_to_handle_at": unix.SYS_NAME_TO_HANDLE_AT, "init_module": unix.SYS_INIT_MODULE,
		"finit_module": unix.SYS_FINIT_MODULE, "kexec_load": unix.SYS_KEXEC_LOAD, "reboot": unix.SYS_REBOOT, "swapon": unix.SYS_SWAPON, "acct": unix.SYS_ACCT, "capset": unix.SYS_CAPSET,
		"personality": unix.SYS_PERSONALITY, "seccomp": unix.SYS_SECCOMP, "fsopen": unix.SYS_FSOPEN, "open_tree": unix.SYS_OPEN_TREE, "move_mount": unix.SYS_MOVE_MOUNT, "prlimit64": unix.SYS_PRLIMIT64,
		"getpid": unix.SYS_GETPID, "kcmp": unix.SYS_KCMP, "fanotify_init": unix.SYS_FANOTIFY_INIT, "quotactl": unix.SYS_QUOTACTL, "settimeofday": unix.SYS_SETTIMEOFDAY, "syslog": unix.SYS_SYSLOG,
		"sethostname": unix.SYS_SETHOSTNAME, "memfd_secret": unix.SYS_MEMFD_SECRET, "landlock": unix.SYS_LANDLOCK_CREATE_RULESET, "pidfd_send_signal": unix.SYS_PIDFD_SEND_SIGNAL}
	var b strings.Builder
	b.WriteString("import ctypes, errno, os, sys, socket, time\nlibc = ctypes.CDLL(None, use_errno=True)\nlibc.syscall.restype = ctypes.c_long\nNR = {")
	for k, v := range numbers {
		fmt.Fprintf(&b, "%q: %d, ", k, v)
	}
	b.WriteString(`}
def nr(name, *args):
    "A raw system call must fail with one of the errors that mean it is not to be had."
    ctypes.set_errno(0)
    r = libc.syscall(ctypes.c_long(NR[name]), *[ctypes.c_long(a) if isinstance(a, int) else a for a in args])
    e = ctypes.get_errno()
    verdict(r == -1 and e in (errno.EPERM, errno.ENOSYS, errno.EACCES), name, r, errno.errorcode.get(e))
def verdict(refused, *what):
    print("refused" if refused else "ESCAPED", *what)
def fails(f, *kinds):
    try: got = f()
    except (kinds or (OSError,)) as e: print("refused", repr(e)[:200])
    else: print("ESCAPED", repr(got)[:200])
`)
	return b.String()
}

// on names calls of one processor.
func on(processor string, calls ...string) []string {
	if runtime.GOARCH == processor {
		return calls
	}
	return nil
}

var byNumber = regexp.MustCompile(`\bnr\("(\w+)"`)

// named wants every call of an attack that the kernel refused named in the log.
func (p *attacked) named(t *testing.T, a attack, out Outcome) {
	t.Helper()
	want := slices.Clone(a.refused)
	for _, m := range byNumber.FindAllStringSubmatch(a.code, -1) {
		want = append(want, m[1])
	}
	for _, name := range want {
		if name != "capset" && out.Refused[name] == 0 { // which that attack does not make
			t.Errorf("%s is not among the refused calls: %s", name, out.Refused)
		}
	}
	if len(want) > 0 && !strings.Contains(p.logged(), `refused="`+out.Refused.String()+`"`) {
		t.Errorf("the log does not have %s", out.Refused)
	}
}

// calls are attacks by one system call.
var calls = []attack{
	{name: "ptrace", code: `nr("ptrace", 16, 1, 0, 0)`},
	{name: "mount a tmpfs", code: `nr("mount", b"none", b"/tmp", b"tmpfs", 0, None)`},
	{name: "remount usr for writing", code: `nr("mount", b"none", b"/usr", None, 0x1020, None)`},
	{name: "unmount", code: `nr("umount2", b"/usr", 2)`},
	{name: "the new mount calls", code: `nr("fsopen", b"tmpfs", 0); nr("open_tree", -100, b"/", 1); nr("move_mount", 3, b"", 4, b"", 0)`},
	{name: "unshare users", code: `nr("unshare", 0x10000000)`},
	{name: "unshare mounts and network", code: `nr("unshare", 0x20000); nr("unshare", 0x40000000)`},
	{name: "setns", code: `nr("setns", os.open("/proc/self/ns/mnt", os.O_RDONLY), 0)`},
	{name: "clone with a user namespace", code: `nr("clone", 0x10000000 | 17, 0, 0, 0, 0)`},
	{name: "clone3", code: `nr("clone3", ctypes.create_string_buffer(88), 88)`},
	{name: "keyrings", code: `nr("keyctl", 0, -3, 1); nr("add_key", b"user", b"k", b"v", 1, -3)`},
	{name: "io_uring", code: `nr("io_uring_setup", 8, ctypes.create_string_buffer(120))`},
	{name: "bpf", code: `nr("bpf", 0, ctypes.create_string_buffer(120), 120)`},
	{name: "perf events", code: `nr("perf_event_open", ctypes.create_string_buffer(120), 0, -1, -1, 0)`},
	{name: "userfaultfd", code: `nr("userfaultfd", 1)`},
	{name: "chroot and pivot_root", code: `nr("chroot", b"/tmp"); nr("pivot_root", b"/tmp", b"/tmp")`},
	{name: "memory of another process", code: `nr("process_vm_readv", 1, None, 0, None, 0, 0); fails(lambda: open("/proc/1/mem", "r+b").read(1)); nr("kcmp", 1, 2, 0, 0, 0)`},
	{name: "descriptors of another process", code: `nr("pidfd_getfd", libc.syscall(ctypes.c_long(NR["pidfd_open"]), 1, 0), 0, 0)`},
	{name: "files by handle", code: `nr("name_to_handle_at", -100, b"/usr", ctypes.create_string_buffer(200), ctypes.byref(ctypes.c_int()), 0); nr("open_by_handle_at", 3, ctypes.create_string_buffer(200), 0)`},
	{name: "kernel modules and kexec", code: `nr("init_module", b"", 0, b""); nr("finit_module", 3, b"", 0); nr("kexec_load", 0, 0, None, 0)`},
	{name: "the machine itself", code: `nr("reboot", 0xfee1dead, 672274793, 0x89abcdef, None); nr("swapon", b"/tmp/x", 0); nr("acct", None); nr("quotactl", 0, None, 0, None); nr("settimeofday", None, None); nr("syslog", 3, None, 0); nr("sethostname", b"x", 1)`},
	{name: "capabilities", code: `nr("capset", ctypes.create_string_buffer(8), ctypes.create_string_buffer(24)) if False else verdict(all(l.split()[1].strip("0") == "" for l in open("/proc/self/status") if l.startswith("Cap")), "capabilities")`},
	{name: "personality and filters of its own", code: `nr("personality", 0x0040000); nr("seccomp", 1, 0, None); nr("fanotify_init", 0, 0); nr("memfd_secret", 0)`},
	{name: "limits of another process", code: `nr("prlimit64", 1, 7, None, ctypes.create_string_buffer(16))`},
	{name: "the x32 calls", code: `ctypes.set_errno(0); r = libc.syscall(ctypes.c_long(0x40000000 | NR["getpid"])); verdict(r == -1, r, ctypes.get_errno())`, refused: on("amd64", "x32:getpid")},
	{name: "the 32-bit calls", code: `
import mmap, platform
if platform.machine() == "x86_64":
    m = mmap.mmap(-1, 4096, prot=7)
    m.write(bytes.fromhex("b814000000cd80c3"))  # mov eax, 20 (getpid); int 0x80; ret
    f = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(m)))
    r = f()
    verdict(r == -1, r)
else:
    verdict(True, "there are none on", platform.machine())`, refused: on("amd64", "i386:getpid")},
	{name: "become root", code: `
for f in os.setuid, os.setgid: fails(lambda: f(0))
fails(lambda: os.setgroups([0]))`},
	{name: "raise its own limits", code: `
import resource
for n in "NPROC", "CPU", "FSIZE": fails(lambda: resource.setrlimit(getattr(resource, "RLIMIT_" + n), (1 << 40, 1 << 40)), ValueError, OSError)`},
}

// places are attacks on files and sockets; %[1]s is a secret file of the host, %[2]d a
// port that the host listens on.
var places = []attack{
	{name: "read files outside", code: `
for p in "%[1]s", "/etc/shadow", "/etc/passwd", "/root", "/home", "/var", "/sys/kernel", "/proc/1/root/etc": fails(lambda: (os.listdir if os.path.isdir(p) else open)(p))
verdict(not os.path.exists("/proc/1/root%[1]s"), "through proc")`},
	{name: "dot dot", code: `
fails(lambda: open("../../../../../../%[1]s").read())
os.symlink("%[1]s", "link")
fails(lambda: open("link").read())`},
	{name: "environment of the host", code: `
text = repr(dict(os.environ)) + repr(open("/proc/1/environ").read()) + repr(open("/proc/self/environ").read())
verdict("planted" not in text and "HOME=/root" not in text, len(text))`},
	{name: "command line of the host", code: `verdict(not any(os.path.exists("/proc/%%d" %% p) for p in (2, 100, 1000, 5000)) or len([p for p in os.listdir("/proc") if p.isdigit()]) <= 4, [p for p in os.listdir("/proc") if p.isdigit()])`},
	{name: "inherited descriptors", code: `
fds = sorted(int(f) for f in os.listdir("/proc/self/fd"))
links = [os.readlink("/proc/self/fd/%%d" %% f) for f in fds if f <= 4 or os.path.exists("/proc/self/fd/%%d" %% f)]
verdict(len(links) <= 6 and all(l.startswith(("pipe:", "/dev/null", "/proc/")) for l in links), links)`},
	{name: "write to the system", code: `
for p in "/usr/bin/x", "/x", "/dev/x", "/etc/x", "/run/x", "/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger": fails(lambda: open(p, "w").write("1"))
def protect():
    with open("/proc/1/oom_score_adj", "w") as f: f.write("-1000")
fails(protect)`},
	{name: "device nodes", code: `
import stat
fails(lambda: os.mknod("disk", 0o600 | stat.S_IFBLK, os.makedev(8, 0)))
verdict(not any(os.path.exists("/dev/" + d) for d in ("mem", "kmsg", "kvm", "fuse", "sda", "vda", "loop0", "tun")), os.listdir("/dev"))`},
	{name: "connect to the host", code: `
fails(lambda: socket.create_connection(("127.0.0.1", %[2]d), 2))
fails(lambda: socket.socket(socket.AF_INET6, socket.SOCK_STREAM))
fails(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("8.8.8.8", 53)))`},
	{name: "look up a name", code: `fails(lambda: socket.getaddrinfo("example.com", 80)); fails(lambda: socket.gethostbyname("localhost."))`},
	{name: "a socket of the host in the workspace", code: `verdict(os.path.exists("host.sock"), "it is there"); fails(lambda: socket.socket(socket.AF_UNIX).connect("host.sock"))`},
	{name: "an abstract socket of the host", code: `fails(lambda: socket.socket(socket.AF_UNIX).connect("\0macaron-escape-%[2]d"))`},
	{name: "netlink, packet and vsock", code: `
for family in 16, 17, 40, 38: fails(lambda: socket.socket(family, socket.SOCK_RAW if family < 38 else socket.SOCK_STREAM))`},
	{name: "type into the terminal", code: `
import fcntl
for fd in 0, 1, 2: fails(lambda: fcntl.ioctl(fd, 0x5412, b"x"))
fails(lambda: open("/dev/tty"))`},
	{name: "a setuid program with LD_PRELOAD", code: `
import subprocess
os.environ["LD_PRELOAD"] = os.path.abspath("evil.so")
for p in "/usr/bin/su", "/usr/bin/mount", "/usr/bin/passwd", "/usr/bin/newgrp":
    if os.path.exists(p):
        got = subprocess.run([p, "--version"], capture_output=True, env=os.environ)
        break
status = open("/proc/self/status").read()
verdict("NoNewPrivs:\t1" in status and os.geteuid() != 0, p)`},
	{name: "keep a setuid file", code: `
open("suid", "w").write("#!/bin/sh\n")
os.chmod("suid", 0o6755)
verdict(os.stat("suid").st_uid != 0, "it belongs to", os.stat("suid").st_uid)
fails(lambda: os.chown("suid", 0, 0))
fails(lambda: os.link("/usr/bin/su", "su"))`},
	{name: "control groups", code: `
fails(lambda: os.listdir("/sys/fs/cgroup"))
nr("mount", b"cgroup", b"/tmp", b"cgroup", 0, b"memory")`},
	{name: "signals to what is above", code: `
import signal
for p in 1, os.getppid():
    try: os.kill(p, signal.SIGKILL)
    except OSError as e: print("refused", e)
time.sleep(.05)
verdict(os.path.exists("/proc/1"), "the first process lives")`},
}

func TestEscapes(t *testing.T) {
	p := openForAttack(t)
	if p == nil {
		return
	}
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("secret of the host"), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("MACARON_TEST_SECRET", "planted")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() }) // after the attacks, which go on beside each other
	port := l.Addr().(*net.TCPAddr).Port
	abstract, err := net.Listen("unix", fmt.Sprintf("@macaron-escape-%d", port))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { abstract.Close() })
	for _, a := range calls {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			p.try(t, a)
		})
	}
	for _, a := range places {
		a.code = strings.ReplaceAll(fmt.Sprintf(a.code+"%[1]s%[2]d", secret, port), secret+fmt.Sprint(port), "")
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			p.try(t, a)
		})
	}
}

// try runs an attack in a session of its own and reads its verdict and the log.
func (p *attacked) try(t *testing.T, a attack) (*Session, Outcome) {
	t.Helper()
	s := session(t, p.Pool, SessionOptions{ID: "attack " + a.name, Limits: a.limits, Workspace: filepath.Join(p.root, strings.ReplaceAll(a.name, " ", "-"))})
	t.Cleanup(func() { s.Close() })
	listenIn(t, s.Workspace)
	out := run(t, s, weapons(t)+fmt.Sprintf("print('ran', %q, flush=True)\n", a.name)+a.code)
	if !strings.HasPrefix(out.Output, "ran "+a.name+"\n") {
		t.Errorf("the attack did not run: %+v", out)
	}
	fine := out.Status == OK && len(a.status) == 0
	for _, st := range a.status {
		fine = fine || out.Status == st
	}
	if !fine {
		t.Errorf("the cell ended as %s: %s %s", out.Status, out.Reason, out.Traceback)
	}
	if strings.Contains(out.Output, "ESCAPED") || len(a.status) == 0 && !strings.Contains(out.Output, "refused") {
		t.Errorf("%s", out.Output)
	}
	if !strings.Contains(p.logged(), `session="attack `+a.name+`"`) {
		t.Error("nothing was logged")
	}
	p.named(t, a, out)
	return s, out
}

// listenIn listens on host.sock of a directory whose path may be too long for a socket's.
func listenIn(t *testing.T, dir string) {
	t.Helper()
	d, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	sock, err := net.Listen("unix", fmt.Sprintf("/proc/self/fd/%d/host.sock", d.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { sock.Close() })
}
