package loop

import (
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/ledger"
)

// planned is the work of a generation, by the settings alone: what a stage makes at most or, of
// discovery, where no task is refused. It goes with each job, for who tells what is left of the run.
type planned struct {
	Attempts map[string]int `json:"attempts"` // by stage
	Trained  int64          `json:"trained"`  // tokens; -1: they have no bound
}

// planned is that of the run.
func (l *Loop) planned() *planned {
	shown, decides := (l.Discovery.Tasks+1)/2, l.Discovery.Tasks/2
	p := &planned{Attempts: map[string]int{"discovery": l.Discovery.Tasks * l.Discovery.Attempts}}
	for _, x := range l.parts(shown, decides) {
		p.Attempts["expansion"] += x.most
	}
	if l.trains() {
		u := l.Settings.Update
		p.Attempts["update"], p.Trained = u.Attempts*shown, l.mostTrained()
		if u.Absorb {
			p.Attempts["update"] += 3 * u.Held
		}
	}
	if l.Arm != None && l.Evaluation.Contract != nil {
		candidates := 1 // should it be refused another one may follow, and then neither went the whole way twice
		if l.Decoys != nil {
			candidates += 2
		}
		p.Attempts["gate"] = candidates * l.Evaluation.Attempts(l.Cases)
	}
	return p
}

func (l *Loop) trains() bool { return l.Updater != nil && (l.Arm == Full || l.Arm == Weights) }

// mostTrained is how many tokens a generation trains at most; -1: there is no bound.
func (l *Loop) mostTrained() int64 {
	most, run := l.Settings.Update.Tokens, l.Budget.Trained
	switch {
	case most == 0 && run == 0:
		return -1
	case most == 0 || run > 0 && run < most:
		return run
	}
	return most
}

// Spent is what a run has spent so far, as its ledger has it.
type Spent struct {
	Tried   mindforge.Cost // attempts, those of the evaluator included
	Trained mindforge.Cost // trainings
}

// Add counts an entry.
func (s *Spent) Add(b ledger.Body) {
	c := costOf(b)
	if c.Trained > 0 && c.Attempts == 0 {
		s.Trained = s.Trained.Plus(c)
		return
	}
	s.Tried = s.Tried.Plus(c)
}

// All is both.
func (s Spent) All() mindforge.Cost { return s.Tried.Plus(s.Trained) }
