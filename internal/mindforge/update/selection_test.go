package update_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"macaron/internal/adapter"
	"macaron/internal/chat"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/evaluation"
	"macaron/internal/mindforge/update"
	"macaron/internal/record"
)

var _ update.Splits = evaluation.Splits{}

// acted is an attempt that calls a tool by some words, and passes.
func acted(family, tool, words string) update.Trajectory {
	task := mindforge.Task{ID: "w/" + family + "/0/" + words, World: "w", Family: family, Instruction: "do " + words}
	said := chat.Message{Role: chat.Assistant, ToolCalls: []chat.ToolCall{{ID: "1", Name: tool, Arguments: fmt.Sprintf(`{"what":%q}`, words)}}}
	b := &record.Blob{Prompt: []int32{1, 2, 3}, Tokens: []int32{4, 5}, Logps: []float32{-1, -2}}
	return update.Trajectory{Task: task, Outcome: mindforge.Outcome{Pass: true}, Run: recorded(task, said, b, "")}
}

func with(t update.Trajectory, f func(*update.Trajectory)) update.Trajectory {
	f(&t)
	return t
}

// good are successes that differ: of so many families and tools.
func good(families, tools int) (all []update.Trajectory) {
	for f := range families {
		for n := range tools {
			all = append(all, acted(fmt.Sprint("f", f), fmt.Sprint("tool", n), fmt.Sprint("thing ", f, n)))
		}
	}
	return all
}

// Each reason takes what it is for out of the selection, and nothing else.
func TestReasons(t *testing.T) {
	s := settings(update.SFT)
	s.MaxTokens = 10
	var words []string
	for n := range 200 {
		words = append(words, fmt.Sprint("word", n))
	}
	long, base := strings.Join(words, " "), good(2, 2)
	for why, x := range map[string]update.Trajectory{
		"failed":         with(acted("f0", "new", "x"), func(t *update.Trajectory) { t.Outcome.Pass, t.Outcome.Failure = false, mindforge.Capability }),
		"cheat":          with(acted("f0", "new", "x"), func(t *update.Trajectory) { t.Outcome.Pass, t.Outcome.Failure = true, mindforge.Cheat }),
		"infrastructure": with(acted("f0", "new", "x"), func(t *update.Trajectory) { t.Outcome.Failure = mindforge.Infrastructure }),
		"flawed_task":    with(acted("f0", "new", "x"), func(t *update.Trajectory) { t.Outcome.Failure = mindforge.FlawedTask }),
		"purpose":        with(acted("f0", "new", "x"), func(t *update.Trajectory) { t.Run.Head.Purpose = record.Evaluation }),
		"consent":        with(acted("f0", "new", "x"), func(t *update.Trajectory) { t.Run.Head.Purpose = record.Production }),
		"pii": with(acted("f0", "new", "write to jane.doe@example.org"), func(t *update.Trajectory) {
			t.Run.Head.Purpose, t.Run.Head.Consent = record.Production, record.ConsentTrain
		}),
		"no_tokens":      with(acted("f0", "new", "x"), func(t *update.Trajectory) { t.Run.Turns[0].Head.Blob = nil }),
		"too_long":       with(acted("f0", "new", "x"), func(t *update.Trajectory) { t.Run.Turns[0].Head.Blob.Prompt = make([]int32, 9) }),
		"duplicate":      base[0],
		"near_duplicate": acted("f0", "tool0", strings.Replace(long, "word50 ", "", 1)),
	} {
		all := append(append([]update.Trajectory{}, base...), acted("f0", "tool0", long), x)
		got, err := s.Select(ctx, all, splits, adapter.Revision{})
		if err != nil {
			t.Fatal(why, err)
		}
		if got.Report.Dropped[why] != 1 || got.Report.Taken != 5 || len(got.Report.Dropped) != 1 || got.Report.Why != "" {
			t.Errorf("%s: %+v", why, got.Report)
		}
	}
}

// What belongs to validation or is sealed stops an update, whatever else is there.
func TestNeverOfOtherSplits(t *testing.T) {
	for _, family := range []string{"secret", "held"} {
		s := settings(update.SFT)
		failed := with(acted(family, "x", "y"), func(t *update.Trajectory) { t.Outcome.Pass = false })
		if _, err := s.Select(ctx, append(good(2, 2), failed), splits, adapter.Revision{}); errs.CodeOf(err) != errs.Forbidden {
			t.Errorf("%s: %v", family, err)
		}
	}
}

