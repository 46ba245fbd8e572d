package expansion

import (
	"macaron/internal/ids"
	"macaron/internal/mindforge/stat"
)

// Calibration says how good the predictions of a search were. AHE (arXiv:2604.25850) reports
// 0.337 and 0.118 as precision of fixes and of regressions.
type Calibration struct {
	Scored    int              `json:"scored"` // candidates that had a prediction and came to validation
	Fixes     stat.Calibration `json:"fixes"`
	Regress   stat.Calibration `json:"regress"`
	Predicted float64          `json:"predicted"` // mean of the gains
	Seen      float64          `json:"seen"`
	Off       float64          `json:"off"` // mean absolute error of a gain
}

// Calibrate scores the predictions of steps.
func Calibrate(steps []Step) Calibration {
	var c Calibration
	for _, s := range steps {
		p := s.Candidate.Prediction
		if s.Stopped != "" || p.None() {
			continue
		}
		c.Scored++
		c.Fixes = c.Fixes.Plus(stat.Calibrate(p.Fixes, s.Up))
		c.Regress = c.Regress.Plus(stat.Calibrate(p.Regress, s.Down))
		c.Predicted, c.Seen = c.Predicted+p.Gain, c.Seen+s.Gain
		c.Off += max(p.Gain-s.Gain, s.Gain-p.Gain)
	}
	n := float64(max(1, c.Scored))
	c.Predicted, c.Seen, c.Off = c.Predicted/n, c.Seen/n, c.Off/n
	return c
}

// moved lists the families whose mean on validation is above the parent's, and below.
func (s *Search) moved(parent ids.Digest, cells []Cell) (up, down []string) {
	var pairs []stat.Pair
	for _, c := range cells {
		if was, ok := s.matrix.At(parent, c.Item); ok {
			pairs = append(pairs, stat.Pair{Family: c.Family, A: was, B: c.Outcome.Points})
		}
	}
	return stat.Moved(pairs, smallest)
}

// smallest is the least difference of a family's mean that counts as one.
const smallest = 1e-9
