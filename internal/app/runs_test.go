package app

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"macaron/internal/backend"
	"macaron/internal/backend/backendtest"
	"macaron/internal/chat"
	"macaron/internal/record"
)

// acting is a policy that writes a file, then answers.
func acting() *backendtest.Scripted {
	return &backendtest.Scripted{On: func(_ context.Context, r backend.Request, emit func(chat.Event) bool) (bool, error) {
		last := r.Messages[len(r.Messages)-1]
		switch {
		case len(r.Tools) == 0:
			return false, nil
		case last.Role == chat.Tool:
			backendtest.Emit(emit, chat.Event{Text: "wrote: " + last.Text()})
		default:
			backendtest.Emit(emit, backendtest.Call(0, "", "write_file", `{"path":"out/a.txt","text":"`+last.Text()+`"}`))
		}
		return true, nil
	}}
}

// api sends a request to /v1/runs and reads the answer.
func (s *site) api(method, path string, body any, into any) int {
	s.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		s.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(context.Background(), method, s.base+"/v1/runs"+path, bytes.NewReader(text))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := s.http.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	if raw, ok := into.(*[]byte); ok {
		*raw = b
	} else if err := json.Unmarshal(b, into); err != nil {
		s.t.Fatalf("%s %s: %s", method, path, b)
	}
	return resp.StatusCode
}

type runJSON struct {
	ID, Status, Reason, Answer string
	Resumable                  bool
	Waits                      *struct{ Call, Name string }
	Error                      struct{ Message, Code, Param string }
	Outputs                    []struct{ Path, Digest string }
	Totals                     record.RunTotals
}

// settled waits until a run stands still.
func (s *site) still(id string) (r runJSON) {
	s.t.Helper()
	for s.api("GET", "/"+id, nil, &r); r.Status == "running"; s.api("GET", "/"+id, nil, &r) {
		time.Sleep(5 * time.Millisecond)
		r = runJSON{}
	}
	return r
}

