package bench

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"macaron/internal/contract"
	"macaron/internal/errs"
)

func TestAMeasurementGoesOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.jsonl")
	pins := Pins{Engine: "e", Model: "m", Suites: map[string]string{"s": "v1"}}
	l, err := OpenLog(path, pins)
	if err != nil {
		t.Fatal(err)
	}
	add := func(task string, mode contract.Mode, family string, points float64, failure string) {
		t.Helper()
		if err := l.Add(Row{Suite: "s", Task: task, Mode: mode, Family: family, Cluster: family, Guess: task[:1], Score: Score{Points: points}, Failure: failure, Turns: 2}); err != nil {
			t.Fatal(err)
		}
	}
	add("x1", contract.Functions, "f", 1, "")
	add("x2", contract.Functions, "f", 0, "the engine went away")
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"suite":"s","ta`); err != nil { // a crash in the middle of a line
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if l, err = OpenLog(path, pins); err != nil {
		t.Fatal(err)
	}
	if !l.Done("s", "x1", contract.Functions) || l.Done("s", "x2", contract.Functions) || l.Done("s", "x1", contract.REPL) {
		t.Errorf("%+v", l.Rows)
	}
	add("x2", contract.Functions, "f", 0, "")
	add("y3", contract.Functions, "g", 1, "")
	add("x1", contract.REPL, "f", 0, "")
	add("x2", contract.REPL, "f", 1, "")
	add("y3", contract.REPL, "g", 0, "")
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if l, err = ReadLog(path); err != nil {
		t.Fatal(err)
	}
	r := l.Report()
	if len(r.Groups) != 2 || r.Groups[0].Points.N != 3 || r.Groups[0].Failed != 0 || !near(r.Groups[0].Points.Mean, 2./3) || r.Groups[0].Points.Clusters != 2 || !near(r.Groups[0].Floor, 2./3) {
		t.Errorf("%+v", r.Groups)
	}
	if d := r.Differences; len(d) != 1 || d[0].Better != 2 || d[0].Worse != 1 || !near(d[0].Points.Mean, 1./3) {
		t.Errorf("%+v", d)
	}
	if text := r.Markdown(); !strings.Contains(text, "| s | functions | 3 (2) | 66.7 [") || !strings.Contains(text, "| s | functions - repl | 3 (2) | 33.3 [") || !strings.Contains(text, "| s: g | repl | 1 (1) | 0.0 [0.0, 100.0]") {
		t.Error(text)
	}
	pins.Seed = 1
	if _, err := OpenLog(path, pins); errs.CodeOf(err) != errs.InvalidRequest {
		t.Errorf("another measurement: %v", err)
	}
	if _, err := ReadLog("file_test.go"); errs.CodeOf(err) != errs.FormatInvalid {
		t.Errorf("no measurement: %v", err)
	}
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(b)) }
