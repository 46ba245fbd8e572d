package jobs

import "time"

// Progress is how far a job has come, by its steps.
type Progress struct {
	Done  int    `json:"done"`
	Total int    `json:"total"` // 0: not known
	Note  string `json:"note,omitempty"`
	// Timed counts the steps that were done under the queue's eyes, and Took is their time:
	// steps that a job found done already have none.
	Timed int           `json:"timed"`
	Took  time.Duration `json:"took_ns"`
}

// Left is how long the rest will take at the pace of the finished steps; false as long as none
// was timed.
func (p Progress) Left() (time.Duration, bool) {
	if p.Timed == 0 || p.Total == 0 {
		return 0, false
	}
	return p.Took / time.Duration(p.Timed) * time.Duration(max(0, p.Total-p.Done)), true
}

// Sum is the progress of several jobs that are done one after another.
func Sum(all []Status) (p Progress) {
	for _, s := range all {
		p.Done, p.Total = p.Done+s.Progress.Done, p.Total+s.Progress.Total
		p.Timed, p.Took = p.Timed+s.Progress.Timed, p.Took+s.Progress.Took
	}
	return p
}
