package loop

import (
	"encoding/json"
	"time"

	"macaron/internal/jobs"
)

// The ways by which it is told what is left of a run. Both are estimates.
const (
	ByStages = "stages" // what each stage to come took on the average, where the run did it before
	ByPlan   = "plan"   // of a stage that was never done: what is planned, at the mean time of the attempts so far
)

// Left is about how long a run has still to work, if all generations are done that it may have, and
// by what that is told. It is never negative. As long as no attempt was made it is not known: "".
// all are the run's jobs.
func Left(all []jobs.Status, so Spent) (left time.Duration, by string) {
	p, known := read(all, so)
	if !known {
		return 0, ""
	}
	by = ByStages
	begun := false
	for _, s := range stages {
		rounds := p.now.Of - p.now.Generation // of later generations
		here := s == p.now.Stage
		if begun = begun || here; !begun && rounds <= 0 {
			continue
		}
		each, measured := p.of(s)
		rest := max(0, each-p.worked)
		if !measured {
			if each, rest, known = p.plan(s, here); !known {
				return 0, ""
			}
			by = ByPlan
		}
		switch {
		case here:
			left += rest
		case begun:
			left += each
		}
		left += each * time.Duration(rounds)
	}
	return left, by
}

// pace is what stages took that were done, and where the run is.
type pace struct {
	took   map[string]time.Duration // of all generations
	times  map[string]int
	now    place
	worked time.Duration // on the stage that is not done
	left   time.Duration // of it, at the pace of its own steps
	paced  bool          // that is known

	attempt time.Duration // the mean so far; 0: none was made
	token   float64       // nanoseconds of one that is trained
}

// read gives the pace of a run's jobs; false where nothing is to be done, or another build enqueued
// it, which did not say of how many generations.
func read(all []jobs.Status, so Spent) (p pace, known bool) {
	p.took, p.times = map[string]time.Duration{}, map[string]int{}
	var worked time.Duration
	for _, s := range all {
		var at place
		if json.Unmarshal(s.Args, &at) != nil {
			return p, false
		}
		worked += s.Worked
		if s.State == jobs.Done {
			p.took[at.Stage], p.times[at.Stage] = p.took[at.Stage]+s.Worked, p.times[at.Stage]+1
			continue
		}
		p.now, p.worked = at, s.Worked
		p.left, p.paced = s.Progress.Left()
	}
	p.means(worked, so)
	return p, p.now.Of > 0
}

// means are those of an attempt and of a token that is trained. Until a training was measured, such
// a token counts as long as one that attempts have written, with all that they did beside.
func (p *pace) means(worked time.Duration, so Spent) {
	trained := time.Duration(so.Trained.WallMS) * time.Millisecond
	tried := max(0, worked-trained)
	if n := so.Tried.Attempts; n > 0 {
		p.attempt = tried / time.Duration(n)
	}
	switch {
	case so.Trained.Trained > 0:
		p.token = float64(trained) / float64(so.Trained.Trained)
	case so.Tried.Output > 0:
		p.token = float64(tried) / float64(so.Tried.Output)
	}
}

// of is the mean of a stage; false: it was never done.
func (p *pace) of(stage string) (time.Duration, bool) {
	n := p.times[stage]
	return p.took[stage] / time.Duration(max(1, n)), n > 0
}

// plan is how long a stage takes that was never done, and what is left of it where the run is in it
// now; false as long as no attempt was made, or where its work has no bound.
func (p *pace) plan(stage string, now bool) (each, rest time.Duration, known bool) {
	w := p.now.Planned
	if w == nil || p.attempt == 0 || stage == "update" && w.Trained < 0 {
		return 0, 0, false
	}
	each = time.Duration(w.Attempts[stage]) * p.attempt
	if stage == "update" {
		each += time.Duration(float64(w.Trained) * p.token)
	}
	// How many are looked at until enough tasks are found, discovery's own pace knows best; of the
	// gate's steps none takes as long as another.
	if now && p.paced && (stage == "discovery" || stage == "expansion") {
		return p.worked + p.left, p.left, true
	}
	return each, max(0, each-p.worked), true
}
