package train

// prompt is how many positions at the beginning can have no slope: they ask for nothing, or
// with a weight or an advantage of zero. The last token of a prompt is not among them, since
// it predicts the first of the response.
func (r *row) prompt(loss string) int {
	n := len(r.targets) / r.k
	for i := range n {
		for at := i * r.k; at < (i+1)*r.k; at++ {
			if r.targets[at] >= 0 && r.counts(at, loss) {
				return i
			}
		}
	}
	return n
}

// counts tells whether the term of target i can have a slope. That of dro has one without
// an advantage.
func (r *row) counts(i int, loss string) bool {
	if r.w != nil && r.w[i] == 0 {
		return false
	}
	return r.A == nil || r.A[i] != 0 || loss == "dro"
}

// prompts are the trainer's resident prompts, with the settings of a call.
func (t *Trainer) prompts(e *evaluation) *Kept {
	if e.way() != Resident {
		return nil
	}
	t.kept.Refresh, t.kept.Drift = int(e.set.of("prefix_refresh")), e.set.of("prefix_drift")
	return &t.kept
}

// tell adds what a pass found to the metrics, where prompts are resident: the age of their
// keys and values in adapters, and where it was measured the drift in nats.
func (f *Found) tell(w Way, metrics map[string]float64) {
	if w != Resident {
		return
	}
	metrics["prefix_age:max"] = float64(f.Age)
	if f.Probed {
		metrics["prefix_drift:max"] = f.Drift
	}
}
