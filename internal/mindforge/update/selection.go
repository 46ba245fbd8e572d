package update

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"macaron/internal/adapter"
	"macaron/internal/errs"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/evaluation"
	"macaron/internal/mint/filter"
	"macaron/internal/record"
	"macaron/internal/trajectory"
)

// Report is what became of the trajectories.
type Report struct {
	Given    int            `json:"given"`
	Taken    int            `json:"taken"`   // trajectories
	Dropped  map[string]int `json:"dropped"` // by reason
	Rows     int            `json:"rows"`
	Tokens   int64          `json:"tokens"`  // of the rows, once
	Learned  int64          `json:"learned"` // of them, those that the model said
	Families float64        `json:"families"`
	Forms    float64        `json:"forms"` // effective numbers of families, and of forms within families
	Groups   int            `json:"groups"`
	Silent   int            `json:"silent"` // groups whose rewards are all equal: nothing is learned of them
	Reward   float64        `json:"reward"` // mean of all that were compared
	Feedback Feedback       `json:"feedback"`
	Why      string         `json:"why,omitempty"` // nothing is to be trained on
}

// The reasons for which a trajectory is not trained on. Runs of production go through the
// filter of data sets as well, whose reasons come to these.
const (
	notPassed  = "failed"         // the verifier says so
	doubted    = "cheat"          // it passed, and the audit does not believe it: a failure to learn from
	noOutcome  = "infrastructure" // nothing is known of the pair
	flawed     = "flawed_task"    // the audit doubts the task
	purpose    = "purpose"        // it may not be trained on at all
	consent    = "consent"        // nobody has agreed to it
	noTokens   = "no_tokens"      // it was served without ids and log probabilities
	tooLong    = "too_long"       // a row has more tokens than max_tokens
	duplicate  = "duplicate"      // it says what another one says
	nearDouble = "near_duplicate" // it says about what another one says
	formFull   = "per_form"       // there are enough of its form
	enough     = "rows"           // there are enough rows
	otherActor = "off_policy"     // of grpo: another revision acted than the one that is trained
	noGroup    = "silent_group"   // of grpo: all of its group had one reward
)

// Selected is what is trained on.
type Selected struct {
	Rows   []Row
	Report Report
}

// candidate is a trajectory that may be taken.
type candidate struct {
	t      *Trajectory
	rows   []Row
	kind   string // family and form
	family string
	reward float64
}

// Select decides what is trained on; from is the revision that training begins from, empty
// for a new adapter. It fails for a trajectory of a family that is not for training: a loop
// that gave one has read what it must not.
func (s *Settings) Select(ctx context.Context, all []Trajectory, splits Splits, from adapter.Revision) (Selected, error) {
	out := Selected{Report: Report{Given: len(all), Dropped: map[string]int{}}}
	for i := range all {
		if err := admit(&all[i], splits); err != nil {
			return out, err
		}
	}
	out.Report.Feedback = judgeFeedback(all, s.Selection.Feedback)
	candidates, err := s.candidates(ctx, all, &out.Report)
	if err != nil {
		return out, err
	}
	var taken []candidate
	if s.Method == GRPO {
		taken = s.groups(candidates, from, &out.Report)
	} else {
		taken = s.imitated(candidates, &out.Report)
	}
	out.take(taken)
	out.Report.judge(s.Selection.Effective)
	return out, nil
}

// admit refuses what no update may see.
func admit(t *Trajectory, splits Splits) error {
	if split := splits.Of(t.Task.World, t.Task.Family); split != evaluation.Train {
		return errs.New(errs.Forbidden, fmt.Sprintf("the family %s/%s is of the split %s, which is never trained on", errs.Clip(t.Task.World), errs.Clip(t.Task.Family), split),
			"give trajectories of families of the split train")
	}
	if t.Run == nil {
		return errs.New(errs.InvalidRequest, "the trajectory of "+errs.Clip(t.Task.ID)+" has no record", "read the run "+errs.Clip(t.Outcome.Run))
	}
	return nil
}

// candidates drops what the rules of data, and what is known of the outcome, do not let in.
func (s *Settings) candidates(ctx context.Context, all []Trajectory, rep *Report) ([]candidate, error) {
	var out []candidate
	for i := range all {
		c, why, err := s.candidate(ctx, &all[i])
		if err != nil {
			return nil, err
		}
		if why != "" {
			rep.Dropped[why]++
			continue
		}
		out = append(out, c)
	}
	return out, nil
}

func (s *Settings) candidate(ctx context.Context, t *Trajectory) (c candidate, why string, err error) {
	switch t.Outcome.Failure {
	case mindforge.Infrastructure:
		return c, noOutcome, nil
	case mindforge.FlawedTask:
		return c, flawed, nil
	}
	may, why, err := s.allowed(ctx, t)
	if why != "" || err != nil {
		return c, why, err
	}
	shape, err := form(t.Run)
	if err != nil {
		return c, "", err
	}
	c = candidate{t: t, family: t.Task.World + "/" + t.Task.Family, reward: s.reward(t)}
	c.kind = c.family + "@" + string(shape)
	if c.rows, err = rowsOf(may, c.kind); err != nil {
		return c, noTokens, nil
	}
	for i := range c.rows {
		if len(c.rows[i].Tokens) > s.MaxTokens {
			return c, tooLong, nil
		}
	}
	return c, "", nil
}

