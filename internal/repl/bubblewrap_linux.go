package repl

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"macaron/internal/errs"
)

// bubblewrap keeps sessions apart with the program of that name.
type bubblewrap struct {
	bwrap    string
	root     bool     // this process may take another user's id and make mounts
	groups   *cgroups // nil: there are none
	python   string   // real path of the interpreter
	prefix   string   // its tree, unless that is /usr
	filters  filters
	enter    string // what a sandbox begins with, entry
	naming   bool   // refused system calls are named: layers has tried it
	launcher *launcher
}

const installBubblewrap = "install it, on Debian: apt-get install bubblewrap; or set sandbox.backend"

// openBubblewrap finds what the backend needs; layers says what it found.
func openBubblewrap(ctx context.Context, o Options) (*bubblewrap, error) {
	b := &bubblewrap{root: os.Geteuid() == 0, enter: entry}
	var err error
	if b.bwrap, err = exec.LookPath(cmp.Or(o.Bubblewrap, "bwrap")); err != nil {
		return nil, errs.Wrap(errs.Unsupported, err, "bubblewrap (bwrap) is not there", installBubblewrap)
	}
	if err := checkVersion(ctx, b.bwrap); err != nil {
		return nil, err
	}
	if err := b.findPython(ctx, cmp.Or(o.Python, "/usr/bin/python3")); err != nil {
		return nil, err
	}
	if b.filters, err = newFilters(); err != nil {
		return nil, errs.Wrap(errs.Unsupported, err, "there is no filter of system calls for this processor", "set sandbox.backend")
	}
	if self, err := os.ReadFile("/proc/self/cgroup"); err == nil {
		if b.groups, err = findCgroups("/sys/fs/cgroup", string(self)); err == nil {
			b.groups.sweep()
		}
	}
	if b.launcher, err = newLauncher(b.root); err != nil {
		return nil, errs.Wrap(errs.Unsupported, err, "root may not make a mount namespace here: "+err.Error(), "run as an ordinary user, or give the container CAP_SYS_ADMIN")
	}
	return b, nil
}

func (b *bubblewrap) close() { b.launcher.close() }

var versionOf = regexp.MustCompile(`bubblewrap (\d+)\.(\d+)`)

// checkVersion asks for 0.8, the first with --disable-userns.
func checkVersion(ctx context.Context, bwrap string) error {
	cmd := exec.CommandContext(ctx, bwrap, "--version")
	cmd.Env = []string{}
	out, err := cmd.Output()
	m := versionOf.FindSubmatch(out)
	if err != nil || m == nil {
		return errs.Wrap(errs.Unsupported, fmt.Errorf("%w: %s", err, out), bwrap+" does not tell its version", installBubblewrap)
	}
	major, _ := strconv.Atoi(string(m[1])) // digits
	minor, _ := strconv.Atoi(string(m[2]))
	if major == 0 && minor < 8 {
		return errs.New(errs.Unsupported, string(bytes.TrimSpace(out))+" is too old: it must be 0.8 or newer", installBubblewrap)
	}
	return nil
}

// findPython resolves a name to the interpreter itself, past shims and links.
func (b *bubblewrap) findPython(ctx context.Context, name string) error {
	cmd := exec.CommandContext(ctx, name, "-I", "-S", "-c", "import sys; print(sys.base_prefix); print(sys.executable); print(sys.version_info >= (3, 9))")
	cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin"}
	out, err := cmd.Output()
	lines := strings.Split(string(out), "\n")
	if err != nil || len(lines) < 3 || lines[2] != "True" {
		return errs.Wrap(errs.Unsupported, fmt.Errorf("%w: %q", err, out), name+" is no Python 3.9 or newer", "install python3, or set sandbox.python to an interpreter")
	}
	if b.python, err = filepath.EvalSymlinks(lines[1]); err != nil {
		return errs.Wrap(errs.Unsupported, err, lines[1]+" is not there", "set sandbox.python to an interpreter")
	}
	if b.prefix, err = filepath.EvalSymlinks(lines[0]); err != nil {
		return errs.Wrap(errs.Unsupported, err, lines[0]+" is not there", "set sandbox.python to an interpreter")
	}
	if b.prefix == "/usr" || strings.HasPrefix(b.prefix, "/usr/") {
		b.prefix = ""
	}
	return nil
}

