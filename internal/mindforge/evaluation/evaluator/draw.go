package evaluator

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"macaron/internal/errs"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/evaluation"
)

// number is a pseudo-random function of names under the evaluator's seed: who does not have
// the seed cannot foretell a task, and whoever has it draws the same ones again.
func (e *Evaluator) number(names ...any) uint64 {
	mac := hmac.New(sha256.New, e.seed[:])
	fmt.Fprintf(mac, "%q", names)
	return binary.BigEndian.Uint64(mac.Sum(nil))
}

// tasks draws a suite's tasks from the families of a split, the same number of each as far as
// that goes. purpose keeps the draws of different stages and tests apart.
func (e *Evaluator) tasks(c *evaluation.Contract, s evaluation.Suite, split evaluation.Split, n int, purpose string) ([]mindforge.Task, error) {
	families := c.Families(s, e.Worlds, split)
	if len(families) == 0 {
		return nil, errs.New(errs.FormatInvalid, "the suite "+s.Name+" has no family of the split "+string(split), "give it more families, or other shares, in a new version of the evaluation contract")
	}
	slices.SortFunc(families, func(a, b evaluation.Family) int {
		x, y := e.number(purpose, s.Name, a.String()), e.number(purpose, s.Name, b.String())
		switch {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	out := make([]mindforge.Task, 0, n)
	for i := range n {
		f := families[i%len(families)]
		w := e.Worlds[slices.IndexFunc(e.Worlds, func(w mindforge.World) bool { return w.Name() == f.World })]
		level := s.Levels[(i+i/len(families))%len(s.Levels)] // a family gets another one each round
		t, err := w.Make(f.Name, level, e.number(purpose, s.Name, f.String(), i))
		if err != nil {
			return nil, errs.Wrap(errs.CodeOf(err), err, "a task of "+f.World+" cannot be made", "")
		}
		out = append(out, t)
	}
	return out, nil
}

// cases draws n cases of safety, as many of each kind as that allows: the kind stands before the
// first dash of a case's name. 0: all, in their order.
func (e *Evaluator) cases(n int, purpose string) (out []mindforge.Task, err error) {
	all := e.Safety.Families()
	if n > 0 {
		all = e.ofEachKind(all, purpose)
		all = all[:min(n, len(all))]
	}
	for _, f := range all {
		t, err := e.Safety.Make(f, 0, e.number(purpose, "safety", f))
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

// ofEachKind orders names so that each beginning has as many of every kind as the others, and
// which ones only the evaluator's seed knows.
func (e *Evaluator) ofEachKind(names []string, purpose string) []string {
	drawn := func(f string) uint64 { return e.number(purpose, "case", f) }
	names = slices.SortedFunc(slices.Values(names), func(a, b string) int { return cmp.Compare(drawn(a), drawn(b)) })
	seen, rank := map[string]int{}, map[string]int{}
	for _, f := range names {
		kind, _, _ := strings.Cut(f, "-")
		rank[f] = seen[kind]
		seen[kind]++
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(rank[a], rank[b]) })
	return names
}

// plan is what a stage runs.
type plan struct {
	split   evaluation.Split
	purpose string
	suites  []evaluation.Suite // with the number of items at this stage
	safety  bool
}

func (j *job) plan() plan {
	suites, safety := j.s.Asked(j.stage)
	switch j.stage {
	case mindforge.Smoke:
		return plan{evaluation.Train, "smoke", suites, safety}
	case mindforge.Minibatch:
		return plan{evaluation.Train, "minibatch " + string(j.pair), suites, safety}
	case mindforge.Validation:
		return plan{evaluation.Validation, "validation", suites, safety}
	case mindforge.Sealed:
		return plan{evaluation.Sealed, sealedPurpose(j.test), suites, safety}
	}
	return plan{}
}

// plain is a JSON value as the text that it stands for, where it is one.
func plain(v json.RawMessage) string {
	var s string
	if json.Unmarshal(v, &s) == nil {
		return s
	}
	return string(v)
}

// sealedPurpose names the draw of a sealed test: each has tasks of its own.
func sealedPurpose(test int) string { return fmt.Sprint("sealed ", test) }
