package update

import (
	"slices"
	"strconv"

	"macaron/internal/adapter"
	"macaron/internal/mindforge/stat"
	"macaron/internal/transcript"
)

// Feedback is what people's judgements do to the reward, and how far they can be trusted.
// Who says something is no sample of those who were served: pleased and annoyed people
// speak more often, the same person many times, and nobody sees what an answer that was
// never given would have been. What can be measured of that stands here.
type Feedback struct {
	Weight   float64       `json:"weight"`   // of a judgement in the reward, of which a success is 1
	With     int           `json:"with"`     // trajectories that somebody judged
	Share    float64       `json:"share"`    // of all
	Positive float64       `json:"positive"` // of the judgements that are not 0
	Passed   float64       `json:"passed"`   // share of successes that were judged: selection, where it differs from the next
	Failed   float64       `json:"failed"`   // share of failures that were judged
	Agree    stat.Estimate `json:"agree"`    // judgements whose sign is the verifier's, over families
}

// judgeFeedback measures what people said of trajectories.
func judgeFeedback(all []Trajectory, weight float64) Feedback {
	f := Feedback{Weight: weight}
	var passed, failed, judgedPassed, judgedFailed, plus int
	var agree []stat.Value
	for i := range all {
		t := &all[i]
		count, judged := &failed, &judgedFailed
		if verdict(t) == "" {
			count, judged = &passed, &judgedPassed
		}
		*count++
		if t.Feedback == nil {
			continue
		}
		*judged++
		f.With++
		if *t.Feedback == 0 {
			continue
		}
		y := 0.0
		if (*t.Feedback > 0) == (verdict(t) == "") {
			y = 1
		}
		if *t.Feedback > 0 {
			plus++
		}
		agree = append(agree, stat.Value{Cluster: t.Task.World + "/" + t.Task.Family, Y: y})
	}
	f.Share, f.Passed, f.Failed = share(f.With, len(all)), share(judgedPassed, passed), share(judgedFailed, failed)
	f.Positive = share(plus, len(agree))
	if len(agree) > 0 {
		f.Agree = stat.Mean(agree, 0, 1)
	}
	return f
}

func share(n, of int) float64 {
	if of == 0 {
		return 0
	}
	return float64(n) / float64(of)
}

// reward is 1 for a success that the audit believes and 0 for anything else, and what a
// person said of it, by its weight.
func (s *Settings) reward(t *Trajectory) float64 {
	r := 0.0
	if verdict(t) == "" {
		r = 1
	}
	if t.Feedback != nil {
		r += s.Selection.Feedback * float64(max(-1, min(1, *t.Feedback)))
	}
	return r
}

// groups compares attempts at one task under one contract, and gives each the advantage of
// its reward over the mean of its group. Groups without any difference teach nothing.
func (s *Settings) groups(all []candidate, from adapter.Revision, rep *Report) (out []candidate) {
	byTask, order := map[string][]candidate{}, []string(nil)
	for _, c := range all {
		if !actedBy(c.t.Run, from) {
			rep.Dropped[otherActor]++
			continue
		}
		key := c.t.Task.ID + "@" + string(c.t.Run.Head.Contract)
		if byTask[key] == nil {
			order = append(order, key)
		}
		byTask[key] = append(byTask[key], c)
	}
	rows, sum, n := 0, 0.0, 0
	for at, key := range order {
		group := byTask[key]
		mean := 0.0
		for _, c := range group {
			mean += c.reward / float64(len(group))
			sum, n = sum+c.reward, n+1
		}
		rep.Groups++
		if !slices.ContainsFunc(group, func(c candidate) bool { return c.reward != group[0].reward }) {
			rep.Silent++
			rep.Dropped[noGroup] += len(group)
			continue
		}
		size := 0
		for i := range group {
			group[i].compared(strconv.Itoa(at), group[i].reward-mean)
			size += len(group[i].rows)
		}
		if most := s.Selection.Rows; most > 0 && rows+size > most {
			rep.Dropped[enough] += len(group)
			continue
		}
		out, rows = append(out, group...), rows+size
	}
	if n > 0 {
		rep.Reward = sum / float64(n)
	}
	return out
}

// compared gives the rows of an attempt its advantage.
func (c *candidate) compared(group string, advantage float64) {
	for i := range c.rows {
		c.rows[i].Group, c.rows[i].Advantage = group, advantage
	}
}

// actedBy tells whether a run was served by the revision that is trained: only then are the
// log probabilities as served those of training. A new adapter computes what its base does.
func actedBy(r *transcript.Run, from adapter.Revision) bool { return r.Head.Revision == from.Hash }
