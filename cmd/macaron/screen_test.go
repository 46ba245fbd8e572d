package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"macaron/internal/app"
	"macaron/internal/engine/enginetest"
	"macaron/internal/ids"
	"macaron/internal/mint/ledger"
	"macaron/internal/store/sqlite"
	"macaron/internal/train/curve"
)

// steering clears a screen, names its window, hides a line under another, and turns what follows
// around.
const steering = "\x1b[2J\x1b]0;owned\x07a\rb\u009b31m\x7f\u202ec"

// steers tells whether printed text has something that steers a terminal.
func steers(out string) bool {
	return !utf8.ValidString(out) || strings.ContainsFunc(out, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' })
}

// watchedRun is a home with a run that its client plans ten steps for, and that has taken three.
func watchedRun(t *testing.T, id, base, metadata string) (home string) {
	t.Helper()
	home = t.TempDir()
	s, err := sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(home, "log.db")})
	if err != nil {
		t.Fatal(err)
	}
	about := []byte(`{"spec":{},"user_metadata":` + metadata + `}`)
	now := time.Unix(1e9, 0)
	row := ledger.Model{Owner: "local", ID: id, Session: "s", Base: base, About: about, Created: now, Used: now, Steps: 3, Form: ledger.Masters}
	if err := s.Mint().Write(t.Context(), ledger.Change{Models: []ledger.Model{row}}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for step := range 3 {
		l := curve.Line{"step": float64(step + 1), "time": 1e9 + 20*float64(step), "seconds": 5, "reward": 0.5, steering: 1}
		if err := app.Curves(home).Add("local", id, l); err != nil {
			t.Fatal(err)
		}
	}
	return home
}

// A run of the home has no end in MLflow's tree while its session lives.
func TestMLflowOfALivingSession(t *testing.T) {
	home, id := watchedRun(t, "ses_1:train:0", "b", "{}"), "ses_1:train:0"
	for _, c := range []struct {
		ended time.Time
		want  string
	}{{time.Time{}, "status: 1\n"}, {time.Unix(2e9, 0), "status: 3\n"}} {
		s, err := sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(home, "log.db")})
		if err != nil {
			t.Fatal(err)
		}
		row := ledger.Session{Owner: "local", ID: "s", About: []byte("{}"), Created: time.Unix(1e9, 0), Seen: time.Unix(1e9, 0), Ended: c.ended}
		if err := errors.Join(s.Mint().Write(t.Context(), ledger.Change{Sessions: []ledger.Session{row}}), s.Close()); err != nil {
			t.Fatal(err)
		}
		dir, code := ran(t, home, "mint", "mlflow", id, "--out", filepath.Join(home, "mlruns"))
		meta, err := os.ReadFile(filepath.Join(strings.TrimSpace(dir), "meta.yaml"))
		if code != 0 || err != nil || !strings.Contains(string(meta), c.want) {
			t.Errorf("exit %d, %v, no %q in %s", code, err, c.want, meta)
		}
	}
}

func TestWatchSaysWhatIsLeft(t *testing.T) {
	home := watchedRun(t, "ses_1:train:0", "b", `{"steps":"10"}`)
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "step 1/10 reward 0.5000, 45s left\nstep 2/10 reward 0.5000, 2m40s left\nstep 3/10 reward 0.5000, 2m20s left\n"},
		{[]string{"--steps", "2"}, "step 1/2 reward 0.5000, 5s left\nstep 2/2 reward 0.5000\n"},
	} {
		if out, code := ran(t, home, append([]string{"mint", "watch", "ses_1:train:0", "--once"}, c.args...)...); code != 0 || out != c.want {
			t.Errorf("%v: %d %s", c.args, code, cmp.Diff(c.want, out))
		}
	}
	for _, said := range []string{`{}`, `{"steps":"many"}`, `{"steps":-4}`, `{"steps":{"a":1}}`, `[1]`} {
		home := watchedRun(t, "r", "b", said)
		if out, code := ran(t, home, "mint", "watch", "r", "--once"); code != 0 || !strings.HasPrefix(out, "step 1 reward") || strings.Contains(out, "left") {
			t.Errorf("%s: %d %q", said, code, out)
		}
	}
	beyond := watchedRun(t, "r", "b", `{"steps":2}`)
	if out, _ := ran(t, beyond, "mint", "watch", "r", "--once"); !strings.HasSuffix(out, "step 2/2 reward 0.5000\nstep 3 reward 0.5000\n") {
		t.Errorf("beyond its plan: %q", out)
	}
}

func TestWhatClientsNameSteersNoTerminal(t *testing.T) {
	said, err := json.Marshal(map[string]string{"steps": steering})
	if err != nil {
		t.Fatal(err)
	}
	home := watchedRun(t, "run"+steering, "base"+steering+"\n", string(said))
	recipe := filepath.Join(home, "recipe")
	if err := os.WriteFile(recipe, []byte(steering+"\ntwo\tfields"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("MACARON_MODEL", enginetest.Model(t, 1))
	published, code := ran(t, home, "mint", "publish", enginetest.Adapter(t, 2), "--name", "L1", "--recipe", recipe, "--metric", steering+"=1")
	if code != 0 {
		t.Fatal(published)
	}
	hash := strings.TrimSpace(published)
	for _, line := range [][]string{
		{"mint", "runs"}, {"mint", "watch", "run" + steering, "--once"}, {"mint", "watch", "no" + steering}, {"mint", "revisions"}, {"mint", "show", hash},
		{"mint", "alias", "L1", "canary", hash, "--reason", "why" + steering + "\nforged row"}, {"mint", "history", "L1"}, {"mint", "show", "L1@" + steering},
		{"mint", "mlflow", "no" + steering}, {"mint", "export", hash, "x", "--format", steering},
	} {
		for _, json := range []string{"--json=false", "--json"} {
			out, _ := ran(t, home, append(line, json)...)
			if steers(out) || out == "" {
				t.Errorf("%q %s prints %q", line[:2], json, out)
			}
		}
	}
	for _, list := range []string{"runs", "revisions", "history L1"} { // a line for each thing, in the direction that it has
		out, _ := ran(t, home, append([]string{"mint"}, strings.Fields(list)...)...)
		if rows := map[string]int{"runs": 1, "revisions": 2, "history L1": 3}[list]; strings.Count(out, "\n") != rows || strings.ContainsRune(out, 0x202e) {
			t.Errorf("%s: %q", list, out)
		}
	}
	if out, _ := ran(t, home, "mint", "show", ids.Digest(hash).Short()); !strings.HasSuffix(out, "two\tfields\n") {
		t.Errorf("the recipe lost its lines: %q", out)
	}
}
