package exam

import (
	"context"
	"iter"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"macaron/internal/backend"
	"macaron/internal/bench/ui4a"
	"macaron/internal/chat"
)

// script is a model that says what it is told to, one answer after the other.
type script struct {
	answers []string
	asked   []string // the last message of each request
}

func (s *script) Generate(_ context.Context, r backend.Request) iter.Seq2[chat.Event, error] {
	s.asked = append(s.asked, r.Messages[len(r.Messages)-1].Text())
	answer := s.answers[min(len(s.asked), len(s.answers))-1]
	return func(yield func(chat.Event, error) bool) {
		_ = yield(chat.Event{Text: answer}, nil) && yield(chat.Event{Finish: &chat.Finish{Usage: chat.Usage{PromptTokens: 10, OutputTokens: 5}}}, nil)
	}
}

func (s *script) Capabilities() backend.Capabilities { return backend.Capabilities{} }
func (s *script) Ready(context.Context) error        { return nil }

func TestABrokenCardGoesBackAndJudgesAreKept(t *testing.T) {
	cases, err := ui4a.Cases("pick-photo-style")
	if err != nil {
		t.Fatal(err)
	}
	fence := func(card string) string { return "Here it is.\n````ui4a/tsx\n" + card + "````\n" }
	broken := strings.Replace(cases[0].Card, "RadioGroup }", "Hologram }", 1)
	model := &script{answers: []string{fence(broken), fence(cases[0].Card)}}
	judge := &script{answers: []string{`{"yes": true, "quote": "Film noir … Pixel art"}`}}
	o := Options{
		Cases: cases, On: shared, Views: ui4a.Views[:1], Source: Model{Label: "script", Generator: model}, Out: t.TempDir(),
		Judges: &Judge{Label: "judge", Generator: judge, Dir: t.TempDir()},
	}
	first, err := Do(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	c := first.Cases[0]
	if c.Answer.Rounds != 1 || c.Answer.Output != 10 || c.Answer.Text != "Here it is.\n" || len(model.asked) != 2 || !strings.Contains(model.asked[1], "Hologram") {
		t.Errorf("answer %+v after %q", c.Answer, model.asked)
	}
	if c.Score < 95 || len(c.Views[0].Verdicts[ui4a.Visual]) != len(looks) || len(c.Views[0].Verdicts[ui4a.Content]) != 1 {
		t.Errorf("score %.1f, verdicts %+v", c.Score, c.Views[0].Verdicts)
	}
	for _, q := range judge.asked {
		if strings.Contains(q, "script") {
			t.Errorf("the judge is told who wrote the card: %s", q)
		}
	}
	if err := first.Save(o.Out); err != nil {
		t.Fatal(err)
	}
	rescored, err := Rescore(t.Context(), o.Out, cases, nil)
	if d := cmp.Diff(first, rescored); err != nil || d != "" {
		t.Errorf("scored again from what is kept: %v %s", err, d)
	}
	strict := &script{answers: []string{`{"yes": false, "quote": "nothing"}`}}
	swapped, err := Rescore(t.Context(), o.Out, cases, &Judge{Label: "strict", Generator: strict})
	if err != nil {
		t.Fatal(err)
	}
	if s := swapOf(first, swapped, paired(first, swapped)); s == nil || s.Asked != len(looks)+1 || len(s.Changes) != s.Asked || s.YesB != 0 || swapped.Cases[0].Score >= c.Score {
		t.Errorf("another judge: %+v", s)
	}
	asked := len(judge.asked)
	o.Source, o.Judges = Reference{}, &Judge{Label: "judge", Dir: o.Judges.(*Judge).Dir} // the same card, no model
	again, err := Do(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if again.Cases[0].Score != c.Score || len(judge.asked) != asked {
		t.Errorf("without the judge's model %.2f, with it %.2f", again.Cases[0].Score, c.Score)
	}
	if err := again.Save(o.Out); err != nil {
		t.Fatal(err)
	}
	if _, err := WriteReport(o.Out); err != nil {
		t.Error(err)
	}
	if _, _, err := Compare(o.Out, o.Out); err != nil {
		t.Error(err)
	}
	if _, err := (&Judge{Label: "another", Dir: t.TempDir()}).ask(t.Context(), "?", nil); err == nil {
		t.Error("a judge without a model and without answers answers")
	}
}
