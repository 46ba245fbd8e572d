package compat

import (
	"encoding/json"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// mint runs a command of the catalogue beside the server and gives what it prints.
func (s *server) mint(t *testing.T, program string, args ...string) string {
	t.Helper()
	args = append([]string{"mint"}, append(args, "--home", s.home, "--contract", "../../macaron.toml")...)
	out, err := exec.Command(program, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return string(out)
}

// answered gives the revision that answers a chat with L1.
func (s *server) answered(t *testing.T) string {
	t.Helper()
	resp, err := http.Post(s.base+"/v1/chat/completions", "application/json",
		strings.NewReader(`{"model":"macaron/L1","max_tokens":4,"messages":[{"role":"user","content":"hello"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var answer struct {
		Macaron struct{ Revision string }
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil || answer.Macaron.Revision == "" {
		t.Fatalf("%d %v", resp.StatusCode, err)
	}
	return answer.Macaron.Revision
}

// TestTrainedIsServed: what the SDK trains and saves for sampling is a revision; promoted, it
// answers chats, and after a rollback what was before does. It moves to another home together
// with its training, which goes on there bit for bit.
func TestTrainedIsServed(t *testing.T) {
	program := build(t)
	s := serve(t, program)
	t.Setenv("MACARON_TOLD", filepath.Join(t.TempDir(), "told"))
	before := s.answered(t)
	s.tinker(t, "0.38.0", "", "published")
	var listed struct {
		Revisions []struct{ Hash, Name, Checkpoint, Contract string }
	}
	if err := json.Unmarshal([]byte(s.mint(t, program, "revisions", "--json")), &listed); err != nil || len(listed.Revisions) != 1 {
		t.Fatalf("%v %v", err, listed)
	}
	rev := listed.Revisions[0]
	if rev.Name != "trained" || rev.Checkpoint == "" || rev.Contract == "" {
		t.Errorf("%+v", rev)
	}
	s.mint(t, program, "alias", "L1", "canary", rev.Hash)
	for _, at := range []struct{ verb, revision, want string }{{"promote", rev.Hash, rev.Hash}, {"promote", "none", before}, {"rollback", "", rev.Hash}} {
		args := []string{at.verb, "L1"}
		if at.revision != "" {
			args = append(args, at.revision)
		}
		s.mint(t, program, args...)
		s.seen(t, at.want)
	}
	layout := filepath.Join(t.TempDir(), "layout")
	s.mint(t, program, "export", "L1@champion", layout, "--format", "oci", "--state")
	other := serve(t, program)
	said := other.mint(t, program, "import", layout, "--name", "L1", "--promote", "it moved")
	if again := other.mint(t, program, "import", layout, "--name", "L1"); !strings.HasSuffix(said, again) {
		t.Errorf("imported twice:\n%s%s", said, again)
	}
	other.seen(t, rev.Hash)
	state := strings.TrimSpace(said[strings.Index(said, "tinker://"):])
	if list := other.get(t, "/api/v1/checkpoints"); !strings.Contains(list, state) || !strings.Contains(list, "imported") {
		t.Errorf("%s is not listed: %s", state, list)
	}
	t.Setenv("MACARON_STATE", state)
	other.tinker(t, "0.38.0", "", "carried")
}

// seen waits until a move that another process made is seen.
func (s *server) seen(t *testing.T, revision string) {
	t.Helper()
	got := ""
	for range 600 { // a process believes what it has read of another's moves for a second
		if got = s.answered(t); got == revision {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Errorf("%s answers, not %s", got, revision)
}

func (s *server) get(t *testing.T, path string) string {
	t.Helper()
	resp, err := http.Get(s.base + path)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
