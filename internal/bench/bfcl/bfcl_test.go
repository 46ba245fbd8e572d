package bfcl

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"macaron/internal/bench"
	"macaron/internal/errs"
	"macaron/internal/tool"
)

func started(t *testing.T) *Worker {
	t.Helper()
	dir, err := Dir()
	if err != nil {
		t.Fatal(err)
	}
	w, err := Start(context.Background(), "/usr/bin/python3", dir) // t.Context ends before the cleanup
	if err != nil {
		t.Fatal(err, "; run make testdata")
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// The package's own answers pass its own checker, through our importer; the same answers
// with one call left out, one too many, or one argument changed do not.
func TestOwnAnswersPassAndMutatedOnesFail(t *testing.T) {
	w := started(t)
	for _, c := range Categories {
		most := 12
		if strings.HasPrefix(c, "multi_turn") {
			most = 2
		}
		s, err := NewSuite(w, []string{c}, most)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range s.Items() {
			if c == "irrelevance" {
				judged(t, w, i.ID, []any{[]any{}}, 1)
				judged(t, w, i.ID, []any{[]any{[]any{"f", map[string]any{}}}}, 0)
				continue
			}
			var gold struct {
				Turns  [][][]any
				Source [][]string
			}
			if err := w.do(map[string]any{"do": "golden", "task": i.ID}, &gold); err != nil {
				t.Fatal(err)
			}
			if gold.Source != nil {
				source(t, w, i.ID, gold.Source, true)
				for n, turn := range gold.Source { // a request that is not worked on
					if len(turn) > 0 {
						gold.Source[n] = []string{}
						break
					}
				}
				source(t, w, i.ID, gold.Source, false)
				continue
			}
			judged(t, w, i.ID, gold.Turns, 1)
			calls := gold.Turns[0]
			judged(t, w, i.ID, [][][]any{calls[1:]}, 0)
			judged(t, w, i.ID, [][][]any{append(calls[:len(calls):len(calls)], calls[0])}, 0)
			judged(t, w, i.ID, [][][]any{append([][]any{{calls[0][0], map[string]any{"no_such_parameter": 1}}}, calls[1:]...)}, 0)
		}
	}
}

func judged(t *testing.T, w *Worker, id string, calls any, want float64) {
	t.Helper()
	got, err := score(w, id, calls)
	if err != nil || got.Points != want {
		t.Errorf("%s: %+v, want %v (%v), for %v", id, got, want, err, calls)
	}
}

func source(t *testing.T, w *Worker, id string, turns [][]string, want bool) {
	t.Helper()
	var v struct{ Valid bool }
	if err := w.do(map[string]any{"do": "source", "task": id, "turns": turns}, &v); err != nil || v.Valid != want {
		t.Errorf("%s: %v, want %v (%v)", id, v.Valid, want, err)
	}
}

// A dialog through its tools: what one request has done is there in the next one, and the
// whole is judged by the state.
func TestADialogIsCarriedOutAndJudged(t *testing.T) {
	w := started(t)
	s, err := NewSuite(w, []string{"multi_turn_base"}, 0)
	if err != nil {
		t.Fatal(err)
	}
	work := [][]string{{`cd {"folder":"document"}`, `mkdir {"dir_name":"temp"}`, `mv {"source":"final_report.pdf","destination":"temp"}`},
		{`cd {"folder":"temp"}`, `grep {"file_name":"final_report.pdf","pattern":"budget analysis"}`}, {`sort {"file_name":"final_report.pdf"}`},
		{`cd {"folder":".."}`, `mv {"source":"previous_report.pdf","destination":"temp"}`, `cd {"folder":"temp"}`, `diff {"file_name1":"final_report.pdf","file_name2":"previous_report.pdf"}`}}
	for _, skip := range []int{-1, 0, 3} {
		c, err := s.Open(context.Background(), "multi_turn_base_0")
		if err != nil {
			t.Fatal(err)
		}
		var answers []string
		for n := range c.Steps() {
			step, err := c.Step(context.Background(), n, answers)
			if err != nil || n > 0 && !strings.Contains(step.Instruction, "Called: ") && skip != 0 {
				t.Fatal(err, step.Instruction)
			}
			for _, line := range work[n] {
				if n != skip {
					invoke(t, step, line)
				}
			}
			answers = append(answers, "ok")
		}
		got, err := c.Score(context.Background(), answers)
		if err != nil || (got.Points == 1) != (skip < 0) {
			t.Errorf("without request %d: %+v %v", skip, got, err)
		}
	}
}

func invoke(t *testing.T, step bench.Step, line string) {
	t.Helper()
	name, args, _ := strings.Cut(line, " ")
	for _, f := range step.Tools {
		if f.Def().Name == name {
			if r, err := f.Invoke(context.Background(), tool.Call{Name: name, Arguments: json.RawMessage(args)}); err != nil || r.Value == nil {
				t.Fatal(line, r, err)
			}
			return
		}
	}
	t.Fatalf("there is no tool %s", name)
}

func TestAnotherWheelIsRefused(t *testing.T) {
	dir := t.TempDir()
	if _, err := Start(t.Context(), "/usr/bin/python3", dir); errs.CodeOf(err) != errs.NotFound {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(dir, Wheels[0].File), []byte("PK"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Start(t.Context(), "/usr/bin/python3", dir); errs.CodeOf(err) != errs.NotFound || !strings.Contains(err.Error(), "SHA-256") {
		t.Error(err)
	}
}

// A Python that computes without end does not hold up whoever wants to stop.
func TestAStopEndsThePython(t *testing.T) {
	dir, err := Dir()
	if err != nil {
		t.Fatal(err)
	}
	endless := filepath.Join(t.TempDir(), "python")
	if err := os.WriteFile(endless, []byte("#!/bin/sh\nread line\necho asked >&2\nexec sleep 1000\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	w, err := Start(ctx, endless, dir)
	if err != nil {
		t.Fatal(err, "; run make testdata")
	}
	asked := make(chan error, 1)
	go func() { _, err := NewSuite(w, []string{"simple_python"}, 1); asked <- err }()
	cancel()
	if err := <-asked; errs.CodeOf(err) != errs.Canceled {
		t.Errorf("%v", err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}
