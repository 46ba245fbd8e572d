package recipe

import (
	"context"
	"strings"
	"testing"

	"macaron/internal/errs"
)

const least = "method = \"sft\"\nout = \"new\"\n[data]\ntrain = \"rows.jsonl\"\n"

// policyLoss is a recipe of grpo with settings of its loss.
func policyLoss(rl string) string {
	return strings.Replace(least, "sft", "grpo", 1) + "[rl]\n" + rl + "\n[rl.reward]\nkind = \"exact\"\n"
}

func TestStrictRecipes(t *testing.T) {
	if _, err := Parse([]byte(least), "."); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ text, says string }{
		"unknown key":     {least + "trian = 1\n", `line 5 of the recipe: there is no key "data.trian"`},
		"unknown section": {least + "[optimiser]\nx = 1\n", "optimiser"},
		"wrong type":      {"method = 3\n", "line 1"},
		"no TOML":         {"method = \n", "line 1"},
		"method":          {strings.Replace(least, "sft", "rlhf", 1), "method"},
		"no out":          {strings.Replace(least, `"new"`, `""`, 1), "out"},
		"no data":         {"method = \"sft\"\nout = \"x\"\n", "data.train"},
		"fraction":        {least + "held_out_fraction = 1.5\n", "held_out_fraction"},
		"no fraction":     {least + "held_out_fraction = nan\n", "held_out_fraction"},
		"alpha":           {least + "[adapter]\nalpha = 0\n", "adapter.alpha"},
		"negative alpha":  {least + "[adapter]\nalpha = -32\n", "adapter.alpha"},
		"held out":        {least + "held_out = \"./x/../rows.jsonl\"\n", "data.held_out is the file"},
		"max_tokens":      {least + "max_tokens = -1\n", "max_tokens"},
		"work is out":     {"work = \"./new/\"\n" + least, "work is its out"},
		"work in out":     {"work = \"new/work\"\n" + least, "work is its out, or in it"},
		"schedule":        {least + "[optimizer]\nschedule = \"step\"\n", "schedule"},
		"rate":            {least + "[optimizer]\nlearning_rate = -1\n", "learning_rate"},
		"batch":           {least + "[run]\nbatch = 0\n", "run.batch"},
		"epochs":          {least + "[run]\nepochs = 0\n", "run.epochs"},
		"steps":           {least + "[run]\nsteps = -1\n", "run.steps"},
		"reward":          {strings.Replace(least, "sft", "grpo", 1), "reward.kind"},
		"loss":            {policyLoss("loss = \"magic\""), `no loss "magic"`},
		"no policy loss":  {policyLoss("loss = \"cross_entropy\""), "reads no advantages"},
		"setting":         {policyLoss("loss = \"ppo\"\nconfig = {clip = 1}"), `no setting "clip"`},
		"setting's value": {policyLoss("loss = \"ppo\"\nconfig = {clip_low_threshold = nan}"), "clip_low_threshold"},
		"answers":         {policyLoss("max_tokens = 9223372036854775807"), "rl"},
		"updates":         {policyLoss("updates = 9223372036854775807"), "rl"},
		"pattern":         {strings.Replace(least, "sft", "grpo", 1) + "[rl.reward]\nkind = \"regex\"\npattern = \"(\"\n", "pattern"},
	} {
		_, err := Parse([]byte(c.text), ".")
		if code := errs.CodeOf(err); code != errs.FormatInvalid && code != errs.InvalidRequest || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLearningRates(t *testing.T) {
	o := Optimizer{LearningRate: 1, Schedule: "cosine", WarmupSteps: 2, FinalRatio: 0.1}
	for step, want := range map[int]float64{0: 0.5, 1: 1, 2: 1, 7: 0.55, 12: 0.1} {
		if got := o.ratio(step, 12); got < want-1e-9 || got > want+1e-9 {
			t.Errorf("cosine, step %d: %v, want %v", step, got, want)
		}
	}
	if o.Schedule = "linear"; o.ratio(7, 12) != 0.55 {
		t.Error(o.ratio(7, 12))
	}
	if o.Schedule = "constant"; o.ratio(7, 12) != 1 {
		t.Error(o.ratio(7, 12))
	}
}

// TestBatchesCoverEveryRowOnce: groups stay together, the order follows the seed.
func TestBatchesCoverEveryRowOnce(t *testing.T) {
	var rows []row
	for i := range 23 {
		rows = append(rows, row{tokens: []int32{1, 2, 3, int32(i)}, group: string(rune('a' + i%2))})
	}
	r := &Recipe{Seed: 3, Run: Run{Epochs: 2, Batch: 5, BatchTokens: 7}}
	plans := func() [][]int {
		t.Helper()
		all, err := r.plan(rows)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	plan := plans()
	seen := map[int]int{}
	for _, b := range plan {
		if len(b) > 4 { // 4 tokens, then one more for each row that begins alike
			t.Errorf("a batch of %d", len(b))
		}
		for _, i := range b {
			seen[i]++
			if rows[i].group != rows[b[0]].group {
				t.Error("two groups in one batch")
			}
		}
	}
	for i := range rows {
		if seen[i] != 2 {
			t.Errorf("row %d stands there %d times in two epochs", i, seen[i])
		}
	}
	if r.Seed++; equal(plan, plans()) {
		t.Error("another seed gives the same order")
	}
	if r.Seed--; !equal(plan, plans()) {
		t.Error("the same seed gives another order")
	}
	for _, many := range []Run{{Epochs: 1 << 40, Batch: 5}, {Epochs: 1, Steps: 1 << 40, Batch: 5}} {
		r.Run = many
		if _, err := r.plan(rows); errs.CodeOf(err) != errs.TooLarge {
			t.Errorf("%+v: %v", many, err)
		}
	}
}

func equal(a, b [][]int) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		for j := range a[i] {
			if len(a[i]) != len(b[i]) || a[i][j] != b[i][j] {
				return false
			}
		}
	}
	return true
}

