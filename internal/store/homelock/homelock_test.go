package homelock

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"macaron/internal/errs"
)

func TestMain(m *testing.M) {
	if home := os.Getenv("HOMELOCK_TEST_HOME"); home != "" {
		if _, err := Acquire(home); err != nil {
			os.Stdout.WriteString(err.Error())
		}
		return
	}
	os.Exit(m.Run())
}

// second tries for the lock in another process and gives what it says.
func second(t *testing.T, home string) string {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "HOMELOCK_TEST_HOME="+home)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestSecondProcessIsRefused(t *testing.T) {
	home := t.TempDir()
	lock, err := Acquire(home)
	if err != nil {
		t.Fatal(err)
	}
	if got := second(t, home); !strings.Contains(got, string(errs.HomeLocked)) || !strings.Contains(got, strconv.Itoa(os.Getpid())) {
		t.Errorf("the second process got %q", got)
	}
	if _, err := Acquire(home); errs.CodeOf(err) != errs.HomeLocked || errs.As(err).Next == "" {
		t.Errorf("the same process got %v", err)
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	if got := second(t, home); got != "" { // it ends without Close
		t.Errorf("a free home gave %q", got)
	}
	again, err := Acquire(home)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}

// The address is believed while the holder lives, and no longer.
func TestWhereTheHolderServes(t *testing.T) {
	home := t.TempDir()
	if at := Serving(home); at != "" {
		t.Errorf("a home without a lock: %q", at)
	}
	lock, err := Acquire(home)
	if err != nil {
		t.Fatal(err)
	}
	if at := Serving(home); at != "" {
		t.Errorf("before it serves: %q", at)
	}
	if err := lock.Serve("127.0.0.1:4321"); err != nil {
		t.Fatal(err)
	}
	if at := Serving(home); at != "127.0.0.1:4321" {
		t.Errorf("got %q", at)
	}
	if got := second(t, home); !strings.Contains(got, "("+strconv.Itoa(os.Getpid())+")") {
		t.Errorf("the second process got %q", got)
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	if at := Serving(home); at != "" {
		t.Errorf("after the end: %q", at)
	}
}

// Whoever looks at the lock at the same moment is no holder: neither is what an ended one has left
// believed, nor is the home refused.
func TestWhoLooksKeepsNobodyOut(t *testing.T) {
	home := t.TempDir()
	lock, err := Acquire(home)
	if err != nil {
		t.Fatal(err)
	}
	if err := lock.Serve("127.0.0.1:4321"); err != nil {
		t.Fatal(err)
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	other, err := os.OpenFile(filepath.Join(home, "lock"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if free, err := tryShare(other); err != nil || !free {
		t.Fatal(free, err)
	}
	if at := Serving(home); at != "" {
		t.Errorf("what an ended process has left is believed: %q", at)
	}
	time.AfterFunc(20*time.Millisecond, func() { unlock(other) })
	again, err := Acquire(home)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}

func TestMissingHome(t *testing.T) {
	if _, err := Acquire(filepath.Join(t.TempDir(), "none")); errs.CodeOf(err) != errs.StorageFailed {
		t.Errorf("got %v", err)
	}
}