// What is easy to find does not crowd out the rest, and too few kinds are not trained on.
func TestDiversity(t *testing.T) {
	s := settings(update.SFT)
	var easy []update.Trajectory
	for n := range 100 {
		easy = append(easy, acted("f0", "tool0", fmt.Sprint("number ", n)))
	}
	s.Selection.Rows, s.Selection.PerForm, s.Selection.Effective = 12, 0, 3.5
	got := must[update.Selected](t)(s.Select(ctx, append(easy, good(4, 1)[1:]...), splits, adapter.Revision{}))
	if got.Report.Taken != 12 || got.Report.Dropped["rows"] != 91 || got.Report.Families > 2.5 || !strings.Contains(got.Report.Why, "effective kinds") {
		t.Errorf("%+v", got.Report)
	}
	s.Selection.PerForm = 1
	got = must[update.Selected](t)(s.Select(ctx, append(easy, good(4, 1)[1:]...), splits, adapter.Revision{}))
	if got.Report.Taken != 4 || math.Abs(got.Report.Forms-4) > 1e-9 || got.Report.Why != "" || got.Report.Dropped["per_form"] != 99 {
		t.Errorf("%+v", got.Report)
	}
	if _, err := open(t, true).updater(t, nil, nil).Do(ctx, update.Job{Settings: s, Selected: update.Selected{Report: update.Report{Why: "too few"}}}); errs.CodeOf(err) != errs.InvalidRequest {
		t.Errorf("an update of nothing: %v", err)
	}
}

// Advantages are what a reward has over the mean of its group; groups of one reward, and what
// another revision did, are left out.
func TestGroups(t *testing.T) {
	s := settings(update.GRPO)
	attempt := func(task string, pass bool, by ids.Digest, feedback int) update.Trajectory {
		return with(acted("f0", "tool0", task), func(t *update.Trajectory) {
			t.Outcome.Pass, t.Run.Head.Revision = pass, by
			if feedback != 0 {
				t.Feedback = &feedback
			}
		})
	}
	all := []update.Trajectory{
		attempt("mixed", true, "", 0), attempt("mixed", false, "", 0), attempt("mixed", false, "", 0), attempt("mixed", false, "", 0),
		attempt("all fail", false, "", 0), attempt("all fail", false, "", 0),
		attempt("liked", true, "", 1), attempt("liked", true, "", -1),
		attempt("other", true, "sha256:other", 0), attempt("other", false, "sha256:other", 0),
	}
	s.Selection.Feedback, s.Selection.Effective = 0.25, 0
	got := must[update.Selected](t)(s.Select(ctx, all, splits, adapter.Revision{}))
	var advantages []float64
	for _, r := range got.Rows {
		advantages = append(advantages, r.Advantage)
	}
	if fmt.Sprint(advantages) != "[0.75 -0.25 -0.25 -0.25 0.25 -0.25]" {
		t.Error(advantages)
	}
	r := got.Report
	if r.Groups != 3 || r.Silent != 1 || r.Dropped["silent_group"] != 2 || r.Dropped["off_policy"] != 2 || r.Taken != 6 {
		t.Errorf("%+v", r)
	}
	if f := r.Feedback; f.With != 2 || f.Share != 0.2 || f.Positive != 0.5 || f.Agree.Mean != 0.5 || f.Passed != 0.5 || f.Failed != 0 || f.Weight != 0.25 {
		t.Errorf("%+v", f)
	}
}

// Of successes that are imitated, what people liked goes first where not all find a place. What was
// judged bad in production goes altogether.
func TestWhatPeopleSaidOfSuccesses(t *testing.T) {
	s := settings(update.SFT)
	s.Selection.Rows, s.Selection.Effective, s.Selection.Feedback = 1, 0, 0.25
	plain, liked, bad := acted("f0", "tool0", "one thing"), acted("f0", "tool0", "another thing"), acted("f0", "tool0", "a bad thing")
	plus := 1
	liked.Feedback = &plus
	bad.Run.Head.Purpose, bad.Run.Head.Consent, bad.Run.Judged = record.Production, record.ConsentTrain, &record.Feedback{Score: -1}
	first := func() []int32 {
		return must[update.Selected](t)(s.Select(ctx, []update.Trajectory{plain, bad, liked}, splits, adapter.Revision{})).Rows[0].Tokens
	}
	liked.Run.Turns[0].Head.Blob.Tokens = []int32{6, 7}
	if got := first(); fmt.Sprint(got) != "[1 2 3 6 7]" {
		t.Errorf("%v was taken, not what was liked", got)
	}
	s.Selection.Feedback = 0
	if got := first(); fmt.Sprint(got) != "[1 2 3 4 5]" {
		t.Errorf("%v was taken: feedback counts for nothing", got)
	}
	if r := must[update.Selected](t)(s.Select(ctx, []update.Trajectory{plain, bad, liked}, splits, adapter.Revision{})).Report; r.Dropped["negative_feedback"] != 1 {
		t.Errorf("%+v", r)
	}
}

// Equal shares are their number, one kind is one.
func TestEffective(t *testing.T) {
	for _, c := range []struct {
		counts map[string]int
		want   float64
	}{{nil, 0}, {map[string]int{"a": 9}, 1}, {map[string]int{"a": 2, "b": 2, "c": 2}, 3}, {map[string]int{"a": 99, "b": 1}, 1.0576}} {
		if got := update.Effective(c.counts); math.Abs(got-c.want) > 1e-3 {
			t.Errorf("%v: %v, not %v", c.counts, got, c.want)
		}
	}
}
