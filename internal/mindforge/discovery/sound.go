package discovery

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"macaron/internal/errs"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/world"
)

// no is a refusal on its way.
func no(r Reason, format string, args ...any) *Refusal {
	return &Refusal{Reason: r, Detail: errs.Clip(fmt.Sprintf(format, args...))}
}

// formed looks at what a task says, without playing anything.
func (s Settings) formed(c Candidate) *Refusal {
	t := c.Task
	var v world.Verifier
	if err := json.Unmarshal(t.Judged.Spec, &v); err != nil {
		return no(Malformed, "the verifier cannot be read")
	}
	answers := []string{t.Judged.Solution.Answer}
	if v.Goal.Asked {
		answers = append(answers, v.Goal.Answer)
	} else {
		answers = nil
	}
	switch n := utf8.RuneCountInString(world.Prompt(t)); {
	case n > s.MaxChars:
		return no(TooLong, "%d characters of %d", n, s.MaxChars)
	case len(t.Judged.Failing) < 3:
		return no(NoFailing, "%d failing solutions", len(t.Judged.Failing))
	case !slices.ContainsFunc(t.Judged.Failing, func(f mindforge.Solution) bool { return strings.TrimSpace(f.Answer) == "" && len(f.Calls) == 0 }):
		return no(NoFailing, "the empty answer is not among the failing solutions")
	}
	for _, a := range answers {
		if _, ref := world.Ref(a); !ref && (world.Leaks(t.Instruction, v.Data, a) || world.Leaks(t.Answer, "", a)) {
			return no(Leak, "the answer stands in the request")
		}
	}
	return nil
}

// sound plays all solutions, several times and in several orders: what must pass passes, what
// must fail fails, and a task that its world makes is made the same again.
func (s Settings) sound(ctx context.Context, c Candidate) (*Refusal, error) {
	all := append([]mindforge.Solution{c.Task.Judged.Solution}, c.Task.Judged.Failing...)
	first := make([]bool, len(all))
	for round := range s.Plays {
		order := make([]int, len(all))
		for i := range order {
			order[i] = i
			if round%2 == 1 {
				order[i] = len(all) - 1 - i
			}
		}
		for _, i := range order {
			score, err := world.Play(ctx, c.World, c.Task, all[i])
			if err != nil {
				return nil, err
			}
			pass := score.Points == 1
			if round > 0 && pass != first[i] {
				return no(Flaky, "%s passes once and fails once", all[i].What), nil
			}
			first[i] = pass
		}
	}
	if !first[0] {
		return no(Unsolvable, "the solution does not pass"), nil
	}
	for i := range all[1:] {
		if first[i+1] {
			return no(Insecure, "%s passes", all[i+1].What), nil
		}
	}
	return s.again(c)
}

// again makes a task of a family a second time.
func (s Settings) again(c Candidate) (*Refusal, error) {
	if c.Source.Kind == FromRun || strings.HasPrefix(c.Task.Family, world.FreeFamily) {
		return nil, nil
	}
	t, err := world.Again([]world.World{c.World}, c.Task.ID)
	if err != nil {
		return no(Flaky, "the task is not made again from its name"), nil //nolint:nilerr // that is the finding
	}
	a, err := json.Marshal([]any{c.Task, c.Task.Judged})
	if err != nil {
		return nil, err
	}
	b, err := json.Marshal([]any{t, t.Judged})
	if err == nil && !bytes.Equal(a, b) {
		return no(Flaky, "the task is another one when it is made again"), nil
	}
	return nil, err
}
