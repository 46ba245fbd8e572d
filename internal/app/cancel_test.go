package app

import (
	"os"
	"strings"
	"testing"

	"macaron/internal/errs"
	"macaron/internal/record"
)

// A run that waits for a person is ended without a server, a model and a contract that can
// be read; not while a server has the home.
func TestARunIsEndedByItsLogAlone(t *testing.T) {
	cfg := settings(t, t.TempDir())
	text, err := os.ReadFile(cfg.Contract)
	if err != nil {
		t.Fatal(err)
	}
	asks := strings.Replace(string(text), "[policies]\n", "[policies]\napprove = [\"write\"]\n", 1)
	if err := os.WriteFile(cfg.Contract, []byte(asks), 0o600); err != nil {
		t.Fatal(err)
	}
	s := start(t, cfg, acting())
	var run runJSON
	if code := s.api("POST", "", object{"instruction": "write"}, &run); code != 200 {
		t.Fatalf("%d %+v", code, run)
	}
	if waits := s.still(run.ID); waits.Status != "waiting" {
		t.Fatalf("%+v", waits)
	}
	if _, err := CancelRun(t.Context(), cfg, run.ID); errs.CodeOf(err) != errs.HomeLocked {
		t.Errorf("beside a server: %v", err)
	}
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(cfg.Contract, []byte("no contract"), 0o600); err != nil {
		t.Fatal(err)
	}
	ended, err := CancelRun(t.Context(), cfg, run.ID)
	if err != nil || ended.Status != record.RunCancelled {
		t.Errorf("%+v %v", ended, err)
	}
	if _, err := CancelRun(t.Context(), cfg, run.ID); errs.CodeOf(err) != errs.InvalidRequest {
		t.Errorf("a second time: %v", err)
	}
}
