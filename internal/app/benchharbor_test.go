package app

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"macaron/internal/auth"
	"macaron/internal/backend"
	"macaron/internal/backend/backendtest"
	"macaron/internal/bench/harbor"
	"macaron/internal/chat"
	"macaron/internal/harness"
	"macaron/internal/obs"
	"macaron/internal/trajectory"
)

// solving is a policy that runs a command in the environment, writes a file, then finishes.
func solving() *backendtest.Scripted {
	calls := [][2]string{{"shell", `{"command":"wc -l < in.txt"}`}, {"write_file", `{"path":"out.txt","text":"2\n"}`}, {"finish", `{"answer":"there are 2"}`}}
	return &backendtest.Scripted{On: func(_ context.Context, r backend.Request, emit func(chat.Event) bool) (bool, error) {
		said := 0
		for _, m := range r.Messages {
			if m.Role == chat.Assistant {
				said++
			}
		}
		if len(r.Tools) == 0 || said >= len(calls) {
			return false, nil
		}
		backendtest.Emit(emit, backendtest.Call(0, "", calls[said][0], calls[said][1]))
		return true, nil
	}}
}

// A trial with a policy: its tools act in the environment, the verifier scores what they
// left, and the ATIF document tells every call with what came back.
func TestAHarborTrialAndItsTrajectory(t *testing.T) {
	a, err := New(settings(t, t.TempDir()), Options{Version: "test", Log: obs.Discard(), Generator: solving()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	ctx := auth.With(context.Background(), auth.Principal{Owner: auth.Local})
	d, _, err := a.Bench(ctx)
	if err != nil {
		t.Fatal(err)
	}
	tr := harborTrial(ctx, t, d)
	rep, err := tr.Act(ctx, d, auth.Local, 1)
	if err != nil || rep.Answer != "there are 2" {
		t.Fatalf("%+v %v", rep, err)
	}
	if got, err := tr.Verify(ctx); err != nil || got.Reward != 1 {
		t.Errorf("%+v %v", got, err)
	}
	run, err := harness.New(d).Transcript(ctx, auth.Local, rep.RunID)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(trajectory.ATIF(run, "test"))
	if err != nil {
		t.Fatal(err)
	}
	checkATIF(t, text)
}

func harborTrial(ctx context.Context, t *testing.T, d harness.Deps) *harbor.Trial {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"task.toml": "", "instruction.md": "Count the lines of /app/in.txt into /app/out.txt.\n", "environment/in.txt": "a\nb\n",
		"environment/Dockerfile": "FROM ubuntu:24.04\nWORKDIR /app\nCOPY in.txt .\n", "tests/test.sh": "grep -cx 2 /app/out.txt > /logs/verifier/reward.txt\n"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	task, err := harbor.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	pool, err := d.Pool(ctx)
	if err != nil {
		t.Fatal(err)
	}
	out, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	tr, err := harbor.Open(ctx, task, pool, out, "")
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// checkATIF reads the document as another program would.
func checkATIF(t *testing.T, text []byte) {
	t.Helper()
	var doc struct {
		Schema string `json:"schema_version"`
		Steps  []struct {
			Source string
			Calls  []struct {
				ID   string `json:"tool_call_id"`
				Name string `json:"function_name"`
			} `json:"tool_calls"`
			Observation struct {
				Results []struct {
					Of      string `json:"source_call_id"`
					Content string
				}
			}
		}
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, s := range doc.Steps {
		line := s.Source
		for i, c := range s.Calls {
			line += " " + c.Name
			if c.Name != "finish" && (i >= len(s.Observation.Results) || s.Observation.Results[i].Of != c.ID) {
				t.Errorf("%s has no result of its own", c.Name)
			}
		}
		for _, r := range s.Observation.Results {
			line += " " + r.Content
		}
		told = append(told, line)
	}
	want := []string{"system", "user", `agent shell {"exit":0,"output":"2\n","reason":""}`, `agent write_file {"bytes":2,"created":true}`, "agent finish"}
	if got := strings.Join(told, "\n"); got != strings.Join(want, "\n") || !strings.HasPrefix(doc.Schema, "ATIF-v1.") {
		t.Errorf("%s:\n%s", doc.Schema, got)
	}
}
