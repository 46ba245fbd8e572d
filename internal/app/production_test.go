package app

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"macaron/internal/auth"
	"macaron/internal/backend"
	"macaron/internal/backend/backendtest"
	"macaron/internal/chat"
	"macaron/internal/mint/filter"
	"macaron/internal/record"
)

// consenting sends a request with the person's consent.
func consenting(r *http.Request) { r.Header.Set("X-Macaron-Consent", "train") }

func (s *site) dataset(set filter.Settings, out string) *filter.Dataset {
	s.t.Helper()
	f, err := filter.New(set, nil, out)
	if err != nil {
		s.t.Fatal(err)
	}
	if err := NewProduction(s.store, s.cfg.Home).Feed(s.t.Context(), f, auth.Local); err != nil {
		s.t.Fatal(err)
	}
	dir, _, err := f.Close("")
	if err != nil {
		s.t.Fatal(err)
	}
	d, err := filter.Open(dir)
	if err != nil {
		s.t.Fatal(err)
	}
	return d
}

func rowsOf(t *testing.T, d *filter.Dataset) (rows []filter.Provenance, text string) {
	t.Helper()
	if err := d.Rows(func(p filter.Provenance) error { rows = append(rows, p); return nil }); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(d.Dir, filter.TrainFile))
	if err != nil {
		t.Fatal(err)
	}
	return rows, string(raw)
}

// What people consented to becomes rows as the specialist saw it; the rest, and whoever
// follows it, does not; what is deleted later is gone from the next dataset and has a
// tombstone in the one before.
func TestConversationsBecomeDatasets(t *testing.T) {
	s, _ := scriptedSite(t)
	set := filter.Defaults()
	set.HeldOut = 0
	first := ask(user("L1: book a table for two tonight"))
	one := at[object](s.object(s.post(first, consenting)), "macaron")
	s.settled()
	second := s.object(s.post(ask(user("L1: book a table for two tonight"), object{"role": "assistant", "content": "L1 heard L1: book a table for two tonight"}, user("L2: now write a loop that waits")), consenting))
	two := at[object](second, "macaron")
	s.settled()
	s.object(s.post(ask(user("L0: nobody may learn from this one"))))
	s.object(s.post(ask(user("L0: nobody may learn from this one"), object{"role": "assistant", "content": "L0 heard L0: nobody may learn from this one"}, user("L0: nor from what follows it, whatever I say")), consenting))
	three := at[object](s.object(s.post(ask(user("L0: name the third planet please")), consenting)), "macaron")
	s.settled()
	if resp, body := s.send("POST", "/v1/feedback", `{"turn":"`+at[string](three, "turn")+`","score":-1,"correction":"Earth."}`); resp.StatusCode != http.StatusOK {
		t.Fatal(resp.StatusCode, body)
	}
	out := t.TempDir()
	d := s.dataset(set, out)
	rows, text := rowsOf(t, d)
	if len(rows) != 3 || d.Manifest.Dropped["consent"] != 2 || strings.Contains(text, "nobody may") {
		t.Fatalf("%d rows, dropped %v\n%s", len(rows), d.Manifest.Dropped, text)
	}
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i, p := range rows {
		if p.Consent != record.ConsentTrain || p.Contract == "" || p.Revision == "" || p.ConsentRecord == "" || len(p.Hops) != 1 {
			t.Errorf("%+v", p)
		}
		var l filter.Line
		if err := json.Unmarshal([]byte(lines[i]), &l); err != nil {
			t.Fatal(err)
		}
		last := l.Messages[len(l.Messages)-1]
		switch p.Turn {
		case at[string](one, "turn"):
			if l.Messages[0].Role != "system" || last.Content != "L1 heard L1: book a table for two tonight" || p.Adapter != "L1" {
				t.Errorf("%+v", l)
			}
		case at[string](two, "turn"):
			if p.Adapter != "L2" || p.Shows[0] != at[string](one, "turn") || strings.Contains(l.Messages[2].Content, "L1 heard L1: book a table for two tonight\"") {
				t.Errorf("%+v of %+v", l, p)
			}
		case at[string](three, "turn"):
			if last.Content != "Earth." {
				t.Errorf("%+v", l)
			}
		}
	}
	if _, err := s.store.Erase(t.Context(), auth.Local, at[string](one, "session"), record.Erase{Why: "asked for", Time: s.clock.Now()}); err != nil {
		t.Fatal(err)
	}
	if again, text := rowsOf(t, s.dataset(set, out)); len(again) != 1 || strings.Contains(text, "book a table") {
		t.Errorf("%d rows\n%s", len(again), text)
	}
	tombs, err := d.Tombstones(t.Context(), NewProduction(s.store, s.cfg.Home).Gone)
	if err != nil || len(tombs) != 2 || tombs[0].Why != "asked for" || tombs[0].Time.IsZero() {
		t.Errorf("%+v, %v", tombs, err)
	}
}

// Served token ids of a consented turn leave as they were served.
func TestServedTokensBecomeRows(t *testing.T) {
	g := &backendtest.Scripted{}
	g.On = func(_ context.Context, r backend.Request, emit func(chat.Event) bool) (bool, error) {
		if r.Hop.Kind != string(record.HopAnswer) {
			return false, nil
		}
		if !r.Wanted.Rows {
			t.Error("the engine is not asked for what it served")
		}
		emit(chat.Event{Start: &chat.Start{PromptTokens: 3}})
		emit(chat.Event{Text: "Nine."})
		emit(chat.Event{Finish: &chat.Finish{Reason: chat.FinishStop, Raw: []int32{4, 5}, Logps: []float32{-0.25, -1e-9}, Prompt: []int32{1, 2, 3}}})
		return true, nil
	}
	s := start(t, settings(t, t.TempDir()), g)
	s.object(s.post(ask(user("L0: how many are there")), consenting))
	s.settled()
	set := filter.Defaults()
	set.HeldOut, set.Rows = 0, "tokens"
	rows, text := rowsOf(t, s.dataset(set, t.TempDir()))
	var l filter.Line
	if err := json.Unmarshal(bytes.TrimSpace([]byte(text)), &l); err != nil {
		t.Fatal(err, text)
	}
	if len(l.Tokens) != 5 || l.Tokens[4] != 5 || l.Weights[2] != 0 || l.Weights[3] != 1 || rows[0].Logprobs[4] != -1e-9 {
		t.Errorf("%+v, %+v", l, rows[0])
	}
}