func TestRunsOverHTTP(t *testing.T) {
	s := start(t, settings(t, t.TempDir()), acting())
	var run runJSON
	if code := s.api("POST", "", object{"instruction": "hello", "files": object{"in.txt": "x"}, "limits": object{"turns": 5}, "metadata": object{"k": "v"}}, &run); code != 200 || run.ID == "" {
		t.Fatalf("%d %+v", code, run)
	}
	done := s.still(run.ID)
	if done.Status != "done" || !strings.HasPrefix(done.Answer, "wrote: ") || done.Totals.ToolCalls != 1 {
		t.Fatalf("%+v", done)
	}
	var list struct{ Data []runJSON }
	if s.api("GET", "?limit=5", nil, &list); len(list.Data) != 1 || list.Data[0].ID != run.ID {
		t.Errorf("%+v", list)
	}
	var lines []byte
	s.api("GET", "/"+run.ID+"/records", nil, &lines)
	var digest string
	for line := range strings.Lines(string(lines)) {
		rec, err := record.DecodeLine([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		if n, ok := rec.Body.(record.RunNote); ok && n.Note == record.NoteSnapshot {
			digest = string(n.Files[len(n.Files)-1].Digest)
		}
	}
	var file []byte
	if code := s.api("GET", "/"+run.ID+"/files/"+digest, nil, &file); code != 200 || string(file) != "hello" {
		t.Errorf("%d %q", code, file)
	}
	if code := s.api("GET", "/"+run.ID+"/files/sha256:"+strings.Repeat("0", 64), nil, &run); code != 404 {
		t.Errorf("a file that is not the run's: %d", code)
	}
	if code := s.api("POST", "/"+run.ID+"/cancel", object{}, &run); code != 400 {
		t.Errorf("cancel after the end: %d", code)
	}
	// Runs are not conversations.
	sessions, err := s.sessions.List(t.Context(), "local", time.Time{}, 0)
	if err != nil || len(sessions) != 0 {
		t.Errorf("%+v %v", sessions, err)
	}
}

func TestWhatIsWrongWithATaskIsNamed(t *testing.T) {
	s := start(t, settings(t, t.TempDir()), acting())
	for body, field := range map[string]string{
		`{}`: "instruction", `{"instruction":""}`: "instruction", `{"instruction":"a","mood":1}`: "mood", `{"instruction":"a","mode":"fast"}`: "mode",
		`{"instruction":"a","limits":{"turns":0}}`: "limits.turns", `{"instruction":"a","limits":{"days":1}}`: "days", `{"instruction":"a","files":{"../x":"y"}}`: "files",
		`{"instruction":"a","files":{"x":{"base64":"!"}}}`: "files[x]", `{"instruction":"a","seed":-1}`: "seed", `{"instruction":"a","limits":{"cost_usd":1}}`: "agent.max_cost_usd",
	} {
		var got runJSON
		if code := s.api("POST", "", json.RawMessage(body), &got); code != 400 || got.Error.Param != field {
			t.Errorf("%s: %d %+v", body, code, got.Error)
		}
	}
	var got runJSON
	for _, path := range []string{"/run_x", "/run_01ARZ3NDEKTSV4RRFFQ69G5FAV"} {
		if code := s.api("GET", path, nil, &got); code != 404 && code != 400 {
			t.Errorf("%s: %d", path, code)
		}
	}
}

// A stop leaves a run that can be resumed, by a process that reads the same log.
func TestARunOutlivesItsProcess(t *testing.T) {
	home := t.TempDir()
	begun := make(chan struct{}, 1)
	stuck := &backendtest.Scripted{On: func(ctx context.Context, r backend.Request, emit func(chat.Event) bool) (bool, error) {
		if len(r.Tools) == 0 {
			return false, nil
		}
		begun <- struct{}{}
		<-ctx.Done()
		return true, ctx.Err()
	}}
	s := start(t, settings(t, home), stuck)
	var run runJSON
	s.api("POST", "", object{"instruction": "hello"}, &run)
	<-begun
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	s = start(t, settings(t, home), acting())
	if r := s.still(run.ID); r.Status != "stopped" || !r.Resumable {
		t.Fatalf("%+v", r)
	}
	if code := s.api("POST", "/"+run.ID+"/resume", object{}, &run); code != 200 {
		t.Fatalf("%d %+v", code, run)
	}
	if r := s.still(run.ID); r.Status != "done" {
		t.Errorf("%+v", r)
	}
}

// With runs.resume a run goes on by itself at the next start, whether the process was stopped
// or killed (its home is then what it had written); its effects are there once.
func TestRunsGoOnAtTheStart(t *testing.T) {
	for _, killed := range []bool{false, true} {
		home := t.TempDir()
		begun := make(chan struct{}, 1)
		g, act := acting(), acting().On
		g.On = func(ctx context.Context, r backend.Request, emit func(chat.Event) bool) (bool, error) {
			if len(r.Tools) > 0 && r.Messages[len(r.Messages)-1].Role == chat.Tool { // its file is written
				begun <- struct{}{}
				<-ctx.Done()
				return true, ctx.Err()
			}
			return act(ctx, r, emit)
		}
		s := start(t, settings(t, home), g)
		var run runJSON
		s.api("POST", "", object{"instruction": "hello"}, &run)
		<-begun
		if killed {
			left := t.TempDir()
			if err := os.CopyFS(left, os.DirFS(home)); err != nil {
				t.Fatal(err)
			}
			home = left
		}
		if err := s.stop(); err != nil {
			t.Fatal(err)
		}
		cfg := settings(t, home)
		cfg.Runs.Resume = true
		s = start(t, cfg, acting())
		if r := s.still(run.ID); r.Status != "done" || !strings.HasPrefix(r.Answer, "wrote: ") || r.Totals.ToolCalls != 1 {
			t.Errorf("killed %v: %+v", killed, r)
		}
		var lines []byte
		s.api("GET", "/"+run.ID+"/records", nil, &lines)
		if n := bytes.Count(lines, []byte(`"kind":"tool.called"`)); n != 1 {
			t.Errorf("killed %v: the effect was begun %d times", killed, n)
		}
	}
}
