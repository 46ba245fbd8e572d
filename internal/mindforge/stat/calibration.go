package stat

// Calibration is how good a list of predictions was: which share of what was predicted came
// true, and which share of what came true had been predicted.
type Calibration struct {
	Precision Rate `json:"precision"`
	Recall    Rate `json:"recall"`
}

// Calibrate compares what was predicted with what was seen. Repeated names count once.
func Calibrate(predicted, seen []string) Calibration {
	p, s := set(predicted), set(seen)
	hits := 0
	for name := range p {
		if s[name] {
			hits++
		}
	}
	return Calibration{NewRate(hits, len(p)), NewRate(hits, len(s))}
}

// Plus puts the predictions of two candidates together.
func (c Calibration) Plus(d Calibration) Calibration {
	return Calibration{
		NewRate(c.Precision.K+d.Precision.K, c.Precision.N+d.Precision.N),
		NewRate(c.Recall.K+d.Recall.K, c.Recall.N+d.Recall.N),
	}
}

func set(names []string) map[string]bool {
	out := map[string]bool{}
	for _, n := range names {
		out[n] = true
	}
	return out
}

// Moved lists the families whose mean difference is at least by in favour of the candidate,
// and those where it is as much against it.
func Moved(pairs []Pair, by float64) (up, down []string) {
	for _, b := range Blocks(pairs) {
		switch {
		case b.Diff >= by:
			up = append(up, b.Family)
		case b.Diff <= -by:
			down = append(down, b.Family)
		}
	}
	return up, down
}
