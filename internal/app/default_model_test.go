package app

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"macaron/internal/auth"
	"macaron/internal/config"
	"macaron/internal/record"
	"macaron/internal/testmodel"
)

// The default model with the shipped contract and adapters: a conversation of five
// turns in several languages, routed by the model, equal in both modes, and
// summarised by the specialists that answered.
func TestTheDefaultModelHoldsAConversation(t *testing.T) {
	cfg, err := config.Load(map[string]string{"home": t.TempDir(), "contract": "../../macaron.toml", "listen": "127.0.0.1:0", "model": testmodel.Path(t)})
	if err != nil {
		t.Fatal(err)
	}
	s := start(t, cfg, nil)
	if err := s.WaitReady(t.Context()); err != nil {
		t.Fatal(err)
	}
	texts := []string{"Hello! Who are you?", "Write a bash loop that prints 1 to 5.", "¿Y en Python?", "Remind me to call Ann at nine.", "谢谢"}
	streams, by := s.sayAll("a", true, texts)
	wholes, same := s.sayAll("b", false, texts)
	if strings.Join(streams, "\x00") != strings.Join(wholes, "\x00") || fmt.Sprint(by) != fmt.Sprint(same) {
		t.Errorf("%q by %v\n%q by %v", streams, by, wholes, same)
	}
	turns := s.turnsOf()
	if len(turns) != len(texts) {
		t.Fatalf("the session has %d turns", len(turns))
	}
	var ids []string
	for _, turn := range turns {
		ids = append(ids, turn.ID)
		sum := 0.0
		for _, p := range turn.Route.Probabilities {
			sum += p
		}
		if turn.Route.Reason != "model" || math.Abs(sum-1) > 1e-6 || turn.Status != record.StatusDelivered {
			t.Errorf("route %+v, status %s", turn.Route, turn.Status)
		}
	}
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
	defer stop()
	if !s.summaries.Await(ctx, auth.Local, ids) {
		t.Fatal("the summaries do not come")
	}
	for _, turn := range s.turnsOf() {
		if turn.SummarySource != "model" || turn.Summary == "" {
			t.Errorf("the summary of %q is %q from %q", turn.Text(), turn.Summary, turn.SummarySource)
		}
	}
}

func (s *site) sayAll(name string, mode bool, texts []string) (answers, adapters []string) {
	s.t.Helper()
	var history []any
	for _, text := range texts {
		history = append(history, user(text))
		q := object{"model": "macaron", "messages": history, "temperature": 0, "max_tokens": 24, "user": name}
		answer, adapter := s.answer(q, mode)
		history = append(history, object{"role": "assistant", "content": answer})
		answers, adapters = append(answers, answer), append(adapters, adapter)
	}
	return answers, adapters
}

// answer sends one request in one mode and gives the text and who said it.
func (s *site) answer(q object, mode bool) (text, adapter string) {
	s.t.Helper()
	if mode {
		resp := s.post(streamed(q))
		if resp.StatusCode != 200 {
			s.t.Fatal(s.object(resp))
		}
		chunks, last := s.chunks(resp)
		if last != "[DONE]" {
			s.t.Fatalf("the stream ends with %s", last)
		}
		return said(chunks), resp.Header.Get("X-Macaron-Adapter")
	}
	o := s.object(s.post(q))
	if o["error"] != nil {
		s.t.Fatal(o)
	}
	return at[string](at[[]any](o, "choices")[0], "message", "content"), at[string](o, "macaron", "adapter")
}
