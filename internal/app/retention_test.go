package app

import (
	"testing"
	"time"

	"macaron/internal/auth"
	"macaron/internal/backend/backendtest"
	"macaron/internal/clock"
	"macaron/internal/obs"
)

// A conversation goes from the running server when its time is over.
func TestOldConversationsGo(t *testing.T) {
	cfg := settings(t, t.TempDir())
	s := start(t, cfg, &backendtest.Scripted{})
	s.object(s.post(ask(user("L0: hello"))))
	s.settled()
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	cfg.Store.Keep = 30 * 24 * time.Hour
	for _, c := range [][2]int{{29, 1}, {31, 0}} {
		days, want := c[0], c[1]
		later := &clock.Fixed{T: time.Now().AddDate(0, 0, days)}
		a, err := New(cfg, Options{Log: obs.Discard(), Generator: &backendtest.Scripted{}, Clock: later})
		if err != nil {
			t.Fatal(err)
		}
		patience := time.Minute // until it goes
		if want == 1 {
			patience = time.Second // in which it stays
		}
		for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
			all, err := a.sessions.List(t.Context(), auth.Local, time.Time{}, 9)
			if err != nil || len(all) == 0 {
				break
			}
		}
		if all, err := a.sessions.List(t.Context(), auth.Local, time.Time{}, 9); err != nil || len(all) != want {
			t.Errorf("after %d days there are %d: %v", days, len(all), err)
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
}
