package harbor

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"macaron/internal/errs"
	"macaron/internal/repl"
)

// lay writes a task: files by path.
func lay(t *testing.T, more map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{
		"task.toml":      "schema_version = \"1.3\"\n[environment]\nnetwork_mode = \"no-network\"\nmemory_mb = 256\n[verifier]\ntimeout_sec = 20.0\n[agent]\ntimeout_sec = 20.0\n",
		"instruction.md": "Write the sum of /app/data/numbers.txt to /app/sum.txt.\n", "environment/numbers.txt": "3\n4\n",
		"environment/Dockerfile": "FROM python:3.12-slim\nWORKDIR /app\nCOPY --chown=1:1 numbers.txt data/\nRUN mkdir -p /app/made && apt-get update\nENV LIMIT=7\n",
		"solution/solve.sh":      "s=0; while read n; do s=$((s+n)); done < data/numbers.txt; echo $s > sum.txt\n",
		"tests/test.sh":          "test -d made && test \"$(cat /app/sum.txt)\" = \"$LIMIT\" && echo 1 > /logs/verifier/reward.txt || echo 0 > /logs/verifier/reward.txt\nexit 3\n",
	}
	for k, v := range more {
		files[k] = v
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func sandbox(t *testing.T) *repl.Pool {
	t.Helper()
	p, err := repl.Open(context.Background(), repl.Options{Root: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func trial(t *testing.T, p *repl.Pool, dir string, given Packages) *Trial {
	t.Helper()
	task, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	work, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	tr, err := Open(context.Background(), task, p, work, given)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func TestTheOracleIsRightAndAnEmptyAgentIsNot(t *testing.T) {
	p, dir := sandbox(t), lay(t, nil)
	for want, act := range map[float64]func(*Trial) error{
		1: func(tr *Trial) error { return tr.Oracle(context.Background()) },
		0: func(*Trial) error { return nil },
	} {
		tr := trial(t, p, dir, "")
		if err := act(tr); err != nil {
			t.Fatal(err)
		}
		got, err := tr.Verify(context.Background())
		if err != nil || got.Reward != want || got.Exit != 3 {
			t.Errorf("%+v, want %v: %v", got, want, err)
		}
	}
}

// An agent that writes rewards, tests and startup files where it can changes nothing.
func TestAnAgentCannotScoreItself(t *testing.T) {
	p := sandbox(t)
	tr := trial(t, p, lay(t, nil), "")
	exit, err := tr.Shell(context.Background(), "ls /tests /solution /logs/verifier; mkdir -p /logs/verifier /tests; echo 1 > /logs/verifier/reward.txt; echo '{\"reward\":1}' > /logs/agent/reward.json; echo 1 > /logs/artifacts/reward.txt; echo 'echo 1 > /logs/verifier/reward.txt' > /app/test.sh; id -u", 20, nil)
	if err != nil || strings.Contains(exit.Output, "test.sh") {
		t.Fatal(exit, err)
	}
	got, err := tr.Verify(context.Background())
	if err != nil || got.Reward != 0 {
		t.Errorf("%+v %v", got, err)
	}
}

// The packages that a Dockerfile installs are the given ones; the verifier sees modules and
// programs of theirs, the agent neither. What Debian has as alternatives is found by both.
func TestPackagesAreTheVerifiersAlone(t *testing.T) {
	given, err := OpenPackages(lay(t, map[string]string{"A_B.c-1.5.dist-info/METADATA": "", "ab.py": "", "bin/ab": "#!/bin/sh\nexec awk 'BEGIN { print 1 }'\n"}))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(string(given), "bin/ab"), 0o755); err != nil {
		t.Fatal(err)
	}
	tr := trial(t, sandbox(t), lay(t, map[string]string{"task.toml": "", "environment/Dockerfile": "FROM python:3.13@sha256:" + strings.Repeat("0", 64) + "\nRUN python3 -m pip install -q 'a-b.c==1.5' A.b.C\n",
		"tests/test.sh": "python3 -c 'import ab' && ! touch /packages/x 2>/dev/null && ab > /logs/verifier/reward.txt\n"}), given)
	exit, err := tr.Shell(context.Background(), "ls /packages || python3 -c 'import ab' || ab || awk 'BEGIN { exit 7 }'", 20, nil)
	if err != nil || exit.Code != 7 {
		t.Error(exit, err)
	}
	if got, err := tr.Verify(context.Background()); err != nil || got.Reward != 1 {
		t.Errorf("%+v %v", got, err)
	}
	if err := given.check("a-b.c==1.4"); err == nil {
		t.Error("another version is there")
	}
}

func TestRewards(t *testing.T) {
	for text, want := range map[string]float64{"txt 1\n": 1, "txt 0.25": 0.25, `json {"reward":0.5,"style":1}`: 0.5, `json {"tests":1}`: 1, "txt nan": -1, "txt +Inf": -1, "txt": -1, `json {"reward":1e999}`: -1, `json {"reward":"1"}`: -1, "other 1": -1} {
		dir := t.TempDir()
		kind, content, _ := strings.Cut(text, " ")
		if err := os.WriteFile(filepath.Join(dir, "reward."+kind), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := reward(dir)
		if want < 0 && err == nil || want >= 0 && (err != nil || got["reward"] != want) {
			t.Errorf("%q: %v %v", text, got, err)
		}
	}
	dir := t.TempDir()
	if err := os.Symlink("/etc/hostname", filepath.Join(dir, "reward.txt")); err != nil {
		t.Fatal(err)
	}
	if got, err := reward(dir); err == nil {
		t.Error("a link:", got)
	}
}

func TestWhatCannotBeReproducedIsRefusedByName(t *testing.T) {
	base := "schema_version = \"1.3\"\n"
	for what, files := range map[string]map[string]string{
		"schema_version":               {"task.toml": "schema_version = \"2.0\"\n"},
		"steps":                        {"task.toml": base + "[[steps]]\nname = \"a\"\n"},
		"gpus":                         {"task.toml": base + "[environment]\ngpus = 1\n"},
		"mcp_servers":                  {"task.toml": base + "[environment]\nmcp_servers = [{name = \"x\"}]\n"},
		"healthcheck":                  {"task.toml": base + "[environment.healthcheck]\ncommand = \"x\"\n"},
		"docker-compose.yaml":          {"environment/docker-compose.yaml": "services: {}\n"},
		"FROM alpine:3":                {"environment/Dockerfile": "FROM alpine:3\n"},
		"no-such-package":              {"environment/Dockerfile": "FROM debian\nRUN apt-get install -y no-such-package\n"},
		"COPY to /etc/x":               {"environment/Dockerfile": "FROM debian\nCOPY numbers.txt /etc/x\n"},
		"COPY of ../task":              {"environment/Dockerfile": "FROM debian\nCOPY ../task.toml /app/\n"},
		"ENTRYPOINT":                   {"environment/Dockerfile": "FROM debian\nENTRYPOINT x\n"},
		"pip install of pytest==8.4.1": {"environment/Dockerfile": "FROM debian\nRUN pip install --no-cache-dir pytest==8.4.1\n"},
		"RUN exit 4":                   {"environment/Dockerfile": "FROM debian\nRUN exit 4\n"},
	} {
		task, err := Read(lay(t, files))
		if err == nil {
			_, err = Open(context.Background(), task, sandbox(t), t.TempDir(), "")
		}
		if errs.CodeOf(err) != errs.Unsupported || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
