package main

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// inside is the variable of the process that has mounts of its own.
const inside = "DISKFULL_TEST_INSIDE"

// A home on disks of 20 sizes, each too small: a server that cannot start says so; one that
// can serves until the disk is full, then tells clients so and goes on reading; with room
// again the conversation goes on, and after a kill with the next process too.
func TestFullDiskAt20Sizes(t *testing.T) {
	if os.Getenv(inside) == "" {
		mountsOfItsOwn(t)
		return
	}
	home := filepath.Join(t.TempDir(), "home")
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	started := 0
	for i := range 20 {
		size := 128<<10 + i*96<<10
		t.Run(fmt.Sprintf("%dKiB", size>>10), func(t *testing.T) {
			if onDisk(t, home, size) {
				started++
			}
		})
	}
	if started == 0 {
		t.Error("no disk was large enough to start on")
	}
}

// mountsOfItsOwn runs the test in a process whose mounts nobody else sees.
func mountsOfItsOwn(t *testing.T) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), inside+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: unix.CLONE_NEWNS}
	if os.Getuid() != 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNS,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
		}
	}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}

// onDisk holds a conversation on a disk of a size, and tells whether it could begin before
// there was room.
func onDisk(t *testing.T, home string, size int) (began bool) {
	mount := func(flags uintptr, size int) {
		t.Helper()
		if err := unix.Mount("tmpfs", home, "tmpfs", flags, fmt.Sprintf("size=%d", size)); err != nil {
			t.Fatal(err)
		}
	}
	mount(0, size)
	defer func() {
		if err := unix.Unmount(home, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	}()
	h := newHost(t, home)
	if began = h.start(false); !began {
		if code := h.cmd.ProcessState.ExitCode(); code != 10 || !strings.Contains(h.said.String(), "no space is left") || !strings.Contains(h.said.String(), "next: ") {
			t.Errorf("it ended with %d: %s", code, h.said)
		}
	} else if h.fill() && h.status("/admin/sessions") != http.StatusOK {
		t.Error("a full disk ends reading too")
	}
	mount(unix.MS_REMOUNT, 64<<20)
	if !began && !h.start(false) {
		t.Fatalf("with room again: %s", h.said)
	}
	for range 2 {
		if status, said := h.ask(1000); status != http.StatusOK {
			t.Errorf("with room again: %d %s", status, said)
		}
	}
	h.end(os.Kill)
	if !h.start(false) {
		t.Fatalf("after a kill: %s", h.said)
	}
	if status, said := h.ask(1000); status != http.StatusOK {
		t.Errorf("after a kill: %d %s", status, said)
	}
	h.end(os.Interrupt)
	return began
}

// fill talks until the disk is full, and reports whether that came.
func (h *host) fill() bool {
	h.t.Helper()
	for turn := range 500 {
		status, said := h.ask(6000)
		if status == http.StatusOK {
			continue
		}
		h.t.Logf("the disk was full at turn %d", turn)
		if !strings.Contains(said, `storage_full`) || status != http.StatusInsufficientStorage && status != 299 { // a stream has begun with 200
			h.t.Errorf("turn %d: %d %s", turn, status, said)
		}
		return true
	}
	h.t.Error("the disk is never full")
	return false
}

func (h *host) status(path string) int {
	h.t.Helper()
	resp, err := http.Get(h.base + path)
	if err != nil {
		h.t.Error(err)
		return 0
	}
	defer resp.Body.Close()
	return resp.StatusCode
}