// arguments are those of bwrap: every namespace, nothing of the host but /usr, read-only.
func (b *bubblewrap) arguments(p program, placed []Bind, pipes *pipes) []string {
	size := strconv.Itoa(p.limits.DiskMB << 20)
	args := []string{"--unshare-all", "--unshare-user", "--uid", "65534", "--gid", "65534", "--cap-drop", "ALL", "--disable-userns",
		"--new-session", "--die-with-parent", "--hostname", "macaron", "--clearenv",
		"--info-fd", strconv.Itoa(pipes.info), "--block-fd", strconv.Itoa(pipes.block)}
	args = append(args, pipes.filter...)
	for _, e := range environment {
		args = append(args, "--setenv", e[0], e[1])
	}
	args = append(args, "--ro-bind", "/usr", "/usr")
	for _, dir := range []string{"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"} {
		args = append(args, systemDir(dir)...)
	}
	args = append(args, "--proc", "/proc", "--dev", "/dev", "--size", size, "--tmpfs", "/dev/shm", "--size", size, "--tmpfs", "/tmp", "--dir", "/run")
	for _, bind := range placed {
		how := "--ro-bind"
		if bind.Writable {
			how = "--bind"
		}
		args = append(args, how, bind.From, bind.To)
	}
	args = append(args, "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", p.dir, "--")
	return append(args, p.args(pipes.listener)...)
}

// environment is all that a program of the sandbox finds. Hashes and times are the same
// in every run.
var environment = [][2]string{{"PATH", "/usr/local/bin:/usr/bin:/bin"}, {"HOME", "/tmp"}, {"LANG", "C.UTF-8"}, {"LC_ALL", "C.UTF-8"}, {"TZ", "UTC"},
	{"PYTHONHASHSEED", "0"}, {"PYTHONDONTWRITEBYTECODE", "1"}}

// systemDir repeats the host's /bin and its like: a link into /usr, or a tree.
func systemDir(dir string) []string {
	if to, err := os.Readlink(dir); err == nil {
		return []string{"--symlink", to, dir}
	}
	if st, err := os.Stat(dir); err == nil && st.IsDir() {
		return []string{"--ro-bind", dir, dir}
	}
	return nil
}

// interpreter starts a Python that waits for its session.
func (b *bubblewrap) interpreter(ctx context.Context, workspace string, l Limits) (engine, error) {
	var fds [4]*os.File
	var err error
	if fds[0], fds[1], err = os.Pipe(); err == nil {
		fds[2], fds[3], err = os.Pipe()
	}
	if err != nil {
		return nil, err
	}
	p := program{args: func(listener string) []string {
		return []string{b.python, "-s", "-S", "-B", "-c", bootstrap, rlimits(l, b.groups == nil), listener, b.enter + driver}
	}, dir: "/workspace",
		binds: append(b.interpreterTree(), Bind{From: workspace, To: "/workspace", Writable: true}), files: []*os.File{fds[0], fds[3]}, output: newOutput(), limits: l}
	proc, err := b.start(ctx, p)
	if err != nil {
		_ = fds[1].Close() // nothing was sent
		_ = fds[2].Close()
		return nil, err
	}
	return &sandboxed{process: proc, in: fds[1], out: fds[2]}, nil
}

// interpreterTree is what Python needs beside /usr.
func (b *bubblewrap) interpreterTree() []Bind {
	if b.prefix == "" {
		return nil
	}
	return []Bind{{From: b.prefix, To: b.prefix}}
}

// adopt gives a workspace to the sandbox's user.
func (b *bubblewrap) adopt(dir string) error {
	if !b.root {
		return nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close() // a directory handle
	return filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		return root.Lchown(rel, sandboxUID, sandboxUID)
	})
}

// sandboxed is a Python in bubblewrap.
type sandboxed struct {
	*process
	in, out *os.File
}

func (s *sandboxed) send(m request) error {
	return writeFrame(s.in, m)
}

func (s *sandboxed) receive() (reply, error) { return receive[reply](s.out) }

func (s *sandboxed) ended() <-chan struct{} { return s.done }

func (s *sandboxed) stdout() *output { return s.output }

func (s *sandboxed) refused() Refusals { return s.refusals.take() }

// release frees the descriptors of a sandbox that has ended.
func (s *sandboxed) release() {
	_ = s.in.Close() // nobody reads it any more
	_ = s.out.Close()
}
