package repl

import (
	"bytes"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	"macaron/internal/errs"
)

// ordinary is the user that root's tests become to be an ordinary one.
const ordinary = 61234

// attacked is a pool whose log can be read.
type attacked struct {
	*Pool
	mu  sync.Mutex
	log bytes.Buffer
}

func (p *attacked) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.Write(b)
}

func (p *attacked) logged() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.String()
}

// openForAttack opens a pool, or proves that it refuses where this user may have no
// namespaces, and gives nil.
func openForAttack(t *testing.T) *attacked {
	t.Helper()
	if out, err := exec.Command("bwrap", "--unshare-user", "--ro-bind", "/", "/", "true").CombinedOutput(); err != nil && os.Geteuid() != 0 {
		_, refused := Open(t.Context(), Options{Root: t.TempDir()})
		if errs.CodeOf(refused) != errs.Unsupported {
			t.Fatalf("bwrap cannot make namespaces (%s), and the pool opens all the same: %v", out, refused)
		}
		t.Log("user namespaces are not to be had here, and the pool refuses:", refused)
		return nil
	}
	a := &attacked{}
	a.Pool = pool(t, Options{PoolSize: 2, Limits: Limits{MemoryMB: 256, PIDs: 48, DiskMB: 32, WallMS: 20_000, CPUSeconds: 60}, Log: slog.New(slog.NewTextHandler(io.MultiWriter(a, t.Output()), nil))})
	return a
}

// Root's sandboxes are tested as root; this runs the same tests again as an ordinary
// user. Where the tests run as an ordinary user they have been run as one already.
func TestTheSameAsAnOrdinaryUser(t *testing.T) {
	if os.Geteuid() != 0 {
		if p := openForAttack(t); p != nil && p.backend.layers(t.Context())[4].Needed {
			t.Error("another user is needed where there is none to take")
		}
		return
	}
	dir, err := os.MkdirTemp("", "macaron-ordinary")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.Chown(dir, ordinary, ordinary); err != nil {
		t.Fatal(err)
	}
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(dir, "repl.test")
	if err := os.WriteFile(binary, self, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary, "-test.v", "-test.timeout=4m", "-test.run", "^(TestEscapes|TestAbuses|TestProtocolForgery|TestNoOrphans|TestNamespaceLasts|TestToolsCallBack|TestSnapshot|TestInterrupt|TestExec|TestLayers|TestRefusals)")
	cmd.Dir, cmd.Env = dir, []string{"PATH=/usr/bin:/bin", "TMPDIR=" + dir, "MACARON_TEST_ORDINARY=1"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: ordinary, Gid: ordinary}}
	out, err := cmd.CombinedOutput()
	passed := regexp.MustCompile(`(?m)^ *--- PASS`).FindAll(out, -1)
	if err != nil || bytes.Contains(out, []byte("--- SKIP")) || len(passed) < 8 {
		t.Errorf("%v, %d passed:\n%s", err, len(passed), failures(string(out)))
	}
	t.Logf("%d tests passed as user %d", len(passed), ordinary)
}

// failures leaves out what passed.
func failures(out string) string {
	var b strings.Builder
	for line := range strings.Lines(out) {
		if !strings.Contains(line, "=== ") && !strings.Contains(line, "--- PASS") && !strings.Contains(line, "level=INFO") {
			b.WriteString(line)
		}
	}
	return b.String()
}