// allowed asks for the purpose, and of production for consent and the filter of data sets. What is
// played again is of discovery then, so this is asked before.
func (s *Settings) allowed(ctx context.Context, t *Trajectory) (may trajectory.Trainable, why string, err error) {
	may, err = trajectory.Training(t.Run)
	switch {
	case err != nil && t.Run.Head.Purpose == record.Production:
		return may, consent, nil
	case err != nil:
		return may, purpose, nil
	case t.Run.Head.Purpose != record.Production:
		return may, "", nil
	}
	rules := filter.Defaults()
	rules.Quality.Failed = false // failures are what successes are compared with
	rules.Quality.Negative = s.Method != GRPO
	why, _, err = filter.Screen(ctx, rules, nil, may)
	return may, why, err
}

// imitated are the successes, different ones, spread over families and forms: by turns one of
// each, so that what is easy to find does not crowd out the rest. Those of a higher reward go first.
func (s *Settings) imitated(all []candidate, rep *Report) []candidate {
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(b.reward, a.reward) })
	near := filter.NewNear(filter.Defaults().Double.Shingle)
	byKind, families := map[string][]candidate{}, map[string][]string{} // kinds in the order of their first success
	for _, c := range all {
		why := verdict(c.t)
		if why == "" {
			why = s.repeats(near, words(c.t))
		}
		if most := s.Selection.PerForm; why == "" && most > 0 && len(byKind[c.kind]) >= most {
			why = formFull
		}
		if why != "" {
			rep.Dropped[why]++
			continue
		}
		if byKind[c.kind] == nil {
			families[c.family] = append(families[c.family], c.kind)
		}
		byKind[c.kind] = append(byKind[c.kind], c)
	}
	return spread(byKind, families, s.Selection.Rows, rep)
}

// verdict is why an attempt is no success.
func verdict(t *Trajectory) string {
	switch {
	case t.Outcome.Failure == mindforge.Cheat:
		return doubted
	case !t.Outcome.Pass || t.Outcome.Failure != "":
		return notPassed
	}
	return ""
}

// repeats is why a text adds nothing to those that are there, among which it is then.
func (s *Settings) repeats(near *filter.Near, text string) string {
	switch _, alike := near.Closest(text); {
	case alike == 1:
		return duplicate
	case s.Selection.Alike > 0 && alike >= s.Selection.Alike:
		return nearDouble
	}
	near.Add(text)
	return ""
}

// words is a trajectory as a text: what was asked, and what the model did.
func words(t *Trajectory) string {
	text := t.Task.Instruction
	for _, turn := range t.Run.Turns {
		text += "\n" + turn.Hop.Message.Text()
		for _, c := range turn.Hop.Message.ToolCalls {
			text += "\n" + c.Name + " " + c.Arguments
		}
	}
	return text
}

// spread takes one of each family in turn, of a family one of each form in turn.
func spread(byKind map[string][]candidate, families map[string][]string, most int, rep *Report) (out []candidate) {
	names, rows, left := slices.Sorted(maps.Keys(families)), 0, 0
	for _, all := range byKind {
		left += len(all)
	}
	turn := map[string]int{}
	for ; left > 0; left-- {
		// The family that has given least, the first by name of equals, gives the next one.
		name := slices.MinFunc(names, func(a, b string) int { return turn[a] - turn[b] })
		kinds := families[name]
		kind := kinds[turn[name]%len(kinds)]
		c := byKind[kind][0]
		if byKind[kind] = byKind[kind][1:]; len(byKind[kind]) == 0 {
			families[name] = slices.DeleteFunc(kinds, func(k string) bool { return k == kind })
		}
		if turn[name]++; len(families[name]) == 0 {
			names = slices.DeleteFunc(names, func(n string) bool { return n == name })
		}
		if most > 0 && rows+len(c.rows) > most {
			rep.Dropped[enough]++
			continue
		}
		out, rows = append(out, c), rows+len(c.rows)
	}
	return out
}

// take fills in rows and their report.
func (s *Selected) take(taken []candidate) {
	families, kinds := map[string]int{}, map[string]int{}
	for _, c := range taken {
		families[c.family]++
		kinds[c.kind]++
		for i := range c.rows {
			s.Report.Tokens += int64(len(c.rows[i].Tokens))
			s.Report.Learned += int64(c.rows[i].learned())
		}
		s.Rows = append(s.Rows, c.rows...)
	}
	s.Report.Taken, s.Report.Rows = len(taken), len(s.Rows)
	s.Report.Families, s.Report.Forms = Effective(families), Effective(kinds)
}

// judge says why nothing is to be trained on, where that is so.
func (r *Report) judge(floor float64) {
	switch {
	case r.Rows == 0:
		r.Why = "no trajectory is left"
	case r.Forms < floor:
		r.Why = fmt.Sprintf("the trajectories are of %.2f effective kinds, fewer than %g: what is learned of so few would be one trick", r.Forms, floor)
	}
}
