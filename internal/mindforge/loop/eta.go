package loop

import (
	"encoding/json"
	"time"

	"macaron/internal/jobs"
)

// Left is how long a run has still to work, if all generations are done that it may have: by what
// each stage took on the average, where it was done before in the run. As long as a stage that is to
// come was never done it is not known: false. all are the run's jobs.
func Left(all []jobs.Status) (left time.Duration, known bool) {
	p, now, known := read(all)
	if !known {
		return 0, false
	}
	begun := false
	for _, s := range stages {
		rounds := now.Of - now.Generation
		if begun = begun || s == now.Stage; begun {
			rounds++
		}
		each, done := p.of(s)
		if rounds > 0 && !done {
			return 0, false
		}
		if left += each * time.Duration(rounds); s == now.Stage {
			left -= min(p.worked, each)
		}
	}
	return left, true
}

// pace is what stages took that were done, and what was worked on the one that is not.
type pace struct {
	took   map[string]time.Duration // of all generations
	times  map[string]int
	worked time.Duration
}

// read gives the pace of a run's jobs and where the run is; false where nothing is to be done, or
// another build enqueued it, which did not say of how many generations.
func read(all []jobs.Status) (p pace, now place, known bool) {
	p.took, p.times = map[string]time.Duration{}, map[string]int{}
	for _, s := range all {
		var at place
		if json.Unmarshal(s.Args, &at) != nil {
			return p, now, false
		}
		if s.State == jobs.Done {
			p.took[at.Stage], p.times[at.Stage] = p.took[at.Stage]+s.Worked, p.times[at.Stage]+1
		} else {
			now, p.worked = at, s.Worked
		}
	}
	return p, now, now.Of > 0
}

// of is the mean of a stage; false: it was never done.
func (p pace) of(stage string) (time.Duration, bool) {
	n := p.times[stage]
	return p.took[stage] / time.Duration(max(1, n)), n > 0
}