func TestRewards(t *testing.T) {
	ask := func(w Reward, answer string) float64 {
		v, err := w.score(t.Context(), &Machine{}, &line{Answer: "42"}, answer)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, c := range []struct {
		w      Reward
		answer string
		want   float64
	}{
		{Reward{Kind: "exact"}, " 42\n", 1}, {Reward{Kind: "exact"}, "42!", 0},
		{Reward{Kind: "regex", Pattern: `is (\d+)`}, "it is 42.", 1}, {Reward{Kind: "regex", Pattern: `is (\d+)`}, "it is 41.", 0}, {Reward{Kind: "regex", Pattern: `\d`}, "7", 1},
		{Reward{Kind: "arithmetic"}, "6*7 = 42.0", 1}, {Reward{Kind: "arithmetic"}, "42 or 43", 0}, {Reward{Kind: "arithmetic"}, "none", 0},
	} {
		if got := ask(c.w, c.answer); got != c.want {
			t.Errorf("%+v of %q: %v", c.w, c.answer, got)
		}
	}
	w := Reward{Kind: "command", Command: []string{"judge"}}
	m := &Machine{Command: func(_ context.Context, args []string, in string) (string, error) {
		if args[0] != "judge" || !strings.Contains(in, `"expected":"42"`) {
			t.Errorf("%v, %s", args, in)
		}
		return "0.25\n", nil
	}}
	if v, err := w.score(t.Context(), m, &line{Answer: "42"}, "x"); v != 0.25 || err != nil {
		t.Error(v, err)
	}
	m.Command = func(context.Context, []string, string) (string, error) { return "good", nil }
	if _, err := w.score(t.Context(), m, &line{}, "x"); errs.CodeOf(err) != errs.InvalidRequest {
		t.Error(err)
	}
}
